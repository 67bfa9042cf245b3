"""What training can do where labels, or parts of labellings, are not known."""

import numpy as np

from sskit.estimators.completion.partial_labels import (
    check_partial_labels,
    known_share,
    refuse_nothing,
    set_mask,
)
from sskit.inputs.costs import cost_table, factored
from sskit.inputs.weights import class_factors
from sskit.models.chain.model import token_costs
from sskit.solvers import GDMM, SoftBCFW


def gate_labels(estimator, y, lengths, part=False, what="sequences"):
    """Return labels for training, checked.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `ignore_label`.
    y : sequence of n sequences (T_i,)
        Labels, sets of labels, and `ignore_label`.
    lengths : ndarray of shape (n,)
        How many there must be.
    part : bool, default=False
        Whether these are a part of the data only.
    what : str, default="sequences"
        What error messages call the samples.

    Returns
    -------
    partial : PartialLabels
        What is known of them.

    Raises
    ------
    TypeError, ValueError
        As `check_partial_labels`; or if nothing is known; or, where something is not, if the
        estimator has a parameter that needs all labels.
    """
    partial = check_partial_labels(y, lengths, estimator.ignore_label, what)
    if partial.possible is None:
        return partial
    refuse_nothing(partial, estimator.ignore_label)
    reason = _refusal(estimator, partial, part)
    if reason is not None:
        t = np.flatnonzero(partial.n_possible > 1)[0]
        i = int(np.searchsorted(np.cumsum(lengths), t, side="right"))
        place = f"y[{i}][{t - int(np.sum(lengths[:i]))}]"
        raise ValueError(f"{place} has no known label, but {reason}")
    return partial


def _refusal(estimator, partial, part):
    """Return why an estimator cannot be trained on labels that are not all known, or None."""
    reason = completion_refusal(estimator, part, "all labels")
    if reason is not None:
        return reason
    repairs = getattr(estimator, "on_violation", None) == "repair"
    if repairs and estimator.allowed_transitions is not None:
        return "on_violation='repair' needs all labels; use 'raise' or 'ignore'"
    some = (partial.n_possible < len(partial.classes)) & (partial.n_possible > 1)
    solver = solver_without_sets(estimator)
    if some.any() and solver is not None:
        return f"{solver} takes no sets of labels of which one is right; use the solver 'bcfw'"
    return None


def solver_without_sets(estimator):
    """Return the name of the solver of an estimator if it takes no sets of labels, else None."""
    solver = estimator._make_solver()
    return type(solver).__name__ if isinstance(solver, (GDMM, SoftBCFW)) else None


def training_costs(estimator, labels, lengths, known, partial=None, token_weight=None):
    """Return the loss of a wrong label at each token, and the costs of pairs of labels.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameters `loss` and `class_weight`. Where one of several labels is right, the
        weight of the class is their mean.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1; of those that are not known any that is possible.
    lengths : ndarray of shape (n,)
        Numbers of tokens of the samples.
    known : Labels
        All labels, and how often each of them occurs in all training data.
    partial : PartialLabels or None
        What is known of the labels, if that is not all.
    token_weight : ndarray of shape (n_tokens,) or None
        Weights of the tokens.

    Returns
    -------
    cost : ndarray of shape (n_tokens,)
        Non-negative; zero where nothing is known.
    table : ndarray of shape (K, K) or None
        By which these are to be multiplied, by true and predicted label; None: 1 for all wrong
        labels.

    Raises
    ------
    ValueError
        If a weight of a class or a cost is wrong, a label that is to be balanced is nowhere more
        likely than others, or the solver takes no costs of pairs.
    """
    class_weight = estimator.class_weight
    factors = class_weight if partial is None else None
    table, loss = cost_table(estimator.loss, known.values), estimator.loss
    if table is not None:
        loss = "hamming_sum"
    cost = token_costs(loss, factors, known.values, labels, lengths, known.counts)
    if token_weight is not None:
        cost *= token_weight
    # of a set of labels it is the least cost that counts, not that of one of them
    if table is not None and (partial is None or set_mask(partial) is None):
        by_label, table = factored(table)
        cost *= by_label[labels]
    solver = solver_without_sets(estimator)
    if table is not None and solver is not None:
        raise ValueError(
            f"{solver} takes one cost for each token, but in loss those of wrong labels differ "
            "beside the same true one; use the solver 'bcfw'"
        )
    if partial is None:
        return cost, table
    factors = np.ones(len(partial.classes))
    if class_weight is not None:
        if isinstance(class_weight, str) and not known.counts.all():
            label = partial.classes.tolist()[int(np.argmin(known.counts))]
            raise ValueError(
                f"class_weight={class_weight!r} needs tokens of each label, but {label!r} is in "
                "sets of all labels only"
            )
        factors = class_factors(class_weight, partial.classes, known.counts)
    return cost * known_share(partial, factors), table


def refuse_hidden(estimator, what, part=False):
    """Raise ValueError if an estimator asks for what hidden parts of labellings do not allow.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameters.
    what : str
        What has the hidden parts, for the message.
    part : bool, default=False
        Whether the data are a part of the data only.

    Raises
    ------
    ValueError
        Saying what to do instead.
    """
    reason = completion_refusal(estimator, part)
    if reason is not None:
        raise ValueError(f"{what} has hidden variables, but {reason}")


def completion_refusal(estimator, part=False, needs="labellings that are known as a whole"):
    """Return why an estimator cannot complete what is not known in training, or None if it can."""
    if part:
        return f"data in parts, and steps of partial_fit, need {needs}"
    if estimator._rescaling() is not None:
        return f"rescaling='slack' needs {needs}; use rescaling='margin'"
    if getattr(estimator, "kernel", "linear") != "linear":
        return f"kernel={estimator.kernel!r:.80} needs {needs}; use kernel='linear'"
    if estimator.warm_start:
        return f"warm_start=True needs {needs}, as the problem changes while they are completed"
    return None
