"""Calibration by the likelihood of held-out labels."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from sskit._numbers import count_threads
from sskit.models.calibration.scores import Calibration

# Precision of the normal prior of all parameters, in tokens. It is centred at one common factor of
# all scores. On sentences of CoNLL-2000 that were held out of its training set, log-loss hardly
# differs from 1 to 10 and gets worse towards 100; see the benchmarks.
PRECISION = 10.0
# Bounds of factors of scores: beyond them held-out labels would be certain, or pure chance.
SMALLEST, LARGEST = 1e-3, 1e3


class Target:
    """The sum of logarithms of probabilities of true labels, with its gradient, for one part.

    Parameters
    ----------
    scores : Scores
        Of held-out sequences or trees, by a model that has not seen them.
    possible : ndarray of shape (N, K), bool
        True labels: one for each node, or several where not all is known.
    weight : ndarray of shape (n,)
        Weights of the sequences or trees.
    """

    def __init__(self, scores, possible, weight):
        self.scores, self.possible = scores, possible
        plain = Calibration.scaled(1.0, possible.shape[1], len(scores.tables))
        log_z, _, pairs = scores.infer(plain, possible, marginals=False, weight=weight)
        # labels that the rules forbid have no probability under any calibration
        self.weight = np.where(log_z > -np.inf, weight, 0.0)
        self.token_weight = np.repeat(self.weight, np.diff(scores.offsets))
        self.states = None
        states = possible[:, scores.owner]
        if (states.sum(axis=1) == 1).all():
            self.states, self.pairs = states.argmax(axis=1), pairs

    def evaluate(self, calibration):
        """Return the sum, and its gradient by the calibration, as one."""
        scores, counted = self.scores, self.weight > 0
        log_z, marginals, expected = scores.infer(calibration, weight=self.weight)
        if self.states is not None:
            best, pairs = scores.path_scores(calibration, self.states), self.pairs
            slope = -marginals
            slope[np.arange(len(slope)), self.states] += 1.0
        else:
            best, fixed, pairs = scores.infer(calibration, self.possible, weight=self.weight)
            slope = fixed - marginals
        value = ((best - log_z)[counted] * self.weight[counted]).sum()
        slope = np.where(self.token_weight[:, None] > 0, slope, 0.0) * self.token_weight[:, None]
        return value, scores.gradient(slope, pairs - expected)


METHODS = ("temperature", "matrix", "likelihood")


def as_vector(calibration):
    """Return the numbers of a calibration, or of a gradient by one, as one array."""
    return np.concatenate([np.ravel(some) for some in calibration])


def as_calibration(numbers, n_labels, n_tables):
    """Return the calibration of an array of numbers, of which `coef` is a matrix."""
    n, m = n_labels, n_tables
    shapes = [(n, n), (n,), (), (m, n, n), (n,), (n,)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = zip(np.split(numbers, ends), shapes, strict=True)
    return Calibration(*(part.reshape(shape) for part, shape in parts))


def fit_calibration(method, targets, n_labels, n_tables, n_jobs=None):
    """Find the calibration that maximises the likelihood of held-out labels.

    The mean logarithm of the probability of the true labels of a sequence is concave in all
    parameters where all labels are known and have one state each. First all scores get one
    factor, the temperature; the numbers of "matrix" have a normal prior around that.

    Parameters
    ----------
    method : {"temperature", "matrix", "likelihood"}
        "likelihood": scores stay as they are. "temperature": all scores have one factor. "matrix":
        scores of all labels at a node are mixed, and have a bias; tables are added to those of
        pairs.
    targets : list of Target
        Held-out data.
    n_labels, n_tables : int
        Numbers of labels and of tables of pairs.
    n_jobs : int, default=None
        Number of threads, each for one target at a time; the bits do not depend on it.

    Returns
    -------
    calibration : Calibration
    log_likelihood : float
        The mean over the weights of the sequences.

    Raises
    ------
    ValueError
        If no held-out sequence has a known label.
    """
    total = sum(target.weight.sum() for target in targets)
    if not total > 0:
        raise ValueError("no held-out sequence has labels that are possible and a positive weight")

    def maximise(basis, centre, precision, place):
        """Return the best mix of the rows of a basis; the factor at a place is bounded."""

        def negative(theta):
            calibration = as_calibration(theta @ basis, n_labels, n_tables)
            deviation = theta - centre
            value, gradient = -0.5 * precision * deviation @ deviation, -precision * deviation
            for own, slope in evaluate(calibration):
                value += own
                gradient = gradient + basis @ as_vector(slope)
            return -value / total, -gradient / total

        bounds = [(None, None)] * len(centre)
        bounds[place] = SMALLEST, LARGEST
        return minimize(
            negative, centre, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": 100, "ftol": 1e-7},
        ).x  # fmt: skip

    plain = Calibration.scaled(1.0, n_labels, n_tables)
    ones = as_vector(plain._replace(coef=np.eye(n_labels)))
    calibration, n_threads = plain, min(count_threads(n_jobs), len(targets))
    with ThreadPoolExecutor(n_threads) as executor:
        each = executor.map if n_threads > 1 else map

        def evaluate(calibration):
            """Yield the sum and the gradient of each target."""
            return each(lambda target: target.evaluate(calibration), targets)

        if method != "likelihood":
            (factor,) = maximise(ones[np.newaxis], np.ones(1), 0.0, 0)
            calibration = Calibration.scaled(factor, n_labels, n_tables)
        if method == "matrix":
            basis = sp.eye_array(len(ones), format="csr")
            numbers = maximise(basis, factor * ones, PRECISION, n_labels * (n_labels + 1))
            calibration = as_calibration(numbers, n_labels, n_tables)
        value = sum(own for own, _ in evaluate(calibration))
    return calibration, float(value / total)
