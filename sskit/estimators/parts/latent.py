"""Types of springs that nobody tells: completed round after round."""

from sskit.estimators.completion.convex_concave import ConvexConcave


def latent_types(model, maps, places):
    """Return what completes the types of springs at true places, and solves in between.

    Given the places, a type has to do with no other: each part takes the best one by itself.

    Parameters
    ----------
    model : PoseModel
        Bound to the data.
    maps : list of n ndarrays of shape (n_parts, H_i, W_i)
        Score maps.
    places : ndarray of shape (n, n_parts, 2)
        True x and y of the parts.

    Returns
    -------
    procedure : ConvexConcave
        Starts with the types whose springs are displaced least.
    """
    first = model.truths(maps, places, model.types(places))

    def complete(w):
        return model.truths(maps, places, model.best_types(places, w))

    return ConvexConcave(complete, lambda solved: [first])


def why_fixed_types(estimator):
    """Return why the types of an estimator cannot be latent if it asks for that.

    Parameters
    ----------
    estimator : PartsModel
        Has the parameters.

    Returns
    -------
    reason : str or None
        A sentence; None if they can, or are not asked for.
    """
    if not estimator.latent_types:
        return None
    if estimator._rescaling() is not None:
        return (
            "latent_types=True cannot be fitted with rescaling='slack', which needs to know the "
            "types; use rescaling='margin'"
        )
    if estimator.warm_start:
        return (
            "latent_types=True cannot be fitted with warm_start=True, as the problem changes while "
            "types are completed"
        )
    return None


__all__ = ["latent_types", "why_fixed_types"]
