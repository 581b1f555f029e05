"""The choice of directions of sensitive cells."""
