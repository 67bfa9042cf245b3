"""Classes that have several components each: a mixture of prototypes."""

import numbers
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sskit._labels import by_label
from sskit.estimators.base.fitted_state import check_labels, check_numbers, raise_damaged
from sskit.estimators.base.linear import linear_scores
from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.gate import refuse_hidden
from sskit.models.multiclass.model import MulticlassModel


def is_mixture(estimator):
    """Return whether the parameters ask for classes of several components."""
    given = estimator.n_components
    numbers_given = given.values() if isinstance(given, dict) else [given]
    return not all(isinstance(n, numbers.Integral) and n == 1 for n in numbers_given)


def check_mixture(estimator, part):
    """Raise ValueError if the parameters ask for components that cannot be had.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the parameters.
    part : bool
        Whether the data are a part of the data only.
    """
    if not is_mixture(estimator):
        return
    refuse_hidden(estimator, "a class of several components", part)
    if hasattr(estimator.prior, "fit"):
        raise ValueError(
            "prior cannot be a fitted estimator where classes have several components: nobody "
            "knows which of them is which; give arrays"
        )


def numbers_of_components(estimator, classes, n_rows):
    """Return how many components each class has.

    Parameters
    ----------
    estimator : StructSVMClassifier
        With the parameter `n_components`.
    classes : ndarray of shape (n_classes,)
        The classes in y.
    n_rows : int
        Number of rows, of which there must be as many as a class has components.

    Returns
    -------
    n_components : ndarray of int of shape (n_classes,)
        Positive.

    Raises
    ------
    ValueError
        If a number is too large.
    """
    given, known = estimator.n_components, classes.tolist()
    wanted = by_label(given, classes, 1) if isinstance(given, dict) else [given] * len(known)
    for label, n in zip(known, wanted, strict=True):
        if n > n_rows:
            raise ValueError(
                f"n_components asks for {n} components of {label!r}, but X has {n_rows} rows only"
            )
    return np.array(wanted)


@dataclass(frozen=True)
class Mixture:
    """Completes classes of rows by the component.

    Attributes
    ----------
    model : MulticlassModel
        Of all components.
    X : {ndarray, CSR matrix} of shape (n, p)
        Checked rows.
    labels : ndarray of shape (n,)
        Classes, 0 to n_classes - 1.
    n_components : ndarray of int of shape (n_classes,)
        How many each class has.
    n_jobs : int or None
        Number of threads.
    """

    model: MulticlassModel
    X: object
    labels: np.ndarray
    n_components: np.ndarray
    n_jobs: int | None

    @property
    def class_of(self):
        """The class of each component, shape (n_components,)."""
        return np.repeat(np.arange(len(self.n_components), dtype=np.int32), self.n_components)

    def complete(self, w):
        """Return the best components (n,) of the classes of the rows, under flat weights."""
        blocks = self.model.layout.split(w)
        intercept = blocks.get("intercept", np.zeros(len(self.class_of)))
        scores = linear_scores(self.X, blocks["coef"], intercept, self.n_jobs)
        scores[self.labels[:, None] != self.class_of] = -np.inf
        return scores.argmax(axis=1)

    def completion(self, n_init, random_state):
        """Return the `ConvexConcave` that begins with clusters, as often as asked for."""
        rng = check_random_state(random_state)

        def starts(solved):
            for _ in range(n_init):
                yield cluster_states(self.X, self.labels, self.n_components, rng)

        return ConvexConcave(self.complete, starts)


def bind_mixture(estimator, X, labels, block_weight, table, classes):
    """Bind a model of components to checked rows.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the parameters.
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows.
    labels : ndarray of shape (n,)
        Classes, 0 to n_classes - 1.
    block_weight : ndarray of shape (n,)
        Weights of the rows, summing to one.
    table : ndarray of shape (n_classes, n_classes) or None
        Costs by true and predicted class; None: 1 for all wrong ones.
    classes : ndarray of shape (n_classes,)
        The classes.

    Returns
    -------
    model : MulticlassModel
        Of all components.
    problem : MulticlassProblem
        Which knows their classes.
    completion : ConvexConcave
        Completes them.
    shared : dict
        Fitted attributes that say what rows of weights are of.
    """
    n_components = numbers_of_components(estimator, classes, X.shape[0])
    model = MulticlassModel(X.shape[1], int(n_components.sum()), estimator.fit_intercept)
    mixture = Mixture(model, X, labels, n_components, estimator.n_jobs)
    first = np.cumsum(n_components) - n_components
    # only the class counts
    costs = 1.0 - np.eye(len(classes)) if table is None else table
    table = costs[np.ix_(mixture.class_of, mixture.class_of)]
    problem = model.bind(X, first[labels], block_weight, table)
    completion = mixture.completion(estimator.n_init, estimator.random_state)
    shared = {"component_labels_": np.repeat(classes, n_components)}
    if not estimator.fit_intercept:
        shared["intercept_"] = np.zeros(len(mixture.class_of))
    return model, problem, completion, shared


def component_scores(estimator, X):
    """Return the scores of the components of a fitted estimator, and where classes begin.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted to rows, with components.
    X : {ndarray, CSR matrix} of shape (m, p)
        Checked rows.

    Returns
    -------
    scores : ndarray of shape (m, n_components)
        May overflow.
    first : ndarray of int of shape (n_classes,)
        The first component of each class.

    Raises
    ------
    ValueError
        If an attribute does not fit the others.
    """
    check_labels(estimator, least=2)
    n = check_labels(estimator, "component_labels_", least=2)
    labels, classes = estimator.component_labels_.tolist(), estimator.classes_.tolist()
    first = [k for k in range(n) if k == 0 or labels[k] != labels[k - 1]]
    if [labels[k] for k in first] != classes:
        raise_damaged(estimator, "component_labels_ must hold all classes_, in this order")
    check_numbers(estimator, {"intercept_": (n,)})
    check_numbers(estimator, {"coef_": (n, X.shape[1])}, finite=False)
    return linear_scores(X, estimator.coef_, estimator.intercept_, estimator.n_jobs), first


def component_names(labels):
    """Return the names of components, of which some may have the same label one after the other."""
    labels, names = labels.tolist(), []
    for k, label in enumerate(labels):
        names.append(f"{label}/{k - labels.index(label)}")
    return names
