"""Probabilities from scores: calibration, inference, and what follows from them for spans."""
