"""Batch Frank-Wolfe."""
