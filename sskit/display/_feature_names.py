"""The model at the end of an estimator, and what the steps before it call its features."""

import numpy as np

from sskit.display._fitted import chosen_estimator, is_pipeline, last_step


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
