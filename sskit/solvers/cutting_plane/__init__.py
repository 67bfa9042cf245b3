"""Cutting planes of the mean hinge."""
