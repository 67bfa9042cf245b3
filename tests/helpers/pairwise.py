"""Grids of options for tests: any two values of two options meet, not all values of all options."""

import itertools
import random

import pytest


def covering(sizes):
    """Return rows of numbers below `sizes`: any two numbers of two columns meet in some row."""
    order = sorted(range(len(sizes)), key=lambda column: -sizes[column])
    rows = [
        dict(zip(order, row, strict=False))
        for row in itertools.product(*(range(sizes[column]) for column in order[:2]))
    ]
    for new in order[2:]:
        old = order[: order.index(new)]
        missing = {(k, a, b) for k in old for a in range(sizes[k]) for b in range(sizes[new])}
        for turn, row in enumerate(rows):
            values = [(turn + step) % sizes[new] for step in range(sizes[new])]
            row[new] = max(values, key=lambda b: sum((k, row[k], b) in missing for k in old))  # noqa: B023
            missing -= {(k, row[k], row[new]) for k in old}
        while missing:
            b = min(b for *_, b in missing)
            row = {new: b} | dict.fromkeys(old, 0) | {k: a for k, a, c in missing if c == b}
            missing -= {(k, row[k], b) for k in old}
            rows.append(row)
    return [tuple(row[column] for column in range(len(sizes))) for row in rows]


def every_pair(*, together=None, **options):
    """Parametrise a test by options of which any two values of two meet.

    Of the other combinations a random sample that is no larger is slow. With `together`, the name
    of one argument, the test takes them all as one dict.
    """
    values = [list(given) for given in options.values()]
    sizes = [len(given) for given in values]
    chosen = covering(sizes)
    others = sorted(set(itertools.product(*map(range, sizes))).difference(chosen))
    others = random.Random(0).sample(others, min(len(chosen), len(others)))
    marks = [()] * len(chosen) + [pytest.mark.slow] * len(others)
    rows = [[given[k] for given, k in zip(values, row, strict=True)] for row in chosen + others]
    if together is None:
        cells = [pytest.param(*row, marks=mark) for row, mark in zip(rows, marks, strict=True)]
        return pytest.mark.parametrize(tuple(options), cells)
    cells = [
        pytest.param(dict(zip(options, row, strict=True)), marks=mark, id="-".join(map(str, row)))
        for row, mark in zip(rows, marks, strict=True)
    ]
    return pytest.mark.parametrize(together, cells)
