"""Weights by name and explanations, of pipelines too."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._labels import SETS, is_same
from sskit._meta_estimators import fitted_with, unwrap
from sskit._numbers import check_integer
from sskit._optional import optional
from sskit._types import ArrayLike, Samples
from sskit.metrics import token_accuracy_score

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["errors_frame", "explain", "weights_frame"]


def weights_frame(
    estimator: object,
    top: int | None = 20,
    *,
    feature_names: ArrayLike | None = None,
    edge_feature_names: ArrayLike | None = None,
) -> DataFrame:
    """Return the strongest weights by label as a table, also for a pipeline.

    Parameters
    ----------
    estimator : estimator
        A fitted linear estimator of this package with weights by label: of rows, sequences,
        trees, graphs or sets of labels; or a pipeline that ends with one, or a search that chose
        one.
    top : int, default=20
        How many positive weights, and how many negative ones, are listed for each label. None
        lists all.
    feature_names : array-like of str of shape (n_features,), default=None
        Names of the features. None takes those that the steps before it in its pipeline give
        (``get_feature_names_out``), else those that it was fitted to, else x0, x1, ...
    edge_feature_names : array-like of str of shape (n_edge_features,), default=None
        Names of the features of edges. None takes those that the step before it gives
        (``get_edge_feature_names_out``), else e0, e1, ...

    Returns
    -------
    frame : DataFrame
        With the columns kind, label, to_label, feature and weight; see
        :meth:`sskit.SequenceTagger.weights_frame`.

    Raises
    ------
    NotFittedError, TypeError, ValueError
        If the estimator is not fitted or has no weights of features by label, as with a kernel,
        or there is another number of features than of names.

    See Also
    --------
    FeatureWeightsDisplay : The same as a picture.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sskit import SequenceTagger
    >>> from sskit.inspection import weights_frame
    >>> from sskit.preprocessing import TokenTransformer
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> tagger = make_pipeline(TokenTransformer(DictVectorizer()), SequenceTagger(random_state=0))
    >>> frame = weights_frame(tagger.fit(X, y), top=1)
    >>> frame["label"][0], frame["feature"][0]
    ('DET', 'word=the')
    """
    model, _ = fitted_with(
        estimator, "weights_frame", "weights of features by label, and no weights_frame"
    )
    return model.weights_frame(top, **_names(estimator, model, feature_names, edge_feature_names))


def explain(
    estimator: object,
    X: Samples,
    i: int,
    t: int,
    *,
    feature_names: ArrayLike | None = None,
    edge_feature_names: ArrayLike | None = None,
    **options: Any,
) -> DataFrame:
    """Return the contributions to a label against its strongest rival, also for a pipeline.

    Parameters
    ----------
    estimator : estimator
        A fitted `SequenceTagger` or `TreeTagger`; or a pipeline that ends with one, or a search
        that chose one.
    X : list of n_samples
        As the estimator takes them. The steps of a pipeline transform all of them, so give few.
    i : int
        Which sample, from 0.
    t : int
        Which token, or node, of it, from 0.
    feature_names : array-like of str of shape (n_features,), default=None
        Names of the features; None as in `weights_frame`.
    edge_feature_names : array-like of str of shape (n_edge_features,), default=None
        Names of the features of edges, if there are any; None in the same way.
    **options : object
        Further arguments of :meth:`sskit.SequenceTagger.explain`: label, rival, known.

    Returns
    -------
    frame : DataFrame
        Its contributions add up to the difference of the max-marginals of the two labels; see
        :meth:`sskit.SequenceTagger.explain`.

    Raises
    ------
    NotFittedError, TypeError, ValueError
        If the estimator is not fitted or has no ``explain``, or an argument is wrong.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sskit import SequenceTagger
    >>> from sskit.inspection import explain
    >>> from sskit.preprocessing import TokenTransformer
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> tagger = make_pipeline(TokenTransformer(DictVectorizer()), SequenceTagger(random_state=0))
    >>> frame = explain(tagger.fit(X, y), X, 0, 1)
    >>> frame.attrs["label"], frame["group"].unique().tolist()
    ('NOUN', ['features', 'bias', 'before'])
    """
    model, X = fitted_with(estimator, "explain", "max-marginals, and no explain", X)
    names = _names(estimator, model, feature_names, edge_feature_names)
    return model.explain(X, i, t, **names, **options)


def errors_frame(
    estimator: object,
    X: Samples,
    y: Samples,
    top: int | None = 20,
    *,
    n_reasons: int = 3,
    feature_names: ArrayLike | None = None,
) -> DataFrame:
    """Return the wrong labels, the most confident ones first, with their reasons.

    An error with high confidence often shows a wrong label in the data, or a misleading feature.

    Parameters
    ----------
    estimator : estimator
        A fitted `SequenceTagger` or `TreeTagger`, or a `CalibratedTagger` of one; or a pipeline
        that ends with one, or a search that chose one.
    X : list of n_samples
        As the estimator takes them.
    y : sequence of n_samples label sequences (T_i,)
        The true labels; of a set of labels each is right.
    top : int, default=20
        How many errors are listed. None lists all.
    n_reasons : int, default=3
        How many reasons each has.
    feature_names : array-like of str of shape (n_features,), default=None
        Names of the features; None as in `weights_frame`.

    Returns
    -------
    frame : DataFrame
        A row for each error, with the columns sample and token (from 0), true, predicted,
        confidence and reasons. The confidence is the probability of the predicted label where the
        estimator has ``predict_proba``, else how much its max-marginal exceeds that of the true
        label. The reasons are what contributes most to the predicted label against the true one,
        see `explain`; against the strongest rival where the true label was not in the training
        data; a confidence that is no probability is then inf.

    Raises
    ------
    NotFittedError, TypeError, ValueError
        If the estimator is not fitted or has no ``explain``, or X and y do not fit.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.inspection import errors_frame
    >>> from sskit.preprocessing import TokenVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> tagger = make_pipeline(TokenVectorizer(), SequenceTagger(random_state=0)).fit(X, y)
    >>> frame = errors_frame(tagger, X, [["DET", "NOUN"], ["NOUN", "NOUN"]])
    >>> frame[["sample", "token", "true", "predicted"]].values.tolist()
    [[1, 1, 'NOUN', 'VERB']]
    >>> frame["reasons"][0].split(", ")[0].split()[0]
    'word=sleep'
    """
    with optional():
        from pandas import DataFrame

    model, inputs = fitted_with(estimator, "explain", "max-marginals, and no explain", X)
    names = _names(estimator, model, feature_names, None)
    if top is not None:
        check_integer(top, "top")
    check_integer(n_reasons, "n_reasons")
    y_pred, ignored = estimator.predict(X), getattr(model, "ignore_label", None)
    token_accuracy_score(y, y_pred, ignore_label=ignored)  # an error names what does not fit
    calibrated = hasattr(estimator, "predict_proba")
    scores = getattr(estimator, "predict_proba" if calibrated else "decision_function")(X)
    classes, rows = model.classes_.tolist(), []
    for i, labels in enumerate(y_pred):
        for t, (true, label) in enumerate(zip(y[i], labels.tolist(), strict=True)):
            rights = [*true] if isinstance(true, SETS) else [true]
            if any(is_same(one, right) for one in rights for right in (label, ignored)):
                continue
            right_classes = [
                k for k, one in enumerate(classes) if any(is_same(one, r) for r in rights)
            ]
            best = max(right_classes, key=scores[i][t].__getitem__, default=None)
            confidence = scores[i][t][classes.index(label)]
            if not calibrated:
                confidence -= -np.inf if best is None else scores[i][t][best]
            rival = None if best is None else classes[best]
            rows.append((i, t, true, label, float(confidence), rival))
    rows.sort(key=lambda row: -row[4])
    for n, (i, t, true, label, confidence, rival) in enumerate(rows[:top]):
        # without frames, which take longer than all else
        parts, _ = model._explained(inputs, i, t, label, rival, None, *names.values())
        parts = sorted(parts, key=lambda part: -part[-1])[:n_reasons]
        shown = ((part[2] or part[1], part[-1]) for part in parts)
        reasons = ", ".join(f"{name} {c:+.2f}" for name, c in shown if c > 0)
        rows[n] = (i, t, true, label, confidence, reasons)
    columns = ["sample", "token", "true", "predicted", "confidence", "reasons"]
    return DataFrame(rows[:top], columns=columns)


def _names(estimator, model, *user_names):
    """Return names of features and those of edges: given, else of a pipeline's steps, or None."""
    pipelines = [inner for inner, _ in unwrap(estimator) if hasattr(inner, "named_steps")]
    steps = next((pipeline[:-1] for pipeline in pipelines[::-1] if len(pipeline) > 1), [None])
    names = {}
    for kind, own, owner in zip(("", "edge_"), user_names, (steps, steps[-1]), strict=True):
        if own is None:
            # none where there are no steps, or without names, as a hasher
            with suppress(AttributeError, ValueError):
                names_out = getattr(owner, f"get_{kind}feature_names_out")()
                # later steps may no longer show what these are names of
                if len(names_out) == getattr(model, f"n_{kind}features_in_", None):
                    own = np.asarray(names_out, dtype=object)
        names[f"{kind}feature_names"] = own
    return names
