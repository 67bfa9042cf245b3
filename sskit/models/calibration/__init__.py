"""Probabilities from scores: calibration, inference, and probabilities of spans."""
