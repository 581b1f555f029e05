"""A method, a rule and a format for Tacita."""
