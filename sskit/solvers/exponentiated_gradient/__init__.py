"""Stochastic exponentiated gradient steps on the dual of the likelihood."""
