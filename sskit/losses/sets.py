"""Structured hinges of sets of labels."""

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.edges import check_edges, is_forest
from sskit.losses.batch import Batch, Found, Numbers, Truths
from sskit.losses.evaluation import HingeEvaluation, SetGradients, as_type
from sskit.losses.label_sets import LabelSetDecode, LabelSetHinge, one_label
from sskit.losses.layout import (
    Layout,
    as_potentials,
    check_labels,
    is_ragged,
    pack_labels,
    pack_weights,
)
from sskit.losses.pairs import Edges, pack_tables
from sskit.losses.threads import run
from sskit.oracles.label_sets.exact import (
    MAX_ENUMERATED,
    CutSets,
    EnumeratedSets,
    IndependentSets,
    RoofDuality,
    TreeSets,
)

ORACLES = {
    "independent": IndependentSets,
    "tree": TreeSets,
    "exhaustive": EnumeratedSets,
    "graphcut": CutSets,
    "lp": RoofDuality,
}
SET_INFERENCES = ("auto", *ORACLES)
# Up to so many labels all sets are tried before anything is relaxed.
FEW = 14


class SetProblem:
    """A batch of sets of labels, checked and packed.

    Parameters
    ----------
    hinge : StructuredHinge
        Whose parameters count.
    unary, pairwise, labels, edges, mask : object
        As for `StructuredHinge.evaluate`; `labels` may be None.
    """

    def __init__(self, hinge, unary, pairwise, labels, edges, mask):
        if mask is not None:
            raise ValueError(
                "sets of labels take no mask; a label that is not known has the value -100"
            )
        if is_ragged(unary):
            unary = as_array(unary, "unary")
        unary = as_potentials(unary, "unary")
        if unary.ndim != 2 or unary.shape[1] == 0:
            raise ValueError(f"unary must have shape (n, n_labels), got {unary.shape}")
        if (edges is None) != (pairwise is None):
            missing = "edges" if edges is None else "pairwise"
            raise ValueError(f"edges and pairwise go together, but {missing} is None")
        self.n, self.n_labels = unary.shape
        words = ("row", "label", "value")
        self.layout = Layout(np.full(self.n, self.n_labels, dtype=np.int64), self.n_labels, words)
        self.ends = check_edges([] if edges is None else edges, self.n_labels, noun="label")
        m = len(self.ends)
        zeros = np.zeros(self.n, dtype=np.int64)
        self.edges = Edges(np.full(self.n, m, dtype=np.int64), self.ends, zeros, True, m)
        self.tables = None
        values, first, step = np.zeros(0), zeros, 1
        if pairwise is not None:
            if is_ragged(pairwise):
                pairwise = as_array(pairwise, "pairwise")
            self.tables = pack_tables(pairwise, self.layout, self.edges, 2, potts=True)
            values, first, step = self.tables.values, self.tables.first, self.tables.step
            if not step:
                raise ValueError(
                    f"pairwise must have shape ({m},) or ({self.n}, {m}) to go with {m} edges, got "
                    "()"
                )
        self.dtypes = unary.dtype, values.dtype
        self.truth = np.full(self.n * self.n_labels, -1, dtype=np.int32)
        if labels is not None:
            if is_ragged(labels):
                labels = as_array(labels, "labels")
            self.truth = pack_labels(check_labels(labels, "label"), self.layout, 2)
        self.batch = Batch(
            Numbers(unary.reshape(-1)),
            1,
            self.layout.first,
            self.layout.length,
            Numbers(values),
            1,
            first,
            step,
            self.edges.count,
            words,
            self.ends,
            zeros,
        )
        self.oracle, self.exact = self._choose(hinge.inference, values)
        self.codes = np.zeros((2, self.n, self.n_labels + m), dtype=np.int32)

    def _choose(self, inference, pairs):
        """Return the oracle, and whether it is exact."""
        forest = is_forest(self.ends, self.n_labels)
        if inference == "auto":
            if not len(self.ends):
                inference = "independent"
            elif forest:
                inference = "tree"
            elif self.n_labels <= FEW:
                inference = "exhaustive"
            else:
                inference = "graphcut" if not (pairs < 0).any() else "lp"
        if inference == "independent" and len(self.ends):
            raise ValueError(f"inference='independent' takes no edges, got {len(self.ends)}")
        if inference == "tree" and not forest:
            raise ValueError("inference='tree' takes edges without a cycle")
        if inference == "exhaustive" and self.n_labels > MAX_ENUMERATED:
            raise ValueError(
                f"inference='exhaustive' takes at most {MAX_ENUMERATED} labels, got {self.n_labels}"
            )
        if inference == "graphcut" and (pairs < 0).any():
            raise ValueError(
                f"inference='graphcut' takes scores of pairs >= 0, got {pairs.min():.6g}"
            )
        return ORACLES[inference](), inference != "lp"

    def run(self, hinge, task, cost, found, slack=False):
        """Let threads fill `codes`."""
        truths = Truths(self.batch, self.truth, cost, None, 2)
        arguments = self.oracle, truths, found, *self.codes, slack
        run(lambda n: task(self.batch, n, *arguments), hinge.n_jobs, self.n)

    def sets(self):
        """Return the most violating and the true sets, with their pairs, as numbers."""
        return self.codes / float(one_label())


def evaluate_sets(hinge, unary, pairwise, labels, edges, mask, label_weight):
    """Return the evaluation of a batch of sets of labels; see `StructuredHinge.evaluate`."""
    if labels is None:
        raise ValueError("labels must hold the true labels, got None")
    problem = SetProblem(hinge, unary, pairwise, labels, edges, mask)
    slack = hinge.rescaling == "slack"
    if slack and problem.n_labels > MAX_ENUMERATED:
        raise ValueError(
            f"rescaling='slack' is for sets of at most {MAX_ENUMERATED} labels, got "
            f"{problem.n_labels}"
        )
    weight = pack_weights(label_weight, problem.layout).reshape(problem.n, problem.n_labels)
    known = problem.truth.reshape(problem.n, problem.n_labels) >= 0
    cost = np.where(known, weight, 0.0)
    if hinge.loss == "hamming":
        cost /= np.maximum(known.sum(axis=1, keepdims=True), 1)
    found = Found(problem.batch)
    problem.run(hinge, LabelSetHinge, cost.reshape(-1), found, slack)
    _, _, losses, scale, _ = found.arrays()
    violating, true = problem.sets()
    parts = SetGradients(violating - true, problem.n_labels, problem.tables, problem.dtypes, scale)
    kind = problem.dtypes[0]
    return HingeEvaluation(
        as_type(losses, kind),
        violating[:, : problem.n_labels].astype(kind),
        true[:, : problem.n_labels].astype(kind),
        np.full(problem.n, problem.exact),
        parts,
    )


def decode_sets(hinge, unary, pairwise, edges, mask, labels):
    """Return the best sets; see `StructuredHinge.decode`."""
    problem = SetProblem(hinge, unary, pairwise, labels, edges, mask)
    cost = np.zeros(problem.n * problem.n_labels)
    problem.run(hinge, LabelSetDecode, cost, Found(problem.batch))
    return problem.sets()[1][:, : problem.n_labels].astype(problem.dtypes[0])
