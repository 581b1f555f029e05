"""How far cells can move inside the windows of a release, and the demands that are missed."""
