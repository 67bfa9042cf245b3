"""Pairs of items and their partners."""
