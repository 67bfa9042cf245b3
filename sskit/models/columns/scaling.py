"""Columns of features, centred and scaled inside a fit, with weights in the user's units."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sskit.models.features import float64_blocks, is_mapped

# If one column has more than the first fraction of the squared norm of all, the others have no
# effect. If few columns have more than the second fraction, they may have none: the objective shows
# it, if more than the third fraction of it is left after the fit.
NEARLY_ALL, MOST, MUCH_LEFT = 0.99, 0.975, 0.5
# Few are at most so many, at most half of all, and each has so many times the square of any other.
FEW, MUCH_MORE = 3, 10.0
ENTRIES_AT_ONCE = 1 << 18
# A sparse column of which this fraction of the entries is stored is dense in fact.
DENSE = 0.5
# Sums that differ by less than this fraction are the same but for rounding.
SAME = 1e-9
EPSILON = np.finfo(np.float64).eps
# Rows whose norms differ by no more than this fraction have been normalised.
EQUAL_NORMS = 1e-3
# Half as many weights as a line of cache holds.
ROWS_AT_ONCE = 4
# Fewer columns have weights that stay in the cache of a processor in any order.
MANY_COLUMNS = 4096
# A bound on the intercept has no effect if it is so many times larger than the means of the
# columns, which centring moves into the intercept.
FAR = 1e6


@dataclass(frozen=True, eq=False)
class Columns:
    """How columns are centred, scaled and renumbered: x becomes (x - shift) factor.

    Attributes
    ----------
    shift : ndarray of shape (n_features,) or None
        Weighted means; None where columns are not centred.
    factor : ndarray of shape (n_features,) or None
        Positive; None where columns are not scaled.
    norm : float, default=0.0
        The mean squared norm of a row once its columns are scaled.
    sums : ColumnSums, default=None
        The sums that these are computed from; None of factors that are no scales of columns.
    rank : ndarray of shape (n_features,), int32, default=None
        The new number of each column, see `ranks`; None where columns stay where they are.
    """

    shift: np.ndarray | None = None
    factor: np.ndarray | None = None
    norm: float = 0.0
    sums: object = None
    rank: np.ndarray | None = None

    def __eq__(self, other):
        if not isinstance(other, Columns):
            return NotImplemented
        parts = "factor", "shift", "rank"
        return all(np.array_equal(getattr(self, part), getattr(other, part)) for part in parts)

    def alone(self):
        """Return these without the sums from which they follow, as they are saved."""
        return replace(self, sums=None)

    def applied(self, X):
        """Return a matrix with its columns centred, scaled and renumbered.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
            Features.

        Returns
        -------
        X : ndarray or CSR matrix of shape (n, n_features)
            A copy: in float64 of float64, else in float32; of a memory-mapped array in a temporary
            file. Sparse rows become dense if that is most of them.

        Raises
        ------
        OSError
            If there is no room for the temporary file.
        """
        if self.factor is not None:
            X = self._scaled(X)
        if self.rank is None or not sp.issparse(X):
            return X
        # rows are sorted again, for norms and products of rows
        data = X.data.copy() if self.factor is None else X.data  # scaled ones are a copy
        rows = sp.csr_array((data, self.rank[X.indices], X.indptr), shape=X.shape)
        rows.sort_indices()
        return rows

    def _scaled(self, X):
        """Return a copy of a matrix with its columns centred and scaled."""
        if sp.issparse(X):
            full = np.zeros(X.shape[1], dtype=bool) if self.shift is None else self.shift != 0
            if not full.any():
                data = np.multiply(X.data, self.factor[X.indices]).astype(X.dtype, copy=False)
                return type(X)((data, X.indices, X.indptr), shape=X.shape)
            if full.mean() < DENSE:
                return self._partly_centred(X, np.flatnonzero(full))
        dtype = np.float64 if X.dtype == np.float64 else np.float32
        if not sp.issparse(X) and is_mapped(X) and X.size:
            out = _mapped_room(dtype, X.shape)
        else:
            out = np.empty(X.shape, dtype=dtype)
        for part in float64_blocks(X):
            block = X[part].toarray() if sp.issparse(X) else X[part]
            block = block if self.shift is None else block - self.shift
            np.multiply(block, self.factor, out=out[part], casting="same_kind")
        return out

    def _partly_centred(self, X, full):
        """Return CSR rows of which some columns are centred, so that all of their entries are."""
        rest = sp.csr_array(X, copy=True)
        rest.data *= ~np.isin(rest.indices, full)
        rest.eliminate_zeros()
        block = (X[:, full].toarray() - self.shift[full]) * self.factor[full]
        n, p = X.shape
        offsets = np.arange(n + 1, dtype=rest.indptr.dtype) * len(full)
        index = np.tile(full, n).astype(rest.indices.dtype)
        block = sp.csr_array((block.ravel(), index, offsets), shape=(n, p))
        rest.data = np.multiply(rest.data, self.factor[rest.indices])
        scaled = sp.csr_array(rest + block)
        scaled.sort_indices()
        return scaled.astype(X.dtype, copy=False)

    def to_user(self, layout, w, overwrite=False):
        """Return flat weights of features as the user gave them, from those of scaled ones.

        They take the place of those that are given if these may be overwritten.
        """
        w = w if overwrite else np.array(w)
        renumber(layout, w, self.rank)
        blocks = layout.split(w)
        for block in self._scaled_blocks(layout, w):
            block *= self.factor
        if self.shift is not None and "intercept" in blocks:
            blocks["intercept"] -= blocks["coef"] @ self.shift
        return w

    def from_user(self, layout, w):
        """Return flat weights of scaled features, the inverse of `to_user`."""
        w = np.array(w)
        blocks = layout.split(w)
        if self.shift is not None and "intercept" in blocks:
            blocks["intercept"] += blocks["coef"] @ self.shift
        for block in self._scaled_blocks(layout, w):
            block /= self.factor
        renumber(layout, w, self._order)
        return w

    def _scaled_blocks(self, layout, w):
        """Return all weights of features, those of the ends of segments too, if they are scaled."""
        return () if self.factor is None else layout.of_features(w)

    @property
    def _order(self):
        """Return the number that a user gives the column that has each number inside, or None."""
        return None if self.rank is None else np.argsort(self.rank)

    def box(self, layout, lower, upper):
        """Return bounds of the weights of scaled features.

        Those of intercepts stay as they are, but have no effect where columns are centred.
        """
        unit = np.ones(layout.n_weights)
        blocks = layout.split(unit)
        for block in self._scaled_blocks(layout, unit):
            block[...] = self.factor
        if self.shift is not None and "intercept" in blocks:
            blocks["intercept"][...] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            lower, upper = lower / unit, upper / unit
        box = np.where(unit, lower, -np.inf), np.where(unit, upper, np.inf)
        for bound in box:
            renumber(layout, bound, self._order)
        return box


def renumber(layout, w, order):
    """Put the weights of features in an order, in place: they may be most of the memory."""
    for block in layout.of_features(w) if order is not None else ():
        for first in range(0, len(block), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            block[part] = block[part].take(order, axis=1)


def _mapped_room(dtype, shape):
    """Return an array in a temporary file, whose room is reserved: writing cannot run out of it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with tempfile.TemporaryFile() as file:  # the map keeps it
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "w+", shape=shape)
        except OSError as error:
            raise OSError(
                error.errno,
                f"the scaled copy of memory-mapped rows takes {size} bytes, for which the folder "
                f"of temporary files, {tempfile.gettempdir()}, has no room: set TMPDIR to another "
                "one, or standardize=False",
            ) from error


@dataclass(frozen=True)
class ColumnSums:
    """Weighted means and squares of columns; those of parts of the data add up.

    Attributes
    ----------
    weight : float
        Sum of the weights of the rows.
    n_rows : int
        Number of rows.
    mean : ndarray of shape (n_features,)
        Weighted means.
    squares : ndarray of shape (n_features,)
        Weighted sums of the squared distances to the mean.
    largest : ndarray of shape (n_features,) or None
        Largest absolute values, over rows with a weight; None of dense rows.
    stored : ndarray of shape (n_features,) or None
        Sums of the weights of the rows whose entry is stored; None of dense rows.
    norms : tuple of float
        The smallest and the largest squared norm of rows with a weight that are not zero.
    room : float
        How far from zero the intercept may go: 0 without one.
    """

    weight: float
    n_rows: int
    mean: np.ndarray
    squares: np.ndarray
    largest: np.ndarray | None
    stored: np.ndarray | None
    norms: tuple
    room: float

    @classmethod
    def of(cls, X, weight, room):
        """Return the sums of a matrix.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Finite features.
        weight : ndarray of shape (n,) or None
            Non-negative weights of the rows.
        room : float
            How far from zero the intercept may go.

        Returns
        -------
        sums : ColumnSums
            In double precision.
        """
        n, p = X.shape
        weight = np.ones(n) if weight is None else weight
        total = float(weight.sum())
        # of rows of any weight the sums stay finite
        fraction = weight / total if total else np.zeros(n)
        largest, stored, norms = None, None, (np.inf, 0.0)
        if sp.issparse(X):
            squared = type(X)(
                (np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape
            )
            mean, squares = fraction @ X, fraction @ squared
            squares = np.maximum(squares - np.square(mean), 0.0)
            stored = np.bincount(X.indices, np.repeat(weight, np.diff(X.indptr)), minlength=p)
            counted = X if weight.all() else X[np.flatnonzero(weight)]
            largest = np.zeros(p)
            np.maximum.at(largest, counted.indices, np.abs(counted.data))
            norm = squared.sum(axis=1)
            norm = np.asarray(norm).ravel()[weight > 0]
            norm = norm[norm > 0]
            norms = (float(norm.min(initial=np.inf)), float(norm.max(initial=0.0)))
        else:
            mean, squares = np.zeros(p), np.zeros(p)
            for part in float64_blocks(X):
                mean += np.einsum("i,ij->j", fraction[part], X[part], dtype=np.float64)
            for part in float64_blocks(X):
                squares += np.einsum("i,ij->j", fraction[part], np.square(X[part] - mean))
        mean, squares = np.asarray(mean).ravel(), total * np.asarray(squares).ravel()
        return cls(total, n, mean, squares, largest, stored, norms, room)

    def __add__(self, other):
        """Return the sums over the rows of both (Chan, Golub, LeVeque 1983)."""
        weight = self.weight + other.weight
        fraction = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        both = self.largest is not None and other.largest is not None
        return ColumnSums(
            weight=weight,
            n_rows=self.n_rows + other.n_rows,
            mean=self.mean + fraction * apart,
            squares=self.squares + other.squares + self.weight * fraction * np.square(apart),
            largest=np.maximum(self.largest, other.largest) if both else None,
            stored=self.stored + other.stored if both else None,
            norms=(min(self.norms[0], other.norms[0]), max(self.norms[1], other.norms[1])),
            room=self.room,
        )

    def weighted(self, factor):
        """Return the sums with all weights multiplied by a factor."""
        if not factor:  # rows without a weight have no values
            blank = None if self.largest is None else np.zeros_like(self.largest)
            norms = np.inf, 0.0
        else:
            blank, norms = self.largest, self.norms
        weight, squares = factor * self.weight, factor * self.squares
        stored = None if self.stored is None else factor * self.stored
        return replace(
            self, weight=weight, stored=stored, squares=squares, largest=blank, norms=norms
        )

    def dense(self):
        """Return which columns are dense in fact: at least half of their entries are stored.

        Marks, such as those of categories, are not: all of their stored entries are the same.
        """
        if self.stored is None:
            return np.ones(len(self.mean), dtype=bool)
        squares = self.squares + self.weight * np.square(self.mean)
        marks = squares >= (1 - SAME) * np.square(self.largest) * self.stored
        return (self.stored >= DENSE * self.weight) & ~(
            marks & (self.stored < (1 - SAME) * self.weight)
        )

    def columns(self, always=True):
        """Return the `Columns` that follow from these sums, or None if columns stay as they are.

        Parameters
        ----------
        always : bool, default=True
            Whether sparse columns are scaled too where rows have equal norms, as those of documents
            that are normalised: their columns have no units.

        Returns
        -------
        columns : Columns or None
            Columns that are dense in fact are centred, if there is an intercept to compensate for
            that, and have variance one; one that only differs from its mean by rounding is not
            scaled. The others are not centred, and have the largest value one.
        """
        dense, normalised = self.dense(), self.norms[1] <= (1 + EQUAL_NORMS) * self.norms[0]
        if not dense.any() and normalised and not always:
            return None
        variance = self.squares / self.weight if self.weight else np.zeros(len(self.mean))
        moment = variance + np.square(self.mean)
        factor, varies = scales(variance, np.square(self.n_rows * EPSILON * self.mean))
        centred = self.room >= FAR * (1.0 + np.abs(self.mean * factor)[dense].sum())
        if not centred:
            factor, varies = scales(moment, 0.0)
        norm = float(varies[dense].sum())
        if not dense.all():
            divided = self.largest if always or not normalised else 0.0
            others = 1.0 / np.where((self.largest > 0) & (divided > 0), divided, 1.0)
            factor = np.where(dense, factor, others)
            norm += float(np.square(np.sqrt(moment[~dense]) * factor[~dense]).sum())
        shift = np.where(dense, self.mean, 0.0) if centred and dense.any() else None
        return Columns(shift, factor, norm, self)


def ranks(features):
    """Return numbers of columns by how many entries they have, or None where that is of no use.

    Alphabetical columns, as a vectoriser makes them, spread the weights of frequent features over
    all memory; behind each other they stay in the caches of a processor.

    Parameters
    ----------
    features : list of {ndarray, CSR matrix} of shape (n_i, p)
        Finite.

    Returns
    -------
    rank : ndarray of shape (p,), int32, or None
        From 0, the column with the most entries; of equal ones the first to occur is the first.
    """
    if not features or not all(sp.issparse(X) for X in features):
        return None
    p = features[0].shape[1]
    if p < MANY_COLUMNS:
        return None
    index = np.concatenate([X.indices for X in features]) if features[1:] else features[0].indices
    first = np.full(p, len(index))
    first[index[::-1]] = np.arange(len(index) - 1, -1, -1)  # the last one that is written stays
    order = np.lexsort((first, -np.bincount(index, minlength=p)))
    rank = np.empty(p, dtype=np.int32)
    rank[order] = np.arange(p)
    return rank


def scales(variance, rounding):
    """Return one over standard deviations, and which variances are more than rounding."""
    varies = variance > rounding
    return 1.0 / np.sqrt(np.where(varies, variance, 1.0)), varies


class HeavyColumns(NamedTuple):
    """Few columns with most of the squared norm of all features.

    Attributes
    ----------
    names : list of str
        Their names, or their numbers, the heaviest first.
    fraction : float
        Of the squared norm.
    """

    names: list
    fraction: float

    @property
    def certain(self):
        """Whether the others have no effect, whatever the fit."""
        return len(self.names) == 1 and self.fraction > NEARLY_ALL


def heavy_columns(features, names):
    """Return the fewest columns with most of the squared norm of features, or None.

    Parameters
    ----------
    features : list of {ndarray, CSR matrix} of shape (n_i, p)
        Finite.
    names : sequence of p str or None
        Names of the columns.

    Returns
    -------
    heavy : HeavyColumns or None
        None if no three columns have more than 97.5 % together, or other columns are as heavy.
    """
    if not features or features[0].shape[1] < 2:
        return None
    squares = np.zeros(features[0].shape[1])
    with np.errstate(over="ignore"):
        for X in features:
            if sp.issparse(X):
                for first in range(0, len(X.data), ENTRIES_AT_ONCE):
                    part = slice(first, first + ENTRIES_AT_ONCE)
                    entries = np.square(X.data[part], dtype=np.float64)
                    squares += np.bincount(X.indices[part], entries, minlength=len(squares))
            else:
                squares += np.einsum("ij,ij->j", X, X, dtype=np.float64)
        total = squares.sum()
        n_largest = min(FEW, len(squares) // 2) + 1
        largest = np.argpartition(-squares, n_largest - 1)[:n_largest]
        largest = largest[np.argsort(-squares[largest])]
        sizes = squares[largest]
        enough = sizes[:-1].cumsum() > MOST * total
        fewest = np.flatnonzero(enough & (sizes[:-1] > MUCH_MORE * sizes[1:]))
    if not (len(fewest) and np.isfinite(total)):
        return None
    heavy = largest[: fewest[0] + 1]
    named = [str(j) if names is None else repr(str(names[j])) for j in heavy]
    return HeavyColumns(named, float(squares[heavy].sum() / total))


def in_words(columns):
    """Return how columns of features are scaled, and why.

    Parameters
    ----------
    columns : Columns or None
        None where they are not.

    Returns
    -------
    phrase : str
        Such as "13 columns scaled, 12 of them centred".
    """
    if columns is None or columns.factor is None:
        return "columns as they are (sparse rows of equal norms)"
    n_scaled = len(columns.factor)
    n_centred = 0 if columns.shift is None else int(np.count_nonzero(columns.shift))
    if n_centred == 0:
        return f"{n_scaled} columns scaled, none centred"
    return f"{n_scaled} columns scaled, {n_centred} of them centred"
