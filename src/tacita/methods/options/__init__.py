"""Options in words: amounts and weights per cell, small sentences, parts of a table."""
