"""What is sensitive, who attacks, what hiding costs."""
