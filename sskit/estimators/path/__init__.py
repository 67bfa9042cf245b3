"""Regularisation paths and the choice of lam."""
