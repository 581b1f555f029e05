"""The task in every norm, once directions are given."""
