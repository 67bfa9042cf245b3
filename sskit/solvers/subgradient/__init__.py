"""Stochastic subgradient descent."""
