"""Structures that users write in Python."""
