"""What a run would publish, and whether it is safe."""
