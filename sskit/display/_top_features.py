"""The strongest weights of a model by name, as text or data."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit.display._feature_names import fitted_model, names_of_steps
from sskit.display._fitted import last_step

# The ends of a chain, and of a tree, whose labels have weights of their own.
_ENDS = ("start_", "end_", "root_", "leaf_")


def top_features(estimator, n=10, *, feature_names=None, digits=3, output_dict=False):
    """List the features with the largest weights for each label, and transitions likewise.

    Parameters
    ----------
    estimator : estimator
        A fitted linear estimator of this package with weights by label: of rows, sequences,
        trees, graphs or sets of labels; or a pipeline that ends with one, or a search that chose
        one.
    n : int, default=10
        How many to list for each label, and of the transitions: those of the largest absolute
        values, sorted from the largest weight to the smallest. Zeros are left out.
    feature_names : array-like of str of shape (n_features,), default=None
        Names of the features. None takes those that the steps before it in its pipeline give
        (``get_feature_names_out``), or the columns of the data frame that it was fitted to, or x0,
        x1, ...
    digits : int, default=3
        Decimals of the weights in the text.
    output_dict : bool, default=False
        Whether to return a dict in place of a text.

    Returns
    -------
    found : str or dict
        The dict has "features", a dict by label of dicts {name: weight}; of sequences and trees
        also "transitions", {(label, next label): weight}, with the kind of edge in front if edges
        have kinds, and "start" and "end", or "root" and "leaf", {label: weight}. All are sorted. Of
        two classes there is one row of weights, that of the second against the first. Hidden
        states of labels are listed for themselves, as "label/0", "label/1", ...

    Raises
    ------
    NotFittedError, TypeError, ValueError
        If the estimator is not fitted or has no weights of features by label, as with a kernel,
        or there is another number of features than of names, or two are equal.

    See Also
    --------
    TransitionDisplay : All transitions as a picture.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sskit import SequenceTagger
    >>> from sskit.display import top_features
    >>> from sskit.preprocessing import TokenTransformer
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["DET", "NOUN"], ["NOUN", "VERB"]]
    >>> tagger = make_pipeline(TokenTransformer(DictVectorizer()), SequenceTagger(random_state=0))
    >>> found = top_features(tagger.fit(X, y), 1, output_dict=True)
    >>> list(found["features"]["DET"]), list(found["features"]["VERB"])
    (['word=the'], ['word=sleep'])
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be an integer, at least 1, got {n!r}")
    check_is_fitted(last_step(estimator))
    model = fitted_model(estimator)
    coef = np.asarray(getattr(model, "coef_", 0.0))
    if coef.ndim != 2:
        raise TypeError(f"{type(model).__name__} has no weights of features by label to list")
    names = _feature_names(estimator, model, coef.shape[1], feature_names)
    labels = _labels(model, len(coef))
    found = {
        "features": {
            label: {names[j]: float(row[j]) for j in _strongest(row, n)}
            for label, row in zip(labels[-len(coef) :], coef, strict=True)
        }
    }
    found |= _transitions(model, labels, n)
    return found if output_dict else _text(found, digits)


def _feature_names(estimator, model, n_features, given):
    """Return the names of the features."""
    if given is None:
        given = names_of_steps(estimator, n_features)
        if given is None:
            given = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    names = [str(name) for name in given]
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but there are {n_features}")
    if len(set(names)) != n_features:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"feature_names must differ, got {twice!r} twice")
    return names


def _labels(model, n_rows):
    """Return what the rows of the weights are called; of two classes there may be one row."""
    if hasattr(model, "_state_names"):
        return model._state_names()
    classes = np.asarray(getattr(model, "classes_", np.arange(n_rows)))
    fits = classes.ndim == 1 and len(classes) in (n_rows, n_rows + (n_rows == 1))
    return classes.tolist() if fits else list(range(n_rows))


def _strongest(weights, n):
    """Return the places of the n largest absolute values but zeros, from the largest down."""
    size = np.abs(np.where(np.isfinite(weights), weights, 0.0))
    places = np.argsort(-size, kind="stable")[:n]
    places = places[size[places] > 0]
    return places[np.argsort(-weights[places], kind="stable")].tolist()


def _transitions(model, labels, n):
    """Return what the weights of transitions and ends are, by name."""
    found = {}
    tables = getattr(model, "transitions_", None)
    if tables is not None:
        kinds = np.asarray(model.edge_kinds_).tolist() if tables.ndim == 3 else None
        places = [np.unravel_index(j, tables.shape) for j in _strongest(tables.ravel(), n)]
        found["transitions"] = {
            tuple(labels[k] for k in place[-2:])
            if kinds is None
            else (kinds[place[0]], *(labels[k] for k in place[-2:])): float(tables[place])
            for place in places
        }
    for name in _ENDS:
        weights = getattr(model, name, None)
        if weights is not None:
            chosen = _strongest(weights, n)
            found[name[:-1]] = {labels[k]: float(weights[k]) for k in chosen}
    return found


def _text(found, digits):
    """Return the lists as text."""
    blocks = [(str(label), weights) for label, weights in found["features"].items()]
    blocks += [(f"({what})", found[what]) for what in found if what != "features"]
    size = [f"{w:+.{digits}f}" for _, weights in blocks for w in weights.values()]
    width = max(map(len, size), default=0)
    lines = []
    for title, weights in blocks:
        lines += ["", title]
        for name, weight in weights.items():
            name = " -> ".join(map(str, name)) if isinstance(name, tuple) else name
            lines.append(f"  {weight:+{width}.{digits}f}  {name}")
    return "\n".join(lines[1:])
