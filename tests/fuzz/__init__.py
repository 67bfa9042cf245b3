"""Random calls of the public face, and random products of features, each from a seed.

``python -m tests.fuzz`` prints its commands.
"""
