"""Compiled contracts asked from Python, and their laws: for tests and for authors of problems.

Nothing else of the package imports it, and it is not part of wheels: it comes with a checkout.
"""
