"""Fingerprints name the first thing that tells one problem from another."""

import numpy as np

from sskit.core.fingerprint import Fingerprint


def make(kind="chain", n_features=3, table=b"", X=(1, 2, 3), y=(4, 5, 6)):
    whole = {"the model": kind, "the number of features": n_features, "transitions": table}
    return Fingerprint(whole, {"X": np.array(X), "y": np.array(y)})


def test_difference():
    for changes, sentence in [
        ({}, None),
        ({"X": (1, 2, 3, 9), "y": (4, 5, 6, 9)}, None),
        ({"kind": "tree"}, "the model changed from chain to tree"),
        ({"n_features": 4}, "the number of features changed from 3 to 4"),
        ({"table": b"x"}, "transitions changed"),
        ({"X": (1, 2), "y": (4, 5)}, "X has 2 samples but had 3"),
        ({"X": (1, 0, 0)}, r"X[1] changed"),
        ({"X": (1, 2, 3, 9), "y": (4, 5, 7, 9)}, r"y[2] changed"),
    ]:
        assert make(**changes).difference(make()) == sentence
