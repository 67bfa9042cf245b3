"""Validation of a Python structure: every result is checked before compiled code reads it."""

import pickle

import numpy as np
import scipy.sparse as sp

from sskit.inputs.stacking import sound_csr

# Squares of larger numbers, and their sums, overflow.
LARGEST = 1e150

PLAIN = {bool, bytes, float, int, str, type(None), np.bool_, np.float64, np.int32, np.int64}


class CheckedStructure:
    """Calls a structure for its training samples, by number, and checks the results.

    Exceptions of the structure's own code pass through with the number of the sample added.

    Parameters
    ----------
    model : object
        Has the methods ``joint_feature``, ``loss`` and ``argmax`` of `StructuredModel`.
    X : list of length n
        Inputs.
    Y : list of length n
        True labellings.
    n_weights : int or None
        Length of the joint features; None means that of the first sample's.
    full : list of length n, default=None
        Full labellings that agree with the true ones, if these are only parts of labellings; None
        if they are complete.
    """

    def __init__(self, model, X, Y, n_weights=None, full=None):
        self.model = model
        self.X = X
        self.Y = Y
        self.full = Y if full is None else full
        self.n_weights = n_weights
        if n_weights is None:
            phi = self._call(0, "joint_feature", X[0], self.full[0])
            self.n_weights = int(np.prod(_vector(phi, 0).shape))

    def subset(self, numbers):
        """Return the same for some samples, under the numbers that they have here.

        Parameters
        ----------
        numbers : list of int
            Numbers of samples.

        Returns
        -------
        answers : CheckedStructure
            Has dicts in place of the lists of samples.
        """
        X, Y = ({i: samples[i] for i in numbers} for samples in (self.X, self.Y))
        return CheckedStructure(self.model, X, Y, self.n_weights)

    def truth(self, i):
        """Return (index, value) of the joint feature of the true labelling, and its key.

        If only a part of it is known, it is the first completion.

        Parameters
        ----------
        i : int
            Number of the sample.

        Returns
        -------
        index : ndarray, int32
            Strictly increasing.
        value : ndarray, float64
            The entries there.
        key : object
            See `key`.

        Raises
        ------
        ValueError
            If the joint feature or the loss are wrong; the loss of the truth must be zero.
        """
        if self.Y[i] is None:
            raise ValueError(f"the label of sample {i} is None, which stands for no label")
        if hasattr(self.model, "check"):
            self._call(i, "check", self.X[i], self.Y[i])
        index, value = self.joint_feature(i, self.full[i])
        if self.full is self.Y:
            loss = self.loss(i, self.Y[i])
            if loss != 0.0:
                raise ValueError(f"loss of the truth of sample {i} is {loss}, expected 0")
        else:
            self.agrees(i, self.full[i])
        return index, value, self.key(i, self.full[i])

    def agrees(self, i, y):
        """Raise ValueError unless a full labelling agrees with the known part of sample i."""
        loss = self.loss(i, y)
        if loss != 0.0:
            raise ValueError(
                f"the completion {y!r:.80} of sample {i} has the loss {loss}, expected 0: it must "
                "agree with what is known"
            )

    def joint_feature(self, i, y):
        """Return (index, value) of the joint feature of a labelling, index strictly increasing."""
        phi = _vector(self._call(i, "joint_feature", self.X[i], y), i)
        length = int(np.prod(phi.shape))
        if length != self.n_weights:
            raise ValueError(
                f"joint_feature of sample {i} has length {length}, expected {self.n_weights}"
            )
        index, value = _entries(phi)
        with np.errstate(over="ignore"):
            value = value.astype(np.float64)
        wrong = np.flatnonzero(~(np.abs(value) <= LARGEST))
        if wrong.size:
            j, entry = int(index[wrong[0]]), value[wrong[0]]
            what = f"{entry:g}, whose square overflows," if np.isfinite(entry) else "not finite"
            raise ValueError(f"joint_feature of sample {i} is {what} at {j}")
        return index.astype(np.int32), value

    def loss(self, i, y):
        """Return the loss of a labelling, a finite number that is not negative."""
        loss = self._call(i, "loss", self.Y[i], y)
        return checked_loss(loss, f"sample {i}")

    def argmax(self, i, w, augmented):
        """Return the labelling that maximises the score, plus the loss if `augmented`."""
        if augmented:
            return self._call(i, "argmax", self.X[i], w, self.Y[i])
        return self._call(i, "argmax", self.X[i], w)

    def key(self, i, y):
        """Return a key that is equal for equal labellings of one sample.

        Parameters
        ----------
        i : int
            Number of the sample.
        y : object
            A labelling.

        Returns
        -------
        key : hashable
            Equal for equal labellings.

        Raises
        ------
        TypeError
            If the labelling can be neither hashed nor pickled.
        """
        try:
            return label_key(y)
        except Exception as error:
            raise TypeError(
                f"a labelling of sample {i} is of type {type(y).__name__}, which can be neither "
                "hashed nor pickled"
            ) from error

    def _call(self, i, name, *args):
        return call_method(self.model, name, f"sample {i}", *args)


def call_method(model, name, sample, *args):
    """Call a method of a user's structure; its exceptions get the name of the sample.

    Parameters
    ----------
    model : object
        The structure.
    name : str
        Of the method.
    sample : str
        Description of the sample, for the note.
    *args : object
        Arguments of the method.

    Returns
    -------
    answer : object
        What the method returns.
    """
    try:
        return getattr(model, name)(*args)
    except Exception as error:
        note = f"raised by {name} of {type(model).__name__} for {sample}"
        if name in ("joint_feature", "loss"):  # often argmax has returned a wrong labelling
            note += f" and the labelling {args[-1]!r:.80}"
        if not hasattr(error, "add_note"):  # Python < 3.11
            raise RuntimeError(note) from error
        error.add_note(note)
        raise


def checked_loss(loss, sample):
    """Return a loss as a float; raise ValueError unless it is finite and not negative."""
    try:
        # a masked entry would become NaN, with a warning
        if np.ndim(loss) or isinstance(loss, (str, bytes, complex)) or loss is np.ma.masked:
            raise TypeError
        value = float(loss)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"loss of {sample} is {loss!r:.80}, expected a number") from None
    if not 0.0 <= value <= LARGEST:
        limit = "" if value < 0.0 or not np.isfinite(value) else f" up to {LARGEST:g}"
        raise ValueError(f"loss of {sample} is {value}, expected a finite number >= 0{limit}")
    return value


def label_key(y):
    """Return a hashable that is equal for equal labellings.

    Parameters
    ----------
    y : object
        A labelling.

    Returns
    -------
    key : hashable
        The labelling itself if it is hashable by its value; an array by dtype, shape and bytes;
        lists and tuples item by item; anything else as it is pickled.
    """
    if isinstance(y, np.ndarray) and not y.dtype.hasobject:
        # plain values, which are saved without pickle
        kind = y.dtype.str if y.dtype.names is None else str(y.dtype)
        return "ndarray", kind, y.shape, y.tobytes()
    if isinstance(y, (list, tuple)):
        return type(y), tuple(y) if {*map(type, y)} <= PLAIN else tuple(map(label_key, y))
    if type(y).__hash__ not in (None, object.__hash__):
        try:
            hash(y)
        except TypeError:
            pass
        else:
            return y
    return type(y), pickle.dumps(y)


def _vector(phi, i):
    """Return the joint feature of sample i as an array or sparse matrix that is a vector."""
    name, is_sparse = f"joint_feature of sample {i}", sp.issparse(phi)
    try:
        vector = phi if is_sparse else np.asarray(phi)
    except ValueError:
        vector = np.array(None)
    if vector.dtype.kind not in "biuf":
        what = str(vector.dtype) if is_sparse else repr(phi)
        raise ValueError(f"{name} does not hold numbers: {what:.80}")
    if len(vector.shape) != 1 and not (is_sparse and len(vector.shape) == 2 and 1 in vector.shape):
        raise ValueError(
            f"{name} has shape {vector.shape}, expected a vector: a 1-D array or a sparse row"
        )
    return sound_csr(vector, name) if len(vector.shape) == 2 else vector


def _entries(phi):
    """Return (index, value) of the entries of a vector that are not zero, in order."""
    if not sp.issparse(phi):
        index = np.flatnonzero(phi)
        return index, phi[index]
    row = sp.csr_array(phi.reshape((1, -1)), copy=True)
    row.sum_duplicates()
    row.eliminate_zeros()
    return row.indices, row.data
