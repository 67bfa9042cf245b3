"""Scores of fitted taggers, and what is known of labels."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._inside import unwrap
from sskit.estimators.base.fitted_state import raise_damaged
from sskit.estimators.base.known import check_known
from sskit.estimators.base.tagging import states_of_labels
from sskit.estimators.chain.decoding import score_tables
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.tree.tagger import TreeTagger
from sskit.inputs.trees import check_trees
from sskit.models.calibration.scores import EdgeScores, Scores


def inner_tagger(estimator):
    """Return the tagger that an estimator is, or ends in."""
    *_, (tagger, _) = unwrap(estimator)
    return tagger


def fitted_classes(estimator):
    """Return the labels of the fitted tagger that an estimator ends in."""
    tagger = inner_tagger(estimator)
    check_is_fitted(tagger, "classes_")
    return tagger.classes_


def scores_of(estimator, X, classes):
    """Return the scores of a fitted estimator among labels, of which it may not know all.

    Parameters
    ----------
    estimator : estimator
        Fitted; a tagger, or what ends in one.
    X : object
        What it takes.
    classes : ndarray of shape (K,)
        Labels, sorted.

    Returns
    -------
    scores : Scores
    """
    *_, (tagger, X) = unwrap(estimator, X)
    X = as_fitted(tagger, X, trees=isinstance(tagger, TreeTagger))
    decoder, offsets = tagger._decoder(X)
    offsets = np.asarray(offsets, dtype=np.int64)
    own = tagger.classes_
    place = np.searchsorted(classes, own)
    if (place >= len(classes)).any() or (classes[place] != own).any():
        raise_damaged("CalibratedTagger", "classes_ must have the labels of estimator_")
    states = states_of_labels(tagger)
    owner = place if states is None else np.repeat(place, states)
    labels = {"owner": owner, "n_labels": len(classes)}
    if isinstance(tagger, TreeTagger):
        # the gate of the decoder has checked them
        trees = check_trees(X, n_features=tagger.n_features_in_)
        codes, tables = trees.codes(tagger.edge_kinds_), np.array(tagger.transitions_)
        if codes is None:
            codes, tables = np.zeros(len(trees.ends), dtype=np.int32), tables[None]
        nodes = getattr(decoder, "inner", decoder).node_scores()
        ends = np.ascontiguousarray(trees.ends, dtype=np.int32).reshape(-1, 2)
        edges = np.asarray(trees.edge_offsets, dtype=np.int64)
        forest = ends, edges, np.ascontiguousarray(codes, dtype=np.int32)
        zeros = np.zeros((2, len(owner)))
        return Scores(nodes, offsets, tables, *zeros, forest=forest, **labels)
    nodes, transitions, start, end, edges = score_tables(tagger, X)
    if edges is not None:
        edges = EdgeScores(edges, np.asarray(tagger.edge_coef_, dtype=np.float64))
    triples = getattr(tagger, "triples_", None)
    further = {"edge_scores": edges, "triples": triples, **labels}
    return Scores(nodes, offsets, transitions[None], start, end, **further)


def possible_labels(y, scores, classes, ignored, name="y"):
    """Return which labels true labels may be, where some are not known.

    Parameters
    ----------
    y : sequence of n sequences (T_i,)
        Labels; None, what is ignored and labels that no model knows count as not known, sets of
        labels as one of them.
    scores : Scores
        Of the same sequences.
    classes : ndarray of shape (K,)
        Labels, sorted.
    ignored : object
        The label that stands for one that is not known; None if there is none.
    name : str
        What error messages call y.

    Returns
    -------
    possible : ndarray of shape (N, K), bool
    """
    given = "token", "sequences", name
    allowed = check_known(
        list(y), np.diff(scores.offsets), classes, *given, ignored=ignored, lenient=True
    )
    return np.ones((scores.offsets[-1], len(classes)), dtype=bool) if allowed is None else allowed
