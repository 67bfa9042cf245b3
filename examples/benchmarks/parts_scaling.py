"""Time of the oracles of parts against the number of cells and of parts.

Every call has different scores: the processor learns the branches of repeated ones, and small grids
would seem several times faster than they are. Run:

    python examples/benchmarks/parts_scaling.py [largest side]
"""

import sys
import time

import numpy as np

from sskit.oracles import distance_transform, parts_max_sum


def nanoseconds(call, items, n_repeats=3):
    """Return the least mean time of a call over the items."""
    best = np.inf
    for _ in range(n_repeats):
        start = time.perf_counter()
        for item in items:
            call(item)
        best = min(best, time.perf_counter() - start)
    return 1e9 * best / len(items)


def transform(scores):
    """Return the transform of a grid, under springs as they are learned."""
    return distance_transform(scores, 0.05, linear=0.01, mean=2.0)


def place_parts(scores):
    """Return the best places of parts that hang on each other in a row."""
    n_parts = len(scores)
    springs = np.tile([0.01, 0.05, 2.0], (n_parts, 1, 2, 1))
    return parts_max_sum(scores, np.arange(-1, n_parts - 1), springs)


def main(largest=256):
    """Print both tables."""
    rng = np.random.default_rng(0)
    sides = [side for side in (16, 32, 64, 128, 256, 512) if side <= largest]
    print("distance transform: ns a cell")
    for side in sides:
        n_cells = side * side
        grids = rng.normal(size=(max(4, 2**18 // n_cells), side, side))
        print(
            f"    {side:4d} x {side:<4d} {nanoseconds(transform, grids) / n_cells:7.1f}", flush=True
        )
    counts = (2, 5, 14, 27)
    print(f"parts_max_sum: ns a cell and edge, with {counts} parts")
    for side in sides:
        row = []
        for n_parts in counts:
            n_places = side * side * (n_parts - 1)
            items = rng.normal(size=(max(2, 2**18 // n_places), n_parts, side, side))
            row.append(f"{nanoseconds(place_parts, items, 2) / n_places:7.1f}")
        print(f"    {side:4d} x {side:<4d} {' '.join(row)}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
