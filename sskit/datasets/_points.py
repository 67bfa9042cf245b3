"""Point sets that were seen twice, with which point is which."""

from numbers import Integral

import numpy as np
from sklearn.utils import Bunch, check_random_state

from sskit.datasets._makers import check_counts, check_not_negative

# In these units the differences of points that are not the same are about as large.
_UNITS = np.array([1.0, 1.0, 0.3, 0.15, 0.7])
_NAMES = ["horizontal", "vertical", "distance to centre", "nearest neighbour", "brightness"]


def make_point_sets(
    n_samples=100, *, n_points=12, n_outliers=0, noise=1.0, turn=0.9, random_state=None
):
    """Make pairs of point sets: stars, say, that are seen a second time after a turn.

    Points are uniform on a square of side 2 and have a brightness, uniform between 0 and 2. What is
    seen the second time is turned about the origin and noisy, in another order. Each set has
    outliers too, points like the others that the other set lacks.

    Parameters
    ----------
    n_samples : int, default=100
        The number of pairs of sets.
    n_points : int, default=12
        The number of points that are in both sets.
    n_outliers : int, default=0
        The number of further points of each set.
    noise : float, default=1.0
        Factor of the standard deviations 0.07 of places and 0.4 of brightness.
    turn : float, default=0.9
        Standard deviation of the angle of the turn, in radians.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    sets : sklearn.utils.Bunch
        data : list of ndarrays (n, n, 5), features of the pairs of n = n_points + n_outliers left
        and right points: minus the squared differences of `feature_names`, each in a unit of
        its own, float64.
        target : list of ndarrays (n,), the right point that each left point is, -1 for none, int64.
        left, right : lists of ndarrays (n, 2), the places of the points.
        feature_names : list of str, what is compared.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> from sskit.datasets import make_point_sets
    >>> sets = make_point_sets(2, n_points=3, n_outliers=1, random_state=0)
    >>> sets.data[0].shape, sets.target[0].tolist()
    ((4, 4, 5), [0, 3, -1, 1])
    """
    check_counts(n_samples=n_samples, n_points=n_points)
    if isinstance(n_outliers, bool) or not isinstance(n_outliers, Integral) or n_outliers < 0:
        raise ValueError(f"n_outliers must be a non-negative integer, got {n_outliers!r}")
    check_not_negative(noise=noise, turn=turn)
    rng = check_random_state(random_state)
    data, target, left, right = [], [], [], []
    for _ in range(n_samples):
        points = rng.uniform(-1, 1, size=(n_points + 2 * n_outliers, 2))
        brightness = rng.uniform(0, 2, size=len(points))
        angle = rng.normal(scale=turn)
        turned = points @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turned += noise * rng.normal(scale=0.07, size=turned.shape)
        dimmed = brightness + noise * rng.normal(scale=0.4, size=len(points))
        # the points of both, then those of the left set, then those of the right one
        one = rng.permutation(n_points + n_outliers)
        other = rng.permutation(np.r_[:n_points, n_points + n_outliers : len(points)])
        place = np.full(len(points), -1)
        place[other] = np.arange(len(other))
        seen = _describe(points[one], brightness[one]), _describe(turned[other], dimmed[other])
        data.append(-(((seen[0][:, None] - seen[1]) / _UNITS) ** 2))
        target.append(place[one])
        left.append(points[one])
        right.append(turned[other])
    return Bunch(data=data, target=target, left=left, right=right, feature_names=list(_NAMES))


def _describe(points, brightness):
    """Return a row of properties of each point, those of `_NAMES`."""
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.min(axis=1) if len(points) > 1 else np.zeros(1)
    radius = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return np.column_stack([points, radius, nearest, brightness])
