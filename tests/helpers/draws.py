"""Toys with weights or without, in a box or without bounds."""

import numpy as np

from helpers.laws import binding_box
from helpers.toys import TOYS

BOTH = [False, True]
ORDERS = ["permutation", "uniform"]
SAMPLING = [*ORDERS, "gap", "max_gap"]


def draw(name, seed, n=6, *, weighted=False, bounded=False, **options):
    """A toy of n samples, and a box that binds; None without bounds."""
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=n) if weighted else None
    toy = TOYS[name](seed, n=n, weights=weights, **options)
    return toy, binding_box(toy.pairs.d) if bounded else None
