"""What displays share: the estimator that they are about, names of its features, rows of axes."""

import numpy as np


def chosen_estimator(estimator):
    """Return what a search chose, or the estimator itself if it is no search.

    Parameters
    ----------
    estimator : estimator
        Any.

    Returns
    -------
    estimator : estimator
        With what ``best_estimator_`` holds, if there is any. A path is itself.
    """
    if hasattr(estimator, "lams_"):
        return estimator
    return getattr(estimator, "best_estimator_", estimator)


def is_pipeline(estimator):
    """Return whether an estimator has further ones as steps; ``steps`` alone is a parameter."""
    return hasattr(estimator, "named_steps")


def last_step(estimator, attribute=None):
    """Return the estimator at the end of a pipeline, or of the one that a search chose.

    Parameters
    ----------
    estimator : estimator
        Any.
    attribute : str, default=None
        A search that has it is the end.

    Returns
    -------
    estimator : estimator
        That is neither a pipeline nor a search.
    """
    while True:
        if attribute is not None and hasattr(estimator, attribute):
            return estimator
        inner = chosen_estimator(estimator)
        inner = inner[-1] if is_pipeline(inner) else inner
        if inner is estimator:
            return inner
        estimator = inner


def predict_and_input(estimator, X):
    """Predict, and return also what the last step of the estimator predicted from.

    Parameters
    ----------
    estimator : estimator
        Fitted. A search predicts with what it chose.
    X : object
        Samples, as the estimator takes them.

    Returns
    -------
    predictions : object
        What the estimator predicts.
    seen : object
        The samples as the last step of a pipeline sees them; of other estimators X itself.
    """
    estimator = chosen_estimator(estimator)
    if not is_pipeline(estimator) or len(estimator.steps) < 2:
        return estimator.predict(X), X
    # Not the pipeline's own predict: it would keep what the last step sees to itself.
    seen = estimator[:-1].transform(X)
    return estimator[-1].predict(seen), seen


def fitted_model(estimator):
    """Return the model that an estimator holds: the last step, or what a path or a stop kept.

    Parameters
    ----------
    estimator : estimator
        Any.

    Returns
    -------
    model : estimator
        The last step of a pipeline, of what a search chose, or what a path chose or an early stop
        kept there.
    """
    model = last_step(estimator)
    return getattr(model, "best_estimator_", getattr(model, "estimator_", model))


def names_of_steps(estimator, n_features, edges=False):
    """Return the names that the steps of a pipeline before the last give to features.

    Parameters
    ----------
    estimator : estimator
        A pipeline, or a search that chose one; others have no steps.
    n_features : int
        How many there must be.
    edges : bool, default=False
        Whether the features are those of edges, which a transformer of graphs names.

    Returns
    -------
    names : ndarray of shape (n_features,) or None
        None if no step gives that many.
    """
    pipeline = chosen_estimator(estimator)
    if not is_pipeline(pipeline) or len(pipeline) < 2:
        return None
    steps = pipeline[:-1]
    try:
        names = steps[-1].get_edge_feature_names_out() if edges else steps.get_feature_names_out()
    except (AttributeError, ValueError):  # a step without names, as a hasher
        return None
    # names of what later steps no longer show
    return np.asarray(names, dtype=object) if len(names) == n_features else None


def row_of_axes(n, axes=None, size=(3.2, 3.0)):
    """Return n axes side by side, in a new figure unless they are given.

    Parameters
    ----------
    n : int
        Number of axes.
    axes : matplotlib Axes or sequence of them, default=None
        Axes to draw on.
    size : tuple (width, height), default=(3.2, 3.0)
        Of new axes, in inches.

    Returns
    -------
    axes : list of matplotlib Axes
        Those given, or new ones.

    Raises
    ------
    ValueError
        If axes were given, but not n of them.
    """
    return list(grid_of_axes((1, n), axes, figsize=(n * size[0], size[1]))[0])


def grid_of_axes(shape, axes=None, **figure):
    """Return axes in rows and columns, in a new figure unless they are given.

    Parameters
    ----------
    shape : tuple (n_rows, n_columns)
        How many.
    axes : array-like of matplotlib Axes, default=None
        Axes to draw on, row by row.
    **figure : dict
        How a new figure is made.

    Returns
    -------
    axes : ndarray of matplotlib Axes of this shape
        Those given, or new ones.

    Raises
    ------
    ValueError
        If axes were given, but not as many.
    """
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(*shape, layout="constrained", squeeze=False, **figure)
    axes = np.asarray(axes, dtype=object)
    if axes.size != shape[0] * shape[1]:
        raise ValueError(
            f"axes must hold {shape[0] * shape[1]} axes, {shape[0]} rows of {shape[1]} panels, got "
            f"{axes.size}"
        )
    return axes.reshape(shape)


def check_panels(panels, available):
    """Return the names of the panels to draw, all that there are for None."""
    panels = list(available) if panels is None else list(panels)
    if not panels or not set(panels) <= set(available):
        names = ", ".join(map(repr, available))
        raise ValueError(f"panels must hold names of {names}, got {panels!r}")
    return panels


def with_truth(y_true, y_pred):
    """Return what panels show by name: the truth, and one prediction or a dict of several."""
    predictions = y_pred if isinstance(y_pred, dict) else {"prediction": y_pred}
    if "truth" in predictions:
        raise ValueError("a prediction cannot be called 'truth'")
    return {"truth": y_true, **predictions}
