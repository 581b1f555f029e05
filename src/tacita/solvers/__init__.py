"""One thin file per solver; nothing here knows what a table is."""
