"""The parts model: parts that stand where their score maps and their springs like it."""

import numpy as np

from sskit.models.features import with_spare
from sskit.models.layout import WeightLayout
from sskit.models.parts.problem import PartsDecoder, PartsProblem


class PoseModel:
    """Places for parts that hang on springs from their parents in a tree.

    score(x, y) = sum_k coef[k] x[k, y_k] + sum_k max_t (types[k, t] - cost of the spring)

    with the cost sum_d springs[k, t, d] . (u_d, u_d^2) of the displacement u = (y_k - y_parent -
    means[k, t]) / unit.

    Parameters
    ----------
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots; a forest.
    means : ndarray of shape (n_parts, n_types, 2)
        Where springs rest: x and y of a part from its parent, in cells; NaN for types that a
        part does not have, which come last.
    unit : float
        Unit of the displacements, in cells.
    min_square : float, default=0.01
        Least cost of a squared displacement of one unit.
    """

    def __init__(self, parents, means, unit, min_square=0.01):
        self.parents = parents
        self.types_of = np.maximum(1, np.isfinite(means[..., 0]).sum(axis=1)).astype(np.int32)
        self.means = np.ascontiguousarray(np.nan_to_num(means))
        self.unit = unit
        n_parts, n_types = means.shape[:2]
        self.layout = WeightLayout(
            coef=(n_parts,), types=(n_parts, n_types), springs=(n_parts, n_types, 2, 2)
        )
        lower = np.full((n_parts, n_types, 2, 2), -np.inf)
        lower[..., 1] = min_square
        unused = np.arange(n_types) >= self.types_of[:, None]
        lower[unused | (parents < 0)[:, None]] = 0.0
        self.layout.own_bounds = {"springs": (lower, None)}

    def types(self, places):
        """Return the types whose springs are displaced least.

        Parameters
        ----------
        places : ndarray of shape (n, n_parts, 2)
            x and y of the parts, in cells.

        Returns
        -------
        types : ndarray of shape (n, n_parts), int32
            0 for roots.
        """
        return self._best(-(self.displaced(places) ** 2).sum(axis=-1))

    def best_types(self, places, w):
        """Return the types that score most where the parts are: each spring has its own.

        Parameters
        ----------
        places : ndarray of shape (n, n_parts, 2)
            x and y of the parts, in cells.
        w : ndarray of shape (n_weights,)
            Flat weights.

        Returns
        -------
        types : ndarray of shape (n, n_parts), int32
            0 for roots.
        """
        blocks, moved = self.layout.split(w), self.displaced(places) / self.unit
        costs = blocks["springs"][..., 0] * moved + blocks["springs"][..., 1] * moved**2
        return self._best(blocks["types"] - costs.sum(axis=-1))

    def truths(self, maps, places, types):
        """Return codes of the labellings with given places and types.

        Parameters
        ----------
        maps : list of n ndarrays of shape (n_parts, H_i, W_i)
            Score maps.
        places : ndarray of shape (n, n_parts, 2), int64
            x and y of the parts, cells of the maps.
        types : ndarray of shape (n, n_parts)
            Types of their springs.

        Returns
        -------
        truths : ndarray of shape (n, 2 * n_parts), int32
            Cells, then types.
        """
        widths = np.array([x.shape[2] for x in maps])
        cells = places[..., 1] * widths[:, None] + places[..., 0]
        return np.concatenate([cells, types], axis=1).astype(np.int32)

    def displaced(self, places):
        """Return by how much parts are away from where springs rest.

        Parameters
        ----------
        places : ndarray of shape (n, n_parts, 2)
            x and y of the parts, in cells.

        Returns
        -------
        displaced : ndarray of shape (n, n_parts, n_types, 2)
            x and y, in cells.
        """
        return (places - places[:, self.parents])[:, :, None] - self.means

    def _best(self, scores):
        """Return the types that score most, of those that there are, (n, n_parts)."""
        scores[:, np.arange(scores.shape[2]) >= self.types_of[:, None]] = -np.inf
        types = scores.argmax(axis=2).astype(np.int32)
        types[:, self.parents < 0] = 0
        return types

    def bind(self, maps, places, scale, loss, cutoff, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        maps : list of n ndarrays of shape (n_parts, H_i, W_i), float64 or float32
            Score maps, in C order.
        places : ndarray of shape (n, n_parts, 2), int64
            True x and y of the parts, cells of the maps.
        scale : ndarray of shape (n,)
            Unit of the distances of the loss, in cells.
        loss : {"squared", "distance"}
            Loss of a part; that of a labelling is their mean.
        cutoff : float
            Distance in scales from which on the loss "squared" is one.
        block_weight : ndarray of shape (n,)
            Weights of the samples, summing to one.

        Returns
        -------
        problem : PartsProblem
            What solvers take.
        """
        truths = self.truths(maps, places, self.types(places))
        return self._problem(maps, truths, scale, loss, cutoff, block_weight)

    def decoder(self, maps, w, n_jobs=None):
        """Bind the model to score maps in which parts are to be found.

        Parameters
        ----------
        maps : list of n ndarrays of shape (n_parts, H_i, W_i), float64 or float32
            Score maps, in C order.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        decoder : PartsDecoder
            Gives places.
        """
        n = len(maps)
        truths = np.zeros((n, 2 * len(self.parents)), dtype=np.int32)
        problem = self._problem(maps, truths, np.ones(n), "distance", 1.0, np.full(n, 1.0 / n))
        return PartsDecoder(problem, n_jobs, with_spare(w))

    def _problem(self, maps, truths, scale, loss, cutoff, block_weight):
        return PartsProblem(
            maps,
            truths,
            scale,
            loss,
            cutoff,
            block_weight,
            self.parents,
            self.types_of,
            self.means,
            self.unit,
        )
