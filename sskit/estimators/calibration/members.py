"""Fitted taggers that a calibration is for, and their scores."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._labels import SETS, is_ignored, plain
from sskit.estimators.base.fitted_state import raise_damaged
from sskit.estimators.base.known import check_known
from sskit.estimators.base.meta import MetaEstimator
from sskit.estimators.base.tagging import states_of_labels
from sskit.estimators.chain.decoding import score_tables
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.completion.states import has_states
from sskit.estimators.reasons.columns import as_fitted
from sskit.estimators.tree.tagger import TreeTagger
from sskit.inputs.trees import check_trees
from sskit.models.calibration.scores import Calibration, EdgeScores, Scores

TAGGERS = (SequenceTagger, TreeTagger)


def inner_estimator(estimator):
    """Return the tagger that an estimator is, or ends in, fitted or not.

    Parameters
    ----------
    estimator : object
        A tagger, or a pipeline, a search or another meta-estimator around one.

    Returns
    -------
    tagger : object
        What is no meta-estimator any more; it may be no tagger.
    """
    while (inner := _within(estimator)) is not None:
        estimator = inner
    return estimator


def _within(estimator):
    """Return the estimator that another one ends in, fitted or not; None of a tagger and others."""
    if isinstance(estimator, TAGGERS):
        return None
    if hasattr(estimator, "named_steps"):
        return estimator.steps[-1][1]
    names = ("best_estimator_", "estimator_", "estimator")
    return next((getattr(estimator, name) for name in names if hasattr(estimator, name)), None)


def check_tagger(estimator, calibrated):
    """Raise TypeError unless an estimator is a tagger, or ends in one.

    ValueError if it loses it.

    Parameters
    ----------
    estimator : object
        What is to be calibrated.
    calibrated : type
        Of which it must not be: it has probabilities already.
    """
    tagger = step = estimator
    while step is not None and not isinstance(step, TAGGERS):
        if isinstance(step, calibrated):
            name = calibrated.__name__
            raise TypeError(f"estimator must be a tagger that is not calibrated yet, got a {name}")
        path = isinstance(step, MetaEstimator) and hasattr(step, "refit")
        if getattr(step, "refit", True) is False or (path and step.cv is None):
            name, needs = type(step).__name__, "cv and refit=True" if path else "refit=True"
            raise ValueError(f"estimator is a {name} that keeps no best tagger: it needs {needs}")
        tagger, step = step, _within(step)
    if isinstance(step, TAGGERS):
        return
    got = f"the class {tagger.__name__}" if isinstance(tagger, type) else type(tagger).__name__
    raise TypeError(
        "estimator must be a SequenceTagger, a TreeTagger, or a pipeline or search that ends in "
        f"one, got {got}; for graphs with cycles and sets of labels with scores of pairs the sum "
        "over all labellings has no efficient algorithm"
    )


def refuse_labelling(model, risk):
    """Raise ValueError if the most probable labelling of hidden states is to be found."""
    if risk == "labelling" and any(has_states(tagger) for tagger in model):
        raise ValueError(
            "risk='labelling' cannot be used where labels have several hidden states: the most "
            "probable labelling has the largest sum over its states, which no efficient algorithm "
            "finds (the problem is NP-hard); use risk=None, the labels of the best states, or "
            "'tokens'"
        )


def transformed(estimator, X):
    """Return the fitted tagger that an estimator ends in, and what it is given of X."""
    while (inner := _within(estimator)) is not None:
        if hasattr(estimator, "named_steps"):
            X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        elif not hasattr(estimator, "best_estimator_"):
            check_is_fitted(estimator, "estimator_")
        estimator = inner
    return estimator, X


def fitted_classes(estimator):
    """Return the labels of the fitted tagger that an estimator ends in."""
    tagger = inner_estimator(estimator)
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
    tagger, X = transformed(estimator, X)
    X = as_fitted(tagger, X, trees=isinstance(tagger, TreeTagger))
    decoder, offsets = tagger._decoder(X)
    offsets = np.asarray(offsets, dtype=np.int64)
    own = tagger.classes_
    place = np.searchsorted(classes, own)
    if (place >= len(classes)).any() or (classes[place] != own).any():
        raise_damaged("CalibratedTagger", "classes_ must have the labels of all estimators_")
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
        edges = EdgeScores(edges, np.asarray(tagger._edge_tables_, dtype=np.float64))
    triples = getattr(tagger, "triples_", None)
    further = {"edge_scores": edges, "triples": triples, **labels}
    return Scores(nodes, offsets, transitions[None], start, end, **further)


def fitted_calibration(owner, n_tables):
    """Return the calibration of a fitted model.

    Parameters
    ----------
    owner : CalibratedTagger
        Fitted.
    n_tables : int
        Number of tables of pairs that its taggers have.

    Returns
    -------
    calibration : Calibration

    Raises
    ------
    ValueError
        If it was changed after the fit to what is none.
    """
    n = len(owner.classes_)
    shapes = {"coef": [(), (n,), (n, n)], "pairs": [()], "transitions": [(n_tables, n, n)]}
    for name, value in owner.calibration_.items():
        expected = shapes.get(name, [(n,)])
        if np.shape(value) not in expected or not np.isfinite(value).all():
            words = " or ".join(map(str, expected))
            raise_damaged(owner, f"calibration_[{name!r}] must be finite numbers of shape {words}")
    return Calibration(**owner.calibration_)


def refuse_known(estimator, X, known, classes):
    """Raise the ValueError of an estimator for what is known if it leaves no labelling."""
    tagger, X = transformed(estimator, X)
    if np.array_equal(tagger.classes_, classes):
        tagger.predict(X, known=known)


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
    place = set(classes.tolist())
    lengths = np.diff(scores.offsets)

    def entry(label):
        if isinstance(label, SETS):
            return place.intersection(map(plain, label)) or None
        return label if label is not None and plain(label) in place else None

    known = []
    for i, (labels, length) in enumerate(zip(y, lengths, strict=True)):
        labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        if len(labels) != length:
            raise ValueError(f"X[{i}] has {length} tokens but {name}[{i}] has {len(labels)} labels")
        pairs = zip(labels, is_ignored(labels, ignored), strict=True)
        known.append([None if nothing else entry(label) for label, nothing in pairs])
    allowed = check_known(known, lengths, classes)
    return np.ones((lengths.sum(), len(classes)), dtype=bool) if allowed is None else allowed
