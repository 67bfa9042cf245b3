"""Sequences whose edges have features."""
