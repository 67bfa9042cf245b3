"""Likelihood of labellings: sums over all of them, and their gradients."""
