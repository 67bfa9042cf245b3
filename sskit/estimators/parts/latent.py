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
