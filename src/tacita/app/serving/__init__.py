"""Who may come in, and what is served to them."""
