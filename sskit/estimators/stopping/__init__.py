"""Stopping by the score on held-out data."""
