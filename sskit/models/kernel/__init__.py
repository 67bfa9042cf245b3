"""Kernel spaces: scores as functions in a reproducing kernel Hilbert space, for any structure."""
