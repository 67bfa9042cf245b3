"""Classifiers whose model is an object."""
