"""A set of labels for a row."""
