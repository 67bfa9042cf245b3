"""Models of sets of labels: pairs of labels with weights of their own, and hierarchies."""

import numpy as np
import scipy.sparse as sp

from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows, ones
from sskit.models.integer_losses import integer_losses
from sskit.models.label_sets.label_graph import Hierarchy, choose_inference, label_graph
from sskit.models.label_sets.structure import LabelSetStructure
from sskit.models.layout import WeightLayout
from sskit.models.structure import NodeLoss, StructuredProblem
from sskit.oracles.label_sets.functions import closed_sets
from sskit.oracles.label_sets.sets import (
    CountedSlack,
    EnumeratedSets,
    EnumeratedSlack,
    RoofDuality,
    TreeSets,
)

ORACLES = {
    "independent": TreeSets,
    "tree": TreeSets,
    "exhaustive": EnumeratedSets,
    "graphcut": RoofDuality,
    "lp": RoofDuality,
}
# Trying all sets of more labels takes too long where there are other ways to train under slack
# rescaling.
MAX_ENUMERATED = 14
# The programme of slack rescaling holds scores by the states of two labels.
STATES = 4


class LabelSetModel:
    """A set of labels for every row of a matrix; a subclass defines which sets are allowed.

    It has ``make_oracle()``, which returns a new oracle of them, and ``make_slack(cost)``, which
    for losses (L,) of wrong labels returns an oracle with candidates for slack rescaling, or None.

    Parameters
    ----------
    n_features, n_labels : int
        Numbers of features p and of labels L.
    ends : ndarray of shape (n_edges, 2), int32
        The pairs of labels that have a weight.
    intercept : bool
        Whether there is a constant feature, regularised as the others are.

    Attributes
    ----------
    layout : WeightLayout
        Places of the weights.
    domain : dict
        What determines the allowed sets, by its public name.
    costly : bool
        Whether the oracle takes far longer than the scores of a row.
    tight : bool or None
        Whether mixes of the sets are all points of the local polytope; None if some set is not
        allowed.
    """

    tight = None

    def __init__(self, n_features, n_labels, ends, intercept):
        shapes = {"coef": (n_labels, n_features)}
        if intercept:
            shapes["intercept"] = (n_labels,)
        if len(ends):
            shapes["pairwise"] = (len(ends),)
        self.n_labels = n_labels
        self.ends = ends
        # a spare row: compiled code takes the address of the first edge
        self.spare_ends = np.concatenate([ends, np.zeros((1, 2), dtype=np.int32)])
        self.intercept = intercept
        self.layout = WeightLayout(**shapes)

    def bind(self, X, truths, cost, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features.
        truths : ndarray of shape (n, L), uint8
            The true sets, 0 or 1; `learnt` maps them to the sets that are learnt.
        cost : ndarray of shape (L,), float64
            Loss of a wrong label, not negative.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        truths = self.learnt(truths)
        rows = FeatureRows(X, marks=ones(len(truths)) if self.intercept else None, n_marks=1)
        offsets = np.arange(len(truths) + 1, dtype=np.int64)
        tail = min(1, len(self.ends)), len(self.ends)
        feature_map = FeatureMap(rows, offsets, self.n_labels, tail=tail)
        feature_map.prepare()
        structure = self._structure(cost, self.make_slack(cost))
        loss = NodeLoss(truths.ravel().astype(np.int32), np.empty(0), 2)
        return StructuredProblem(feature_map, structure, loss, block_weight)

    def _structure(self, cost, slack=None):
        domain = {"fit_intercept": str(bool(self.intercept)), **self.domain}
        return LabelSetStructure(
            self.make_oracle(), cost, self.spare_ends, domain, self.costly, slack, self.tight
        )

    def learnt(self, sets):
        """Return the sets that are learnt in place of true ones, (n, L) uint8; here the same."""
        return sets

    def implied(self, known):
        """Return known labels completed by those that follow from them.

        Parameters
        ----------
        known : ndarray of shape (n, L), int8
            1 for labels that a row has, 0 for those that it has not, -1 for all others.

        Returns
        -------
        fixed : ndarray of shape (n, L), int8
            The same, with fewer -1.

        Raises
        ------
        ValueError
            Naming the first row whose known labels are in no allowed set.
        """
        return known

    def best_sets(self, scores, pairs, fixed=None):
        """Return the sets with the highest scores, see `LabelSetStructure.best_sets`.

        Parameters
        ----------
        scores : ndarray of shape (n, L)
            Scores of the labels.
        pairs : ndarray of shape (n_edges,)
            Scores of the pairs.
        fixed : ndarray of shape (n, L), int8, default=None
            What `implied` returned: the best among the sets that have these labels.

        Returns
        -------
        sets : ndarray of shape (n, L), uint8
            0 or 1.
        """
        return self._structure(np.zeros(self.n_labels)).best_sets(scores, pairs, fixed)


class PairwiseModel(LabelSetModel):
    """Any set of labels, scored by labels and by pairs of labels.

    score(x, y) = sum_l y_l <coef[l], x> + sum_e pairwise[e] y_k y_l, with e = (k, l).

    Parameters
    ----------
    n_features, n_labels : int
        Numbers of features and of labels.
    ends : ndarray of shape (n_edges, 2), int32
        The pairs, each once.
    intercept : bool
        Whether there is a constant feature.
    inference : {"auto", "exhaustive", "tree", "graphcut", "lp"}, default="auto"
        How the best set is found.

    Attributes
    ----------
    inference : str
        The same, with "auto" replaced; "independent" if there are no pairs.

    Raises
    ------
    ValueError
        If the inference does not support these pairs.
    """

    def __init__(self, n_features, n_labels, ends, intercept, inference="auto"):
        super().__init__(n_features, n_labels, ends, intercept)
        self.inference = choose_inference(inference, ends, n_labels)
        # all exact ones have the same planes
        self.domain = {"the planes": "relaxed" if self.inference == "lp" else "sets of labels"}
        self.costly = self.inference not in ("independent", "tree")
        # without cycles the local polytope has no vertices but sets of labels
        forest = label_graph(ends, n_labels).is_forest(0)
        self.tight = self.inference in ("independent", "tree", "lp") or forest
        if self.inference == "graphcut":
            self.layout.own_bounds = {"pairwise": (0.0, None)}

    def make_oracle(self):
        """Return a new oracle."""
        return ORACLES[self.inference]()

    def make_slack(self, cost):
        """Return an oracle of candidates for slack rescaling, or None."""
        slack = None
        if self.inference in ("independent", "tree"):
            slack = counted_slack(cost)
        few = self.inference == "exhaustive" or len(cost) <= MAX_ENUMERATED
        return EnumeratedSlack(cost) if slack is None and few and self.inference != "lp" else slack

    def gains(self, scores, sets, pairs):
        """Return the gain in score of each label, given the other labels of the sets.

        Parameters
        ----------
        scores : ndarray of shape (n, L)
            Scores of the labels.
        sets : ndarray of shape (n, L), uint8
            Those of `best_sets`.
        pairs : ndarray of shape (n_edges,)
            Scores of the pairs.

        Returns
        -------
        gains : ndarray of shape (n, L)
            Score with the label less that without it.
        """
        shape = self.n_labels, self.n_labels
        table = sp.coo_array((pairs, self.ends.T), shape=shape)
        return scores + sets @ (table + table.T)


class HierarchyModel(LabelSetModel):
    """Sets of labels that hold all ancestors of their labels, scored by labels.

    Parameters
    ----------
    n_features, n_labels : int
        Numbers of features and of labels.
    hierarchy : array-like of shape (n_labels,) or (n_edges, 2), or None
        The parent of each label, -1 if it has none; or edges (child, parent); or no edges.
    intercept : bool
        Whether there is a constant feature.

    Attributes
    ----------
    hierarchy : Hierarchy
        The same, checked.
    """

    costly = False

    def __init__(self, n_features, n_labels, hierarchy, intercept):
        super().__init__(n_features, n_labels, np.empty((0, 2), dtype=np.int32), intercept)
        self.hierarchy = Hierarchy(hierarchy, n_labels)
        self.domain = {"the hierarchy": self.hierarchy.edges.tobytes()}

    def learnt(self, sets):
        """Return given sets with all ancestors of their labels."""
        return self.hierarchy.closed(sets)

    def make_oracle(self):
        """Return a new oracle."""
        return closed_sets(self.hierarchy.edges, self.hierarchy.parents)

    def make_slack(self, cost):
        """Return an oracle of candidates for slack rescaling; None with several parents."""
        parents = self.hierarchy.parents
        return None if parents is None else counted_slack(cost, parents)

    def implied(self, known):
        """Return known labels completed by those that follow, see `LabelSetModel.implied`.

        Parameters
        ----------
        known : ndarray of shape (n, L), int8
            1, 0 or -1.

        Returns
        -------
        fixed : ndarray of shape (n, L), int8
            With the ancestors of labels that are there, and the descendants of those that are not.

        Raises
        ------
        ValueError
            Naming the first row that has a label, but not one of its ancestors.
        """
        has, order = known == 1, self.hierarchy
        lacks = (known == 0).astype(np.float64) @ order.descendants > 0
        wrong = np.argwhere(has & lacks)
        if len(wrong):
            row, label = wrong[0]
            above = order.ancestors[[label]].toarray()[0] > 0
            ancestor = np.flatnonzero(above & (known[row] == 0))[0]
            raise ValueError(
                f"known[{row}] has label {label}, but not label {ancestor}, an ancestor of it"
            )
        return np.where(order.closed(has), 1, np.where(lacks, 0, -1)).astype(np.int8)

    def gains(self, scores, sets, pairs):
        """Return the gain in score of each label, with those that must be added or dropped with it.

        Parameters
        ----------
        scores : ndarray of shape (n, L)
            Scores of the labels.
        sets : ndarray of shape (n, L), uint8
            0 or 1, with all ancestors.
        pairs : ndarray of shape (0,)
            Not used.

        Returns
        -------
        gains : ndarray of shape (n, L)
            Of a label of the set the score of it and its descendants in the set; of another one
            the score of it and its ancestors that are missing.
        """
        above, below = self.hierarchy.ancestors, self.hierarchy.descendants
        return np.where(sets, (scores * sets) @ above, (scores * (1 - sets)) @ below)


def counted_slack(cost, parents=None):
    """Return the best sets by loss, of a hierarchy or of a forest, if losses are counts."""
    counts = integer_losses(cost, np.array([0, len(cost)]), STATES)
    if counts is None:
        return None
    levels, unit, _ = counts
    return CountedSlack(parents, levels, unit[0])
