"""Probabilities of the labellings of a tagger."""
