"""Which oracle for slack rescaling a model of label sets has."""

import numpy as np

from sskit.models.counts import are_counts, in_units
from sskit.oracles.label_sets.slack_enumerated import EnumeratedSlack
from sskit.oracles.label_sets.slack_forest import CountedClosure, CountedForest
from sskit.oracles.label_sets.slack_relaxation import RelaxedSlack

# Trying all sets of more labels takes too long where there are other ways to train.
MAX_ENUMERATED = 14
# The programme holds scores by the states of two labels.
STATES = 4


def pairwise_slack(inference, ends, cost):
    """Return an oracle for slack rescaling of label sets with scores of pairs.

    Parameters
    ----------
    inference : {"independent", "tree", "exhaustive", "graphcut", "lp"}
        How the best set is found.
    ends : ndarray of shape (n_edges, 2), int32
        The pairs.
    cost : ndarray of shape (L,), float64
        Loss of a wrong label, not negative.

    Returns
    -------
    slack : SlackSets, str or None
        None if there is none; the name of the package that is missing if it needs one.
    """
    if inference == "lp":
        try:
            return RelaxedSlack(len(cost), ends)
        except ImportError:
            return "highspy"
    if inference in ("independent", "tree"):
        counted = counted_slack(CountedForest, cost)
        if counted is not None:
            return counted
    if inference == "exhaustive" or len(cost) <= MAX_ENUMERATED:
        return EnumeratedSlack()
    return None


def closed_slack(hierarchy, cost):
    """Return an oracle for slack rescaling of the label sets of a hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        Says which sets there are.
    cost : ndarray of shape (L,), float64
        Loss of a wrong label, not negative.

    Returns
    -------
    slack : SlackSets or None
        None if there is none: labels have several parents, or losses are no counts.
    """
    if hierarchy.parents is None:
        return None
    return counted_slack(CountedClosure, cost, hierarchy.edges)


def counted_slack(kind, cost, *further):
    """Return an oracle of this kind if the losses are counts, else None."""
    offsets = np.array([0, len(cost)])
    if not are_counts(cost, offsets, STATES):
        return None
    unit, levels, _ = in_units(cost, offsets)
    return kind(np.round(levels).astype(np.int32), unit[0], *further)
