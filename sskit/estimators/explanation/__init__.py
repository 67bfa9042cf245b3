"""Explanation of models and predictions: the strongest weights, and what favours a label."""
