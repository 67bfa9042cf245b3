"""Oracles of sets of labels: exact ones, relaxations, hierarchies, slack rescaling."""
