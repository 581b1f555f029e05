"""Methods, their options, and runs."""
