"""Files for publication, and files for the house."""
