"""Solvers that work factor by factor."""
