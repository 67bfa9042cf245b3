"""Models of sets of labels: pairs of labels with weights of their own, and hierarchies."""

from functools import cached_property

import numpy as np

from sskit.models.counts import are_counts, in_units
from sskit.models.features import FeatureRows
from sskit.models.label_sets.decoder import best_sets, climb
from sskit.models.label_sets.hierarchy import Hierarchy
from sskit.models.label_sets.label_graph import choose_inference, label_graph
from sskit.models.label_sets.problem import MultilabelProblem
from sskit.models.layout import WeightLayout
from sskit.oracles.label_sets.closure import DagClosure, TreeClosure
from sskit.oracles.label_sets.exact import (
    CutSets,
    EnumeratedSets,
    IndependentSets,
    RoofDuality,
    TreeSets,
)
from sskit.oracles.label_sets.slack import CountedClosure, CountedForest, EnumeratedSlack

ORACLES = {
    "independent": IndependentSets,
    "tree": TreeSets,
    "exhaustive": EnumeratedSets,
    "graphcut": CutSets,
    "lp": RoofDuality,
}
# Rounding may let single labels go back and forth between sets that are equally good.
MAX_SWEEPS = 1000
# Trying all sets of more labels takes too long where there are other ways to train under slack
# rescaling.
MAX_ENUMERATED = 14
# The programme of slack rescaling holds scores by the states of two labels.
STATES = 4


class LabelSetModel:
    """A set of labels for every row of a matrix; a subclass says which sets there are.

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
        What decides which sets there are, by the name that users know it by.
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
        self.intercept = intercept
        self.layout = WeightLayout(**shapes)

    def make_oracle(self):
        """Return a new oracle of the sets that there are."""
        raise NotImplementedError(f"{type(self).__name__} must implement make_oracle")

    def make_slack(self, cost):
        """Return a `SlackSets` that finds sets for slack rescaling, or None if there is none.

        Parameters
        ----------
        cost : ndarray of shape (L,), float64
            Loss of a wrong label, not negative.

        Returns
        -------
        slack : SlackSets or None
            Of this model.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement make_slack")

    def bind(self, X, truths, cost, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features.
        truths : ndarray of shape (n, L), uint8
            The true sets, 0 or 1.
        cost : ndarray of shape (L,), float64
            Loss of a wrong label, not negative.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.

        Returns
        -------
        problem : MultilabelProblem
            What solvers take.
        """
        return MultilabelProblem(
            FeatureRows(X), truths, cost, self.ends, block_weight, self.intercept,
            self.make_oracle(), self.domain, self.costly, self.make_slack(cost), self.tight,
        )  # fmt: skip

    def best_sets(self, scores, pairs):
        """Return the sets with the highest scores.

        Parameters
        ----------
        scores : ndarray of shape (n, L)
            Scores of the labels.
        pairs : ndarray of shape (n_edges,)
            Scores of the pairs.

        Returns
        -------
        sets : ndarray of shape (n, L), uint8
            0 or 1.
        """
        sets = np.zeros(scores.shape, dtype=np.uint8)
        spare = np.zeros(len(pairs) + 1)
        spare[:-1] = pairs
        best_sets(self.make_oracle(), scores, self.spare_ends, spare, sets)
        return sets

    @cached_property
    def spare_ends(self):
        """The pairs and a spare one: compiled code takes the address of the first."""
        return np.concatenate([self.ends, np.zeros((1, 2), dtype=np.int32)])


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
        If the inference cannot serve these pairs.
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
        """Return what finds sets for slack rescaling, unless they are relaxed, or too many."""
        slack = None
        if self.inference in ("independent", "tree"):
            slack = counted_slack(CountedForest, cost)
        few = self.inference == "exhaustive" or len(cost) <= MAX_ENUMERATED
        return EnumeratedSlack() if slack is None and few and self.inference != "lp" else slack

    def best_sets(self, scores, pairs):
        """Return the best sets, from which no single label can be taken or missed with gain.

        What a relaxation leaves undecided is rounded up, then single labels are changed while
        that gains anything.

        Parameters
        ----------
        scores : ndarray of shape (n, L)
            Scores of the labels.
        pairs : ndarray of shape (n_edges,)
            Scores of the pairs.

        Returns
        -------
        sets : ndarray of shape (n, L), uint8
            0 or 1.
        """
        sets = super().best_sets(scores, pairs)
        self._climb(scores, sets, pairs, MAX_SWEEPS)
        return sets

    def _climb(self, scores, sets, pairs, max_sweeps):
        """Change single labels of sets in place while that gains anything; return the gains."""
        indptr, neighbours, edge = self.neighbours
        gains = np.empty(scores.shape)
        climb(scores, indptr, neighbours, pairs[edge], max_sweeps, sets, gains)
        return gains

    def gains(self, scores, sets, pairs):
        """Return what each label gains, given the other labels of the sets.

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
        return self._climb(scores, sets.copy(), pairs, 1)  # these sets are not changed any more

    @cached_property
    def neighbours(self):
        """The pairs by label: where those of a label begin, the other labels, and which pairs."""
        a, b = self.ends.T
        edge = np.tile(np.arange(len(a)), 2)
        first, other = np.concatenate([a, b]), np.concatenate([b, a])
        order = np.lexsort((other, first))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=self.n_labels))])
        return indptr.astype(np.int32), other[order].astype(np.int32), edge[order]


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

    def make_oracle(self):
        """Return a new oracle."""
        if self.hierarchy.parents is None:
            return DagClosure(self.hierarchy.edges, self.n_labels)
        return TreeClosure(self.hierarchy.parents)

    def make_slack(self, cost):
        """Return what finds sets for slack rescaling, if no label has several parents."""
        if self.hierarchy.parents is None:
            return None
        return counted_slack(CountedClosure, cost, self.hierarchy.edges)

    def bind(self, X, truths, cost, block_weight):
        """Bind the model to training data, see `LabelSetModel.bind`.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features.
        truths : ndarray of shape (n, L), uint8
            The true sets, with all ancestors.
        cost : ndarray of shape (L,), float64
            Loss of a wrong label, not negative.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.

        Returns
        -------
        problem : MultilabelProblem
            What solvers take.

        Raises
        ------
        ValueError
            Naming the first row whose set lacks an ancestor.
        """
        missing = np.argwhere(self.hierarchy.closed(truths) > truths)
        if len(missing):
            i, label = missing[0]
            raise ValueError(f"y[{i}] lacks label {label}, an ancestor of a label that it has")
        return super().bind(X, truths, cost, block_weight)

    def gains(self, scores, sets, pairs):
        """Return what each label gains, with what else must come or go with it.

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


def counted_slack(kind, cost, *further):
    """Return an oracle for slack rescaling of this kind if the losses are counts, else None."""
    offsets = np.array([0, len(cost)])
    if not are_counts(cost, offsets, STATES):
        return None
    unit, levels, _ = in_units(cost, offsets)
    return kind(np.round(levels).astype(np.int32), unit[0], *further)
