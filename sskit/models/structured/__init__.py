"""Structures written by users, in Python or compiled."""
