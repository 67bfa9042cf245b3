"""The estimator that finds segments of sequences."""
