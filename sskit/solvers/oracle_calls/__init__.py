"""Calls of the oracle: one, a batch, a pool of workers, the exact pass."""
