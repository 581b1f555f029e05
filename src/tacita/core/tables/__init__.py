"""The table: what is public about it, its values, and the ways to build one."""
