"""A model while several methods write it, and its answer turned into a release."""
