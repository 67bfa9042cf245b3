"""Classes that have several components each: a mixture of prototypes."""

from functools import partial

import numpy as np

from sskit.estimators.base.combinations import has_several
from sskit.estimators.base.linear import linear_scores
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.hidden import Hidden
from sskit.estimators.completion.states import LabelStates, resolve_states
from sskit.models.multiclass.model import MulticlassModel

is_mixture = has_several("n_components")


class Mixture(Hidden):
    """Completes the components of rows: states of their classes, of which the best one is taken."""

    def complete(self, w):
        """Return the best component of the class of each row under flat weights, (n,)."""
        blocks, possible = self.model.layout.split(w), self.partial.possible
        intercept = blocks.get("intercept", np.zeros(possible.shape[1]))
        scores = linear_scores(self.data, blocks["coef"], intercept, self.n_jobs)
        return np.where(possible, scores, -np.inf).argmax(axis=1)

    def completion(self, problem, random_state):
        """Return the `ConvexConcave` of a problem, whose truths say all that is known."""
        return ConvexConcave(self.complete, partial(self.starts, random_state=random_state))


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
    given = estimator.n_components, classes, X.shape[0], "rows", "n_components"
    # a dict may name no class that is there
    states = resolve_states(*given) or LabelStates(np.ones(len(classes), dtype=np.intp))
    model = MulticlassModel(X.shape[1], len(states.labels), estimator.fit_intercept)
    # only the class counts
    table = states.of_pairs(1.0 - np.eye(len(classes)) if table is None else table)
    problem = model.bind(X, states.first[labels], block_weight, table)
    known = states.known(labels, None)
    given = known, None, block_weight, estimator.n_jobs, table, states, estimator.n_init
    completion = Mixture(model, X, *given).completion(problem, estimator.random_state)
    shared = {"component_labels_": np.repeat(classes, states.counts)}
    if not estimator.fit_intercept:
        shared["intercept_"] = np.zeros(len(states.labels))
    return model, problem, completion, shared


def component_names(labels):
    """Return the names of components, of which some may have the same label one after the other."""
    labels, names = labels.tolist(), []
    for k, label in enumerate(labels):
        names.append(f"{label}/{k - labels.index(label)}")
    return names
