"""What all estimators share: the one fit, callbacks, kernels, warm starts, weights."""
