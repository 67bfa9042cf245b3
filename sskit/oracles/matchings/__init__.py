"""Matchings."""
