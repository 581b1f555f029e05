"""Controlled tabular adjustment: the nearest table in which every sensitive cell has a safe value."""
