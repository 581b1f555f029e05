"""Files for publication, and internal files."""
