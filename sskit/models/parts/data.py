"""Rest positions of springs, computed of true positions before the model is bound."""

import numpy as np

from sskit._numbers import as_floats

# Cells: springs of no grid rest further away.
LARGEST_MEAN = 1e15
# Weights of samples that are smaller parts of the largest count as much: clusters divide by them.
LEAST = 1e-12


def spring_means(places, parents, n_types, weight, random_state):
    """Return the rest positions of springs: centres of clusters of the true displacements.

    Parameters
    ----------
    places : ndarray of shape (n, n_parts, 2)
        x and y of the parts, in cells.
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots.
    n_types : int
        Number of clusters; fewer where there are not so many different displacements.
    weight : ndarray of shape (n,) or None
        Weights of the samples; those of weight zero have no effect.
    random_state : RandomState
        Source of the first centres.

    Returns
    -------
    means : ndarray of shape (n_parts, n_types, 2)
        By falling size of the clusters, of which there are no more than samples; NaN for roots
        and after the last cluster.
    """
    from sklearn.cluster import KMeans

    used = np.ones(len(places)) if weight is None else weight
    places, used = places[used > 0], used[used > 0]
    used = np.maximum(used, LEAST * used.max(initial=0.0))
    n_types = min(int(n_types), len(places))
    means = np.full((len(parents), n_types, 2), np.nan)
    for k in np.flatnonzero(parents >= 0):
        apart = (places[:, k] - places[:, parents[k]]).astype(np.float64)
        n_clusters = min(n_types, len(np.unique(apart, axis=0)))
        clusters = KMeans(n_clusters, n_init=4, random_state=random_state)
        labels = clusters.fit_predict(apart, sample_weight=used)
        size = np.bincount(labels, used, n_clusters)
        means[k, :n_clusters] = clusters.cluster_centers_[np.argsort(-size, kind="stable")]
    return means


def spring_square(places, parents, means, weight):
    """Return the mean squared displacement from where springs rest.

    Parameters
    ----------
    places : ndarray of shape (n, n_parts, 2)
        x and y of the parts, in cells.
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots.
    means : ndarray of shape (n_parts, n_types, 2)
        Where springs rest; NaN where there is no type.
    weight : ndarray of shape (n,) or None
        Weights of the samples.

    Returns
    -------
    square : float
        In squared cells; zero if all parts are roots.
    """
    hung = np.flatnonzero(parents >= 0)
    if not hung.size:
        return 0.0
    apart = places[:, hung] - places[:, parents[hung]]
    distance = ((apart[:, :, None] - means[hung]) ** 2).sum(axis=-1)
    return float(np.average(np.nanmin(distance, axis=2).mean(axis=1), weights=weight))


def pooled_square(means, squares, fractions, pooled):
    """Return the mean squared displacement of several parts of the data from common means.

    Parameters
    ----------
    means : sequence of ndarray of shape (n_parts, n_types, 2)
        Where springs rest in each part of the data: with several types, the same in all.
    squares : sequence of float
        From `spring_square`, of each part of the data and its means.
    fractions : sequence of float
        Of the sample weights, of each part of the data.
    pooled : ndarray of shape (n_parts, n_types, 2)
        Means of the means.

    Returns
    -------
    square : float
        By the theorem of parallel axes.
    """
    hung = ~np.isnan(pooled[:, 0, 0])
    if not hung.any():
        return 0.0
    apart = [((own - pooled)[hung] ** 2).sum(axis=-1).mean() for own in means]
    return float(np.dot(fractions, np.add(squares, apart)))


def spring_unit(square):
    """Return thrice the root mean squared displacement from where springs rest, along an axis.

    Measured in this unit nearly all true displacements are between -1 and 1, and those of parts
    at wrong places not so large that their squares outweigh all other features.

    Parameters
    ----------
    square : float
        From `spring_square`.

    Returns
    -------
    unit : float
        In cells; at least one.
    """
    return max(1.0, 3.0 * float(np.sqrt(square / 2)))


def check_means(means, parents):
    """Return rest positions from users, checked.

    Parameters
    ----------
    means : array-like of shape (n_parts, n_types, 2)
        x and y of the parts from their parents, in cells.
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots, whose means do not matter.

    Returns
    -------
    means : ndarray of shape (n_parts, n_types, 2)
        A copy; NaN for roots.

    Raises
    ------
    ValueError
        If the shape is wrong or a number is not finite; it is named.
    """
    means = as_floats(means, "means")
    if means.ndim != 3 or means.shape[::2] != (len(parents), 2) or means.shape[1] == 0:
        raise ValueError(
            f"means must have shape ({len(parents)}, n_types, 2), x and y for each part and "
            f"type, got {means.shape}"
        )
    means[parents < 0] = np.nan
    wrong = np.argwhere(~(np.abs(means) <= LARGEST_MEAN) & (parents >= 0)[:, None, None])
    if len(wrong):
        k, t, axis = map(int, wrong[0])
        raise ValueError(
            f"means[{k}, {t}, {axis}] is {means[k, t, axis]:g}, expected a number of cells"
        )
    return means
