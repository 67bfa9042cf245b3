"""Weights of parts by hand: what a variance says of springs, and log odds of scores."""

import numpy as np

# Share of the log density of a spring that counts: neighbours repeat what each other's say.
DISCOUNT = 0.4
# Least variance, in squared cells: places are whole cells.
LEAST_VARIANCE = 1.0
LEAST_SHARE = 1e-3


def spring_prior(model, places, weight, slopes):
    """Return the weights of springs that are normal distributions, and of scores as log odds.

    By type, displacements have a variance about where its spring rests: its inverse is the
    stiffness, and the score of the type is the log of its share and of the density where it rests.

    Parameters
    ----------
    model : PoseModel
        The model.
    places : ndarray of shape (n, n_parts, 2)
        True x and y of the parts, in cells.
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    slopes : ndarray of shape (n_parts,)
        By how much the log odds of a part rise with its scores.

    Returns
    -------
    prior : ndarray of shape (n_weights,)
        Flat weights, so small that a part's scores are worth what its loss is, 1 / n_parts.
    """
    n_parts, n_types = model.means.shape[:2]
    share = np.ones(len(places)) if weight is None else weight / weight.max()
    share = share / share.sum()
    chosen = model.types(places)[..., None] == np.arange(n_types)
    shares = np.einsum("i,ikt->kt", share, chosen)
    squares = np.einsum("i,ikt,iktd->ktd", share, chosen, model.displaced(places) ** 2)
    counts = np.maximum(shares, LEAST_SHARE)
    variances = np.maximum(squares / counts[..., None], LEAST_VARIANCE)
    types = np.log(counts) - 0.5 * np.log(variances).sum(axis=-1)
    types -= types.max(axis=1, keepdims=True)
    springs = np.zeros((n_parts, n_types, 2, 2))
    springs[..., 1] = model.unit**2 / (2.0 * variances)
    unused = np.arange(n_types) >= model.types_of[:, None]
    unused |= (model.parents < 0)[:, None]
    types[unused] = springs[unused] = 0.0
    scale = 0.5 / n_parts
    return model.layout.join(
        {
            "coef": scale * slopes,
            "types": scale * DISCOUNT * types,
            "springs": scale * DISCOUNT * springs,
        }
    )
