"""Validation of weights of samples and classes, and of costs of pairs of labels."""

from typing import NamedTuple

import numpy as np

from sskit._labels import by_label
from sskit._numbers import array, as_array, as_floats
from sskit.inputs.ragged import items_of
from sskit.inputs.ragged_array import RaggedArray

# Sums of weights have reciprocals and products with other numbers.
SMALLEST = 1e-150
LEAST = 1e-12


def check_sample_weight(sample_weight, n_samples, part=False):
    """Return sample weights as float64, or None.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        Non-negative weights.
    n_samples : int
        Their number.
    part : bool, default=False
        Whether these are some of the samples only, so that all their weights may be zero, or
        their sum small.

    Returns
    -------
    sample_weight : ndarray of shape (n_samples,) or None
        A copy; None if none were given.

    Raises
    ------
    ValueError
        Naming the first weight that is negative or not finite, or if all are zero, or their
        sum so small or large that it has no reciprocal.
    """
    if sample_weight is None:
        return None
    weight = as_array(sample_weight, "sample_weight")
    weight = np.full(n_samples, weight) if weight.ndim == 0 else sample_weight
    weight = array(weight, "sample_weight", (n_samples,), low=0)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not part or total > 1 / SMALLEST:
        check_total(weight.max(initial=0.0), total)
    return weight


def without_empty(data, weight, part=False):
    """Return the sequences that have tokens, and their weights.

    Parameters
    ----------
    data : RaggedArray
        Sequences.
    weight : ndarray of shape (n,) or None
        Their weights.
    part : bool, default=False
        As for `check_sample_weight`.

    Returns
    -------
    data : RaggedArray
        Those that are not empty.
    weight : ndarray or None
        Of these.

    Raises
    ------
    ValueError
        If all their weights are zero.
    """
    if data.lengths.all():
        return data, weight
    weight = None if weight is None else weight[data.lengths > 0]
    data = RaggedArray(data.values, np.unique(data.offsets))
    return data, check_sample_weight(weight, len(data), part)


def check_token_weight(token_weight, lengths, noun="token"):
    """Return weights of tokens, one sequence after the other, or None.

    Parameters
    ----------
    token_weight : sequence of n sequences (T_i,) of float, or None
        Non-negative weights.
    lengths : ndarray of shape (n,)
        Numbers of tokens.
    noun : str, default="token"
        What error messages call a token.

    Returns
    -------
    token_weight : ndarray of shape (N,), float64, or None
        A copy; None if none were given.

    Raises
    ------
    TypeError
        If the weights are no sequence of sequences.
    ValueError
        Naming the first weight that is missing, negative or not finite, or if all are zero.
    """
    if token_weight is None:
        return None
    what, n = "one array of weights per sample", len(lengths)
    items = items_of(token_weight, "token_weight", what, stacked=(2,), count=n)
    pieces = zip(items, lengths.tolist(), strict=True)
    weight = np.concatenate(
        [array(x, f"token_weight[{i}]", (n,), low=0) for i, (x, n) in enumerate(pieces)]
    )
    if not weight.any():
        raise ValueError(f"token_weight is zero for all {noun}s")
    return weight


def counted_weight(weight, lengths):
    """Return how often tokens count in the frequencies of labels, by the weights of their samples.

    Parameters
    ----------
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    lengths : ndarray of shape (n,)
        Numbers of tokens.

    Returns
    -------
    counted : ndarray of shape (N,) or None
        Next to nothing where the weight is zero, so that labels of such samples alone occur; None
        for once each.
    """
    if weight is None:
        return None
    return np.repeat(np.maximum(weight, LEAST * weight.max(initial=0.0)), lengths)


class WeightSums(NamedTuple):
    """What the weights of the samples add up to, without underflow.

    Attributes
    ----------
    largest : float
        The largest weight.
    scaled : float
        Sum of the weights divided by the largest; 0 if all are zero.
    total : float
        Sum of the weights as they are.
    """

    largest: float
    scaled: float
    total: float

    @classmethod
    def of(cls, n_samples, weight):
        """Return the sums of weights; None means one for each sample."""
        if weight is None:
            return cls(1.0, float(n_samples), float(n_samples))
        largest = float(weight.max())
        scaled = float((weight / largest).sum()) if largest else 0.0
        with np.errstate(over="ignore"):
            return cls(largest, scaled, float(weight.sum()))

    @classmethod
    def merge(cls, parts, portions, numbers):
        """Return the sums over several parts, as `Labels.merge`."""
        largest = max(part.largest for part in parts)
        scaled = sum(part.relative_to(largest) for part in parts)
        return cls(largest, scaled, sum(part.total for part in parts))

    def relative_to(self, largest):
        """Return the sum of the weights divided by another largest one; 0 if that is zero."""
        return self.scaled * (self.largest / largest) if largest else 0.0

    def times_factors(self, factors, fractions):
        """Return the sums of weights that are multiplied by a factor of their class.

        Parameters
        ----------
        factors : ndarray of shape (K,)
            By class.
        fractions : ndarray of shape (K,)
            Fraction of the sum that each class has.

        Returns
        -------
        sums : WeightSums
            With a bound in place of the largest weight.
        """
        largest = float(factors.max())
        scaled = float(fractions @ (factors / largest)) if largest else 0.0
        if not scaled:
            return WeightSums(0.0, 0.0, 0.0)
        with np.errstate(over="ignore"):
            return WeightSums(
                self.largest * largest, self.scaled * scaled, self.total * scaled * largest
            )


def check_total(largest, total):
    """Raise ValueError unless the sum of the weights of all samples has a reciprocal.

    Parameters
    ----------
    largest : float
        The largest weight.
    total : float
        The sum.

    Raises
    ------
    ValueError
        If all weights are zero, or their sum is too small or too large.
    """
    if not largest:
        raise ValueError("sample_weight is zero for all samples")
    if not SMALLEST <= total <= 1 / SMALLEST:
        raise ValueError(f"sample_weight has the sum {total}, expected one nearer to 1")


def class_factors(class_weight, classes, counts):
    """Return the weight of each class; those that are named and do not occur have none.

    Parameters
    ----------
    class_weight : dict or "balanced"
        Checked weights by label, 1 for those that are not named; or what makes all classes weigh
        the same.
    classes : ndarray of shape (K,)
        Labels.
    counts : ndarray of shape (K,)
        How often each occurs.

    Returns
    -------
    factors : ndarray of shape (K,)
        Not negative.

    Raises
    ------
    ValueError
        If classes that do not occur are to weigh the same.
    """
    if isinstance(class_weight, dict):
        return as_floats(by_label(class_weight, classes, 1.0), "class_weight")
    if not counts.all():
        label = classes.tolist()[int(np.argmin(counts))]
        raise ValueError(
            f"class_weight={class_weight!r} needs tokens of each label, but {label!r} is in none, "
            "or in sets of all labels only"
        )
    return counts.sum() / (len(classes) * counts)


def cost_table(loss, classes, name="loss"):
    """Return the costs of predicted labels by the true one, checked.

    Parameters
    ----------
    loss : str, array-like of shape (K, K), or dict of dict
        Costs in the order of the classes, or by label, ``{true: {predicted: cost}}``, where those
        that are not named are 1, and labels that are no classes are ignored. A string is the name
        of a loss that has no such table.
    classes : ndarray of shape (K,)
        The labels, sorted.
    name : str, default="loss"
        What error messages call the costs.

    Returns
    -------
    table : ndarray of shape (K, K), float64, or None
        A copy, true labels by row and predicted ones by column; None for a string.

    Raises
    ------
    TypeError
        If a dict has anything else than dicts.
    ValueError
        If a cost is no number, or the shape is wrong; or naming, by its labels, the first cost that
        is not finite, is negative, or is that of the true label and not zero.
    """
    if isinstance(loss, str):
        return None
    n, labels = len(classes), classes.tolist()
    table = _filled(loss, classes, name) if isinstance(loss, dict) else as_floats(loss, name)
    if table.shape != (n, n):
        raise ValueError(
            f"{name} must have shape ({n}, {n}), a row for each true label and a column for each "
            f"predicted one, got {table.shape}"
        )
    right = np.eye(n, dtype=bool)
    wrong = ~((table >= 0) & (table < np.inf)) | (right & (table != 0))
    for a, b in np.argwhere(wrong)[:1]:
        expected = "0, as both labels are the same" if a == b else "a finite number >= 0"
        raise ValueError(
            f"{name}[{labels[a]!r}][{labels[b]!r}] is {table[a, b]:g}, expected {expected}"
        )
    return table


def _filled(costs, classes, name):
    """Return a dict of dicts of costs as a table, with ones for wrong labels it does not name."""
    table, labels = 1.0 - np.eye(len(classes)), classes.tolist()
    for a, row in enumerate(by_label(costs, classes, {})):
        if not isinstance(row, dict):
            message = f"must be a dict of costs by predicted label, got {type(row).__name__}"
            raise TypeError(f"{name}[{labels[a]!r}] {message}")
        for b, cost in enumerate(by_label(row, classes, None)):
            if cost is not None:
                table[a, b] = as_floats(cost, f"{name}[{labels[a]!r}][{labels[b]!r}]")
    return table


def labels_with_costs(costs):
    """Return all labels that a dict of dicts of costs names, true and predicted ones, as a list."""
    rows = (row for row in costs.values() if isinstance(row, dict))
    return list(dict.fromkeys([*costs, *(label for row in rows for label in row)]))


def factored(table):
    """Return a table of costs as factors of one cost for each node, where it is no more than that.

    Parameters
    ----------
    table : ndarray of shape (K, K)
        Costs by true and predicted label.

    Returns
    -------
    factors : ndarray of shape (K,)
        Costs by true label, if all wrong labels cost the same beside it, as they do of two labels;
        else ones.
    table : ndarray of shape (K, K) or None
        The costs by which these are to be multiplied; None: 1 for all wrong labels.
    """
    K = len(table)
    if K == 1:
        return np.ones(1), None
    wrong = table[~np.eye(K, dtype=bool)].reshape(K, K - 1)
    if (wrong == wrong[:, :1]).all():
        return wrong[:, 0].copy(), None
    return np.ones(K), table


def weight_argument(sample_weight):
    """Return sample weights as a keyword of methods that need not take any."""
    return {} if sample_weight is None else {"sample_weight": sample_weight}
