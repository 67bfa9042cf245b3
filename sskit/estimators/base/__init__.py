"""The base of all estimators: the one fit, callbacks, kernels, warm starts, weights."""
