"""From microdata to a table."""
