"""How far cells can move inside the windows of a release, and the requirements that are missed."""
