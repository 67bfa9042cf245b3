"""Dual decomposition over nodes and edges."""
