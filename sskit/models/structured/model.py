"""The base class of structures written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from sskit._public import PublicMixin
from sskit._types import BaseEstimator, MaybeNone


class StructuredModel(PublicMixin, BaseEstimator):
    r"""Base class of structures that you write: three methods make a model that can be learned.

    A subclass defines how well a labelling y fits an input x, :math:`\langle w, \phi(x, y)
    \rangle`, what a wrong labelling costs, and which labelling is best; inputs and labellings may
    be any objects. :class:`sskit.StructuredSVM` learns the weights w.

    Attributes
    ----------
    exact : bool
        Whether `argmax` truly maximises, True unless you set it. Only then is the duality gap a
        certificate; an exact structure that returns less than the maximum raises an error if this
        is noticed.
    costly : bool
        Whether `argmax` is slow compared with a vector operation of length `n_weights`, True
        unless you set it. A hint for ``solver="auto"``.
    n_weights : int or None
        Length of the joint features; None takes that of the first one.
    parallel : {"threads", "processes"}
        How `argmax` is called for many samples if an estimator has n_jobs: "threads" unless you
        set it. Threads help if `argmax` spends its time in code that releases Python's global
        lock, as much of NumPy and SciPy does. Processes, started by joblib, also help for plain
        Python code; the structure, its samples and its labellings must then be picklable, and what
        `argmax` writes to the structure is lost. A backend chosen by ``joblib.parallel_config``
        overrides this.

    Notes
    -----
    A subclass with parameters follows scikit-learn: ``__init__`` stores each argument under its
    own name and does nothing else. It can then be cloned, and searched as ``model__name``.

    Labellings of one input are distinguished by their values: anything hashable, arrays, lists and
    tuples of these, and anything else that can be pickled.

    A labelling may have hidden parts that the training data do not contain: the style in which a
    digit is written, or how the words of two sentences are aligned. A structure with the method
    ``complete(x, y, w)`` is trained as a latent SVM. Then y in training is the known part; the
    labellings of ``joint_feature``, and those that `argmax` returns, are full, with the hidden
    parts; ``loss(y, full)`` and ``argmax(x, w, y)`` compare the known part with a full one. The
    methods are

    - ``complete(x, y, w)``: a full labelling of the highest score ``<w, joint_feature(x, full)>``
      among those that agree with y, whose loss must be zero;
    - ``start(X, Y, random_state)``, if there is a better start than ``complete`` at w = 0: a list
      of full labellings, made from the lists of all samples with a
      :class:`numpy.random.RandomState`. It is called for each of the `n_init` starts;
    - ``observed(full)``, if predictions are to be of the kind of y: the known part. Without it they
      are full labellings.

    A structure with ``complete`` has `n_weights`, or else ``start``. See the page of the
    guide on labels that are partly unknown.

    Examples
    --------
    A classifier of rows into three classes:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sskit import StructSVMClassifier, StructuredSVM, StructuredModel
    >>> class ThreeClasses(StructuredModel):
    ...     def joint_feature(self, x, y):
    ...         return np.outer(np.arange(3) == y, x).ravel()
    ...
    ...     def loss(self, y_true, y):
    ...         return float(y != y_true)
    ...
    ...     def argmax(self, x, w, y_true=None):
    ...         scores = w.reshape(3, -1) @ x
    ...         if y_true is not None:
    ...             scores += np.arange(3) != y_true
    ...         return int(scores.argmax())
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = StructuredSVM(ThreeClasses(), lam=0.01, random_state=0).fit(X, y)
    >>> classifier.predict(X[::50])
    array([0, 1, 2])
    >>> classifier.certified_
    True
    """

    exact: bool = True
    costly: bool = True
    n_weights: int | MaybeNone = None
    parallel: str = "threads"

    def joint_feature(self, x: Any, y: Any, /) -> Any:
        """Return the joint feature vector of an input and a labelling.

        It does not get the truth, which a prediction does not have: the feature of a labelling is
        the same in training and in prediction.

        Parameters
        ----------
        x : object
            Input.
        y : object
            Labelling.

        Returns
        -------
        phi : ndarray of shape (n_weights,), or sparse row
            Finite numbers; always of the same length.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement joint_feature")

    def loss(self, y_true: Any, y: Any, /) -> float:
        """Return the cost of the labelling y if y_true is right.

        Parameters
        ----------
        y_true : object
            True labelling.
        y : object
            Labelling.

        Returns
        -------
        loss : float
            Non-negative; zero for ``y = y_true``.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement loss")

    def argmax(self, x: Any, w: np.ndarray, y_true: Any = None, /) -> Any:
        """Return a labelling of the highest score, or of the highest loss + score.

        Parameters
        ----------
        x : object
            Input.
        w : ndarray of shape (n_weights,)
            Weights.
        y_true : object, default=None
            True labelling. If it is given, as in training, ``loss(y_true, y)`` is added to the
            score of each labelling y.

        Returns
        -------
        y : object
            A labelling that maximises ``<w, joint_feature(x, y)>``, plus the loss if `y_true`
            is given.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement argmax")

    def bounds(self) -> tuple[Any, Any] | None:
        """Return bounds on the weights that the structure needs.

        Returns
        -------
        bounds : tuple (lower, upper) or None
            Numbers, None or arrays of shape (n_weights,); None for no bounds at all.
        """
        return None

    def check(self, x: Any, y: Any, /) -> None:
        """Raise an error if a training sample is wrong; called for each before training.

        Parameters
        ----------
        x : object
            Input.
        y : object
            True labelling.
        """
