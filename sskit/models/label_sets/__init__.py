"""Multilabel models: a set of labels for every row."""
