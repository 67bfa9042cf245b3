"""Layout of the flat weight vector of a model: names and places."""

import math
import numbers
from functools import cached_property

import numpy as np

from sskit._numbers import as_array

# Weights above it have squares whose sums may overflow.
LARGEST = 1e150
# Axes of weights, by the fitted attribute that names their entries.
LABEL, FEATURE, EDGE_FEATURE = "classes_", "feature_names_in_", "edge_feature_names_in_"
KIND, PAIR = "edge_kinds_", "edges_"
LENGTH = "max_length_"  # which names the last one alone
# The fitted weights, by attribute and number of dimensions: their name in tables, and their axes;
# in the order of tables.
AXES = {
    ("coef_", 2): ("node", (LABEL, FEATURE)),
    ("first_coef_", 2): ("first", (LABEL, FEATURE)),
    ("last_coef_", 2): ("last", (LABEL, FEATURE)),
    ("lengths_", 2): ("length", (LABEL, LENGTH)),
    ("segment_coef_", 2): ("segment", (LABEL, None)),
    ("transitions_", 2): ("transition", (LABEL, LABEL)),
    ("transitions_", 3): ("transition", (KIND, LABEL, LABEL)),
    ("triples_", 3): ("triple", (LABEL, LABEL, LABEL)),
    ("intercept_", 1): ("intercept", (LABEL,)),
    ("start_", 1): ("start", (LABEL,)),
    ("end_", 1): ("end", (LABEL,)),
    ("root_", 1): ("root", (LABEL,)),
    ("leaf_", 1): ("leaf", (LABEL,)),
    ("edge_coef_", 3): ("edge", (EDGE_FEATURE, LABEL, LABEL)),
    ("pairwise_", 3): ("edge", (EDGE_FEATURE, LABEL, LABEL)),
    ("pairwise_", 1): ("pair", (PAIR,)),
}


class WeightLayout:
    """The named blocks that make up a flat weight vector.

    Parameters
    ----------
    **shapes : tuple of int
        Shape of each block as users see it, in the order in which blocks follow each other. A
        block of two dimensions is stored column after column ("F" order) if its name is
        "coef", since the weights of one feature for all states are used together; row after
        row otherwise.

    Attributes
    ----------
    own_bounds : None, tuple (lower, upper) or dict of such tuples by block
        Bounds that the model needs, None to begin with.
    """

    def __init__(self, **shapes):
        self.shapes = shapes
        self.own_bounds = None
        self.slices, self.n_weights = {}, 0
        for name, shape in shapes.items():
            start, self.n_weights = self.n_weights, self.n_weights + math.prod(map(int, shape))
            self.slices[name] = slice(start, self.n_weights)

    @cached_property
    def attributes(self):
        """Name, fitted attribute and shape of each block, and whether it has no features."""
        names = {name: (f"{name}_", len(shape)) for name, shape in self.shapes.items()}
        axes = {name: set(AXES.get(key, (None, ()))[1]) for name, key in names.items()}
        return [
            (name, f"{name}_", shape, axes[name].isdisjoint((FEATURE, EDGE_FEATURE)))
            for name, shape in self.shapes.items()
        ]

    def split(self, w):
        """Return the blocks of a flat vector by name, as views.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            Flat weights.

        Returns
        -------
        blocks : dict of ndarray
            In the users' shapes.
        """
        return {
            name: w[part].reshape(self.shapes[name], order="F" if name == "coef" else "C")
            for name, part in self.slices.items()
        }

    def of_features(self, w):
        """Return the blocks of a flat vector with a column for each feature, as views, a list."""
        blocks = self.split(w)
        axes = {name: AXES.get((f"{name}_", len(shape))) for name, shape in self.shapes.items()}
        return [blocks[name] for name in blocks if axes[name] and axes[name][1][-1] == FEATURE]

    def join(self, blocks):
        """Return the flat vector of named blocks, the inverse of `split`.

        Parameters
        ----------
        blocks : dict of ndarray
            One array for each block.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            Flat weights.
        """
        w = np.empty(self.n_weights)
        for name, view in self.split(w).items():
            view[...] = blocks[name]
        return w

    def bounds(self, bounds):
        """Return the bounds of the user within those of the model as two flat arrays.

        Parameters
        ----------
        bounds : None, tuple (lower, upper) or dict of such tuples by block
            A bound is a number, None (unbounded), or an array: over the flat weight vector, or,
            in a dict, of the shape of the block.

        Returns
        -------
        lower, upper : ndarray of shape (n_weights,), or None if there are no bounds
            Infinite where there is no bound.

        Raises
        ------
        ValueError
            If a block is unknown, a shape does not fit, a bound is NaN, the lower one exceeds
            the upper one or a bound of the model's own.
        """
        if bounds is None and self.own_bounds is None:
            return None
        box = self._box(bounds)
        if self.own_bounds is None:
            return box
        try:
            own = self._box(
                self.own_bounds if isinstance(self.own_bounds, dict) else tuple(self.own_bounds)
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"the model's own bounds are wrong: {error}") from error
        if box is None:
            return own
        lower, upper = np.maximum(own[0], box[0]), np.minimum(own[1], box[1])
        wrong = np.flatnonzero(lower > upper)
        if len(wrong):
            j = wrong[0]
            block = next(name for name, part in self.slices.items() if j < part.stop)
            raise ValueError(
                f"bounds leave nothing of the model's own at weight {j}: [{box[0][j]}, "
                f"{box[1][j]}] and [{own[0][j]}, {own[1][j]}] do not overlap, in block {block!r}"
            )
        return lower, upper

    def _box(self, bounds):
        """Return bounds as two flat arrays, or None."""
        if bounds is None:
            return None
        lower = np.full(self.n_weights, -np.inf)
        upper = np.full(self.n_weights, np.inf)
        if not isinstance(bounds, dict):
            _set_bounds("bounds", bounds, lower, upper)
            return lower, upper
        lowers, uppers = self.split(lower), self.split(upper)
        for name, pair in bounds.items():
            if name not in self.shapes:
                raise ValueError(
                    f"bounds has no block {name!r}; the blocks of this model are "
                    f"{', '.join(map(repr, self.shapes))}"
                )
            _set_bounds(f"bounds[{name!r}]", pair, lowers[name], uppers[name])
        return lower, upper


def _set_bounds(name, pair, lower, upper):
    """Write one pair of bounds into two arrays, checked."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair (lower, upper), got {pair!r}")
    for side, value, out in zip(("lower", "upper"), pair, (lower, upper), strict=True):
        if value is None:
            continue
        value = as_array(value, f"the {side} bound in {name}")
        if value.dtype.kind not in "iuf" or value.shape not in ((), out.shape):
            raise ValueError(
                f"the {side} bound in {name} must be None, a number or an array of shape "
                f"{out.shape}, got {_describe(value)}"
            )
        if np.isnan(value).any():
            raise ValueError(f"the {side} bound in {name} is NaN")
        out[...] = value
    nearest = np.clip(0.0, lower, upper)
    wrong = np.argwhere((np.abs(nearest) > LARGEST) & np.isfinite(nearest))
    if len(wrong):
        index = tuple(int(j) for j in wrong[0])
        raise ValueError(
            f"{name} leaves no weight at {list(index)} nearer to zero than {nearest[index]:g}, and "
            "squares of such weights overflow"
        )
    wrong = np.argwhere((lower > upper) | (lower == np.inf) | (upper == -np.inf))
    if len(wrong):
        index = tuple(int(j) for j in wrong[0])
        raise ValueError(
            f"{name}: the lower bound {lower[index]} at {list(index)} must be finite or -inf and "
            f"not above the upper bound {upper[index]}"
        )


def _describe(value):
    if value.ndim == 0 and isinstance(value.item(), (numbers.Number, str, type(None))):
        return repr(value.item())
    return f"an array of shape {value.shape} and dtype {value.dtype}"


def aligned(block, axis, source, target):
    """Return a block with the entries along an axis where other data have them; new ones zero."""
    if source == target:
        return block
    place = {value: k for k, value in enumerate(source)}
    none = np.zeros_like(block, shape=(*block.shape[:axis], 1, *block.shape[axis + 1 :]))
    padded = np.concatenate([block, none], axis=axis)
    return padded.take([place.get(value, len(source)) for value in target], axis=axis)
