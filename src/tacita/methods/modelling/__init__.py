"""Models that methods build for the engine, and their solutions as releases."""
