"""Chains of the second order, with weights of three labels in a row: model, problem, decoder."""
