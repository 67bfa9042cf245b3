"""Ranking of rows within groups."""
