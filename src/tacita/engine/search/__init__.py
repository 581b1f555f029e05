"""The search for the release of least loss: relaxation, tree, incumbents."""
