"""Adapters for models written for pystruct."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from sskit._types import Method, Samples, available_if
from sskit.models.structured.model import StructuredModel

METHODS = ("joint_feature", "inference", "loss_augmented_inference", "loss")


def _has(*names: str) -> Callable[[Method], Method]:
    """Return the decorator of methods that exist only if an adapted object has some methods."""
    return available_if(
        lambda adapter: all(callable(getattr(adapter.model, name, None)) for name in names)
    )


class PystructAdapter(StructuredModel):
    """Make a structure of an object that follows the protocol of pystruct's models.

    It is a `StructuredModel` like those that users write, and what a fit stores as ``model_``.

    That protocol is ``joint_feature(x, y)``, ``inference(x, w)``,
    ``loss_augmented_inference(x, y, w)``, ``loss(y_true, y)`` and, if the object has them,
    ``initialize(X, Y)`` and ``size_joint_feature``. :class:`sskit.StructuredSVM` adapts
    such objects by itself; the adapter is for setting `exact`.

    An object with hidden variables also has ``latent(x, y, w)`` and, if it can, ``init_latent(X,
    Y)``, ``label_from_latent(h)`` and ``base_loss(y_true, y)``; its ``joint_feature``, both
    inferences and ``loss`` take labellings with hidden parts.

    Parameters
    ----------
    model : object
        Follows the protocol. It is copied before it is initialised.
    exact : bool, default=None
        Whether its inference truly maximises. None takes the object's own attribute ``exact``;
        without one, inference is assumed to be exact unless the object has an ``inference_method``
        other than branch and bound, because those are exact on some graphs only.
    initialize : bool, default=True
        Whether ``initialize`` is called with the training data, as by pystruct's own learners. It
        gets arrays if inputs are rows of numbers of one length, and labels numbers or rows.

    References
    ----------
    Mueller, Behnke (2014). PyStruct: learning structured prediction in Python. JMLR 15.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import StructSVMClassifier, StructuredSVM
    >>> from sskit.models import PystructAdapter
    >>> class Sign:
    ...     def joint_feature(self, x, y):
    ...         return y * x
    ...
    ...     def loss(self, y_true, y):
    ...         return float(y_true != y)
    ...
    ...     def inference(self, x, w):
    ...         return 1 if w @ x >= 0 else -1
    ...
    ...     def loss_augmented_inference(self, x, y, w):
    ...         return -y if 1 - y * (w @ x) >= y * (w @ x) else y
    >>> X = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, -3.0]])
    >>> model = PystructAdapter(Sign(), exact=True)
    >>> StructuredSVM(model, random_state=0).fit(X, [1, -1, -1]).predict(X)
    array([ 1, -1, -1])
    """

    def __init__(self, model: Any, exact: bool | None = None, initialize: bool = True) -> None:
        self.model = model
        self.exact = exact
        self.initialize = initialize

    def prepared(self, X: Samples, Y: Samples) -> PystructAdapter:
        """Return an adapter of a copy of the object, initialised with training data.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            True labellings.

        Returns
        -------
        adapter : PystructAdapter
            With `exact` set.

        Raises
        ------
        TypeError
            With the name of a method that is missing.
        """
        for name in METHODS:
            if not callable(getattr(self.model, name, None)):
                raise TypeError(
                    f"the model of PystructAdapter must have the methods {', '.join(METHODS)}; "
                    f"{type(self.model).__name__} has no {name}"
                )
        model = copy.deepcopy(self.model)
        if self.initialize and hasattr(model, "initialize"):
            model.initialize(*_as_arrays(X, Y))
        claims = (self.exact, getattr(model, "exact", None), _seems_exact(model))
        exact = next(flag for flag in claims if flag is not None)
        return type(self)(model, bool(exact), self.initialize)

    @property
    def n_weights(self) -> int | None:
        """Length of the joint features, None if the object does not have it."""
        return getattr(self.model, "size_joint_feature", None)

    @property
    def parallel(self) -> str:
        """How inference is called for many samples: the object's own ``parallel``, or "threads"."""
        return getattr(self.model, "parallel", "threads")

    def joint_feature(self, x: Any, y: Any) -> np.ndarray:
        """Return the joint feature vector of an input and a labelling.

        Parameters
        ----------
        x : object
            Input.
        y : object
            Labelling.

        Returns
        -------
        phi : ndarray of shape (n_weights,)
            What the object returns.
        """
        return self.model.joint_feature(x, y)

    def loss(self, y_true: Any, y: Any) -> float:
        """Return the loss of a labelling.

        Parameters
        ----------
        y_true : object
            True labelling.
        y : object
            Labelling.

        Returns
        -------
        loss : float
            What the object returns. With hidden variables its ``base_loss`` of the observed part
            of y, or without that method ``loss`` of y, with `y_true` instead of a labelling.
        """
        if hasattr(self, "complete") and hasattr(self.model, "base_loss"):
            observed = self.model.label_from_latent(y) if hasattr(self, "observed") else y
            return self.model.base_loss(y_true, observed)
        return self.model.loss(y_true, y)

    def argmax(self, x: Any, w: np.ndarray, y_true: Any = None) -> Any:
        """Return the labelling that inference finds, loss-augmented if `y_true` is given.

        Parameters
        ----------
        x : object
            Input.
        w : ndarray of shape (n_weights,)
            Weights.
        y_true : object, default=None
            True labelling.

        Returns
        -------
        y : object
            Labelling.
        """
        inference, arguments = self.model.inference, (x, w)
        if y_true is not None:
            # it uses the loss of the known part alone, but needs a whole labelling
            y_true = self.model.latent(x, y_true, w) if hasattr(self, "complete") else y_true
            inference, arguments = self.model.loss_augmented_inference, (x, y_true, w)
        # one whole labelling, whatever else it can return
        names = {"relaxed", "return_energy"} & {*inspect.signature(inference).parameters}
        return inference(*arguments, **dict.fromkeys(names, False))

    @_has("latent")
    def complete(self, x: Any, y: Any, w: np.ndarray) -> Any:
        """Return the best labelling with hidden parts that agrees with the known part.

        Parameters
        ----------
        x : object
            Input.
        y : object
            Known part of the labelling.
        w : ndarray of shape (n_weights,)
            Weights.

        Returns
        -------
        h : object
            What ``latent`` of the object returns.
        """
        return self.model.latent(x, y, w)

    @_has("latent", "init_latent")
    def start(self, X: Samples, Y: Samples, random_state: np.random.RandomState) -> Samples:
        """Return labellings with hidden parts to begin with.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            Known parts of their labellings.
        random_state : RandomState
            Seeds the global state of NumPy, which is all that the object can draw from; it is put
            back.

        Returns
        -------
        H : sequence of length n
            What ``init_latent`` of the object returns.
        """
        before = np.random.get_state()
        np.random.seed(random_state.randint(2**31 - 1))
        try:
            return self.model.init_latent(*_as_arrays(X, Y))
        finally:
            np.random.set_state(before)

    @_has("latent", "label_from_latent")
    def observed(self, y: Any) -> Any:
        """Return a labelling without its hidden parts.

        Parameters
        ----------
        y : object
            Labelling.

        Returns
        -------
        y : object
            What ``label_from_latent`` of the object returns.
        """
        return self.model.label_from_latent(y)


def is_latent(model):
    """Return whether labellings of a structure, adapted or not, have hidden parts."""
    return callable(getattr(model, "latent" if _is_pystruct(model) else "complete", None))


def needs_data(model):
    """Return whether `adapted` initialises a structure with all training data."""
    if isinstance(model, PystructAdapter):
        return bool(model.initialize) and hasattr(model.model, "initialize")
    return _is_pystruct(model) and hasattr(model, "initialize")


def _is_pystruct(model):
    """Return whether an object follows the protocol of pystruct's models, and not ours."""
    return not hasattr(model, "argmax") and all(hasattr(model, name) for name in METHODS)


def adapted(model, X, Y):
    """Return a structure that training may change.

    Parameters
    ----------
    model : object
        Structure, or object that follows the protocol of pystruct's models; not changed.
    X : list of length n
        Inputs.
    Y : list of length n
        True labellings.

    Returns
    -------
    model : object
        Has the methods of `StructuredModel` if the given one has them.
    """
    if _is_pystruct(model):
        model = PystructAdapter(model)
    return model.prepared(X, Y) if isinstance(model, PystructAdapter) else copy.copy(model)


def _as_arrays(X, Y):
    """Return inputs and labellings as arrays if they are rows, and numbers or rows; else as lists.

    Classifiers and models of sets of labels of pystruct check their shapes.
    """
    if len({_row(x) for x in X}) != 1 or _row(X[0]) in (None, 0):
        return X, Y
    lengths = {_row(y) for y in Y}
    return np.array(X), np.array(Y) if len(lengths) == 1 and None not in lengths else Y


def _row(item):
    """Return the length of a row of numbers, 0 for a single number or word, None for all else."""
    masked = isinstance(item, np.ma.MaskedArray)  # an array would lose the mask
    if isinstance(item, (np.ndarray, np.generic, int, float, str)) and not masked:
        array = np.asarray(item)
        if array.dtype.kind in "biufU" and array.ndim < 2:
            return len(array) if array.ndim else 0
    return None


def _seems_exact(model):
    """Return whether the ``inference_method`` of an object maximises on every graph."""
    method = getattr(model, "inference_method", None)
    options = method[1] if isinstance(method, tuple) and len(method) == 2 else {}
    return method is None or bool(options.get("branch_and_bound", False))
