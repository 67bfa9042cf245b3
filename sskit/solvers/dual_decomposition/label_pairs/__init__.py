"""Dual decomposition over labels and pairs of labels."""
