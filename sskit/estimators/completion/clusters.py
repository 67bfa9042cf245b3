"""Initial hidden states: clusters of the rows of each label."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

# Rows of a label of which clusters are made; others get the nearest.
MOST_ROWS = 20_000


def cluster_states(rows, labels, n_states, random_state):
    """Return hidden states of rows: clusters of those that have the same label, by k-means.

    Parameters
    ----------
    rows : {ndarray, CSR matrix} of shape (N, p)
        Features, finite.
    labels : ndarray of shape (N,)
        Labels, 0 to K - 1; negative where a row has none.
    n_states : ndarray of int of shape (K,)
        How many states each label has, positive.
    random_state : RandomState
        Where the clustering begins. Of a label with more than 20000 rows as many are drawn, and
        the others get the states that are nearest.

    Returns
    -------
    states : ndarray of shape (N,), intp
        0 to sum(n_states) - 1: those of the first label come first. Within a label they go by
        falling size. Negative where a row has no label. A label with fewer different rows than
        states has states without a row.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.estimators.completion.clusters import cluster_states
    >>> rows = np.array([[0.0], [5.0], [0.1], [5.1], [0.2]])
    >>> labels = np.array([0, 1, 1, 1, 1])
    >>> states = cluster_states(rows, labels, np.array([1, 2]), np.random.RandomState(0))
    >>> states.tolist()
    [0, 1, 2, 1, 2]
    """
    first = np.cumsum(n_states) - n_states
    states = np.where(labels < 0, -1, first[labels]).astype(np.intp)
    for k in np.flatnonzero(np.asarray(n_states) > 1):
        of_label = np.flatnonzero(labels == k)
        if len(of_label) > 1:
            states[of_label] += _clusters(rows, of_label, int(n_states[k]), random_state)
    return states


def _clusters(rows, chosen, n_clusters, random_state):
    """Return the clusters of some rows, by falling size."""
    from sklearn.cluster import KMeans

    drawn = chosen
    if len(chosen) > MOST_ROWS:
        drawn = np.sort(random_state.choice(chosen, MOST_ROWS, replace=False))
    some, unit = _scaled(rows[drawn])
    means = KMeans(min(n_clusters, len(drawn)), n_init=1, random_state=random_state)
    with warnings.catch_warnings():
        # of fewer different rows than clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters = means.fit(some).labels_
    if len(drawn) < len(chosen):
        parts = np.array_split(chosen, -(-len(chosen) // MOST_ROWS))
        clusters = np.concatenate([means.predict(_scaled(rows[part], unit)[0]) for part in parts])
    size = np.bincount(clusters, minlength=n_clusters)
    place = np.empty(len(size), dtype=np.intp)
    place[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return place[clusters]


def _scaled(rows, unit=None):
    """Return rows as k-means takes them, divided by a unit: squares neither over- nor underflow."""
    if sp.issparse(rows):
        # it takes indices of 32 bits only
        parts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sp.csr_matrix((rows.data.astype(np.float64), *parts), shape=rows.shape)
        rows.sum_duplicates()
    else:
        rows = np.asarray(rows, dtype=np.float64)
    if unit is None:
        unit = float(abs(rows).max()) or 1.0
    return rows / unit, unit
