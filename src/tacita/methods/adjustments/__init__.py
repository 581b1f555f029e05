"""What an adjustment asks for, and the radius that is announced with it."""
