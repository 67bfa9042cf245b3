"""Weights by name and explanations, of pipelines too."""

from contextlib import suppress

import numpy as np

from sskit._inside import fitted_with, unwrap

__all__ = ["explain", "weights_frame"]


def weights_frame(estimator, top=20, *, feature_names=None, edge_feature_names=None):
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


def explain(estimator, X, i, t, *, feature_names=None, edge_feature_names=None, **options):
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
        If the estimator is not fitted or explains nothing, or an argument is wrong.

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


def _names(estimator, model, *given):
    """Return names of features and those of edges: given, else of a pipeline's steps, or None."""
    found = [inner for inner, _ in unwrap(estimator) if hasattr(inner, "named_steps")]
    steps = next((pipeline[:-1] for pipeline in found[::-1] if len(pipeline) > 1), [None])
    names = {}
    for kind, own, owner in zip(("", "edge_"), given, (steps, steps[-1]), strict=True):
        if own is None:
            # none where there are no steps, or without names, as a hasher
            with suppress(AttributeError, ValueError):
                told = getattr(owner, f"get_{kind}feature_names_out")()
                # later steps may no longer show what these are names of
                if len(told) == getattr(model, f"n_{kind}features_in_", None):
                    own = np.asarray(told, dtype=object)
        names[f"{kind}feature_names"] = own
    return names
