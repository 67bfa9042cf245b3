"""Problems of every model, by whether their methods ever take the interpreter's lock."""

from functools import partial

import numpy as np
from sklearn.base import clone

from helpers.fits import FITS
from sskit import SlackRescaling

N = 24  # blocks at least


def bound(name, search=None, **params):
    """The problem of a fit with other parameters, with slack rescaling by a search if asked."""
    estimator, (X, y) = clone(FITS[name].estimator), FITS[name].data()
    if search is not None:
        params["rescaling"] = SlackRescaling(search)
    times = -(-N // len(y))
    X = np.concatenate([X] * times) if isinstance(X, np.ndarray) else list(X) * times
    y = np.concatenate([y] * times) if isinstance(y, np.ndarray) else list(y) * times
    return estimator.set_params(**params)._make_task(X, y, None).problem


LOCK_FREE = {
    "chain": partial(bound, "chains"),
    "edged chain": partial(bound, "chains, edges"),
    "second chain": partial(bound, "chains, second order"),
    "segments": partial(bound, "segments"),
    "multiclass": partial(bound, "rows"),
    "tree": partial(bound, "trees"),
    "graph-elimination": partial(bound, "graphs, any sign"),
    "graph-elimination-full": partial(bound, "graphs, any sign", pairwise_form="full"),
    "graph-trws": partial(bound, "any graphs", inference="trws"),
    "parts": partial(bound, "parts"),
    "sets-independent": partial(bound, "sets", edges=None, inference="auto"),
    "sets-tree": partial(bound, "sets, tree"),
    "sets-exhaustive": partial(bound, "sets", inference="exhaustive"),
    "hierarchy-tree": partial(bound, "hierarchy"),
}
# of these the search is exact, so that every answer is a function of the weights alone
EXACT_SLACK = {
    f"{name}-{search}": partial(LOCK_FREE[name], search=search)
    for name in (
        "chain", "edged chain", "multiclass", "sets-independent", "sets-tree", "sets-exhaustive",
        "hierarchy-tree",
    )
    for search in ("exact", "angular")
}  # fmt: skip
OTHER_SLACK = {
    f"{name}-bisecting": partial(LOCK_FREE[name], search="bisecting")
    for name in ("chain", "second chain", "tree", "sets-tree", "parts")
}
LOCKING = {
    "graph-cut": partial(bound, "graphs"),
    "graph-expansion": partial(bound, "graphs, inexact", pairwise_form="potts"),
    "sets-cut": partial(bound, "sets", inference="graphcut"),
    "sets-lp": partial(bound, "sets"),
    "hierarchy-dag": partial(bound, "hierarchy", hierarchy=[[1, 0], [2, 0], [3, 1], [3, 2]]),
    "structure": partial(bound, "matchings"),
}
LOCKING |= {
    f"slack-{name}": partial(LOCKING[name], search="bisecting")
    for name in ("graph-cut", "sets-lp", "hierarchy-dag", "structure")
}
KERNELS = {name: partial(bound, name) for name in ("rows, kernel", "chains, kernel")}
