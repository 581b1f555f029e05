"""Which way sensitive cells go."""
