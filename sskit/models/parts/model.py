"""The parts model: a tree of springs between parts with score maps."""

import numpy as np

from sskit.models.feature_map import weights_alone
from sskit.models.features import with_spare
from sskit.models.layout import WeightLayout
from sskit.models.parts.structure import PartsStructure
from sskit.models.request import Decoder, Request, find_grid_marginals
from sskit.models.structure import NodeLoss, StructuredProblem


class PoseModel:
    """Places of parts in a tree, each connected to its parent by a spring.

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
        blocks, apart = self.layout.split(w), self.displaced(places) / self.unit
        costs = blocks["springs"][..., 0] * apart + blocks["springs"][..., 1] * apart**2
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
        """Return the displacements of parts from the rest positions of their springs.

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
        """Return the types with the highest scores among those of each part, (n, n_parts)."""
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
        problem : StructuredProblem
            The problem for the solvers.
        """
        truths = self.truths(maps, places, self.types(places)).ravel()
        feature_map, structure = self._parts(maps, scale, loss, cutoff)
        return StructuredProblem(
            feature_map, structure, NodeLoss(truths, np.empty(0), 0), block_weight
        )

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
        request = Request(*self._parts(maps, np.ones(len(maps)), "distance", 1.0), with_spare(w))
        return PartsDecoder(maps, request, n_jobs)

    def _parts(self, maps, scale, loss, cutoff):
        """Return the `FeatureMap` and the structure."""
        tree = self.parents, self.types_of, self.means, self.unit
        structure = PartsStructure(maps, scale, loss, cutoff, *tree)
        return weights_alone(len(maps), self.layout.n_weights), structure


class PartsDecoder(Decoder):
    """Places of parts under one weight vector.

    Parameters
    ----------
    maps : list of n ndarrays of shape (n_parts, H_i, W_i)
        Score maps.
    request : Request
        Of these maps.
    n_jobs : int, default=None
        Number of threads.
    """

    def __init__(self, maps, request, n_jobs=None):
        super().__init__(request, n_jobs)
        self.maps = maps

    def best(self):
        """Return the best x and y of all parts, shape (n, n_parts, 2), int64."""
        cells = np.split(super().best().reshape(len(self.maps), -1).astype(np.int64), 2, axis=1)[0]
        widths = np.array([x.shape[2] for x in self.maps])[:, None]
        return np.stack([cells % widths, cells // widths], axis=2)

    def max_marginals(self):
        """Return the best score with each part at each cell, for each sample (n_parts, H, W)."""
        return self.run(find_grid_marginals, [np.empty(maps.shape) for maps in self.maps])
