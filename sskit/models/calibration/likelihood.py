"""Calibration by the likelihood of held-out labels."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from sskit.models.calibration.scores import Calibration, Scores

# Precision of the normal prior of all parameters but one common factor, which is where it is
# centred: as if a parameter had been seen by so many tokens. On sentences of CoNLL-2000 that were
# held out of its training set, log-loss hardly differs from 1 to 10 and gets worse towards 100; see
# the user guide.
PRECISION = 10.0
# Factors of scores beyond them would say that held-out labels are certain, or pure chance.
SMALLEST, LARGEST = 1e-3, 1e3


class HeldOut(NamedTuple):
    """Held-out sequences or trees.

    Attributes
    ----------
    scores : Scores
        By a model that has not seen them.
    possible : ndarray of shape (N, K), bool
        True labels: one for each node, or several where not all is known.
    weight : ndarray of shape (n,)
        Weights of the sequences or trees.
    """

    scores: Scores
    possible: np.ndarray
    weight: np.ndarray


class Target:
    """The sum of logarithms of probabilities of true labels, with its gradient, for one part."""

    def __init__(self, part):
        scores, possible, weight = part
        self.scores = scores
        self.possible = possible
        n = len(scores.offsets) - 1
        self.blocks = np.repeat(np.arange(n), np.diff(scores.offsets))
        plain = Calibration.scaled(1.0, possible.shape[1], len(scores.tables))
        found = scores.infer(plain, self.possible, marginals=False, weight=weight)
        # labels that the rules forbid have no probability under any calibration
        self.weight = np.where(found.log_z > -np.inf, weight, 0.0)
        self.token_weight = self.weight[self.blocks]
        self.states = None
        states = possible[:, scores.owner]
        if (states.sum(axis=1) == 1).all():
            self.states, self.pairs = states.argmax(axis=1), found.pairs

    def evaluate(self, calibration):
        """Return the sum, and its gradient by the calibration, as one."""
        scores, counted = self.scores, self.weight > 0
        free = scores.infer(calibration, weight=self.weight)
        if self.states is not None:
            best = scores.path_scores(calibration, self.states)
            slope = -free.marginals
            slope[np.arange(len(slope)), self.states] += 1.0
            pairs = self.pairs - free.pairs
        else:
            fixed = scores.infer(calibration, self.possible, weight=self.weight)
            best, slope = fixed.log_z, fixed.marginals - free.marginals
            pairs = fixed.pairs - free.pairs
        value = ((best - free.log_z)[counted] * self.weight[counted]).sum()
        slope = np.where(self.token_weight[:, None] > 0, slope, 0.0) * self.token_weight[:, None]
        return value, scores.gradient(slope, pairs)


class Family:
    """The calibrations of a method, whose numbers are sums of few parameters.

    Parameters
    ----------
    method : str
        Of `METHODS`. "temperature": all scores have one factor. "vector": a factor and a bias for
        each label, and one factor of all other scores. "matrix": scores of all labels at a node are
        mixed; tables are added to those of pairs.
    n_labels, n_tables : int
        Numbers of labels and of tables of pairs.
    """

    def __init__(self, method, n_labels, n_tables):
        n, self.method, self.sizes = n_labels, method, (n_labels, n_tables)
        self.shapes = [(n, n), (n,), (), (n_tables, n, n), (n,), (n,)]
        self.ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        own, pairs = range(0, n * n, n + 1), n * n + n
        # row j: what parameter j adds to the numbers of a calibration
        self.basis = sp.eye_array(int(self.ends[-1]), format="csr")
        if method == "vector":
            self.basis = self.basis[[*own, *range(n * n, pairs), pairs]]
        elif method == "temperature":
            self.basis = sp.csr_array(self.basis[[*own, pairs]].sum(axis=0)[np.newaxis])
        self.factor = int(self.basis[:, [pairs]].toarray().argmax())  # that of the pairs

    def unpack(self, theta):
        """Return the calibration that parameters stand for."""
        numbers = np.split(theta @ self.basis, self.ends[:-1])
        parts = zip(numbers, self.shapes, strict=True)
        coef, *others = (part.reshape(shape) for part, shape in parts)
        if self.method != "matrix":
            coef = np.diag(coef) if self.method == "vector" else coef[0, 0]
        return Calibration(coef, *others)._replace(pairs=float(others[1]))

    def pack(self, calibration):
        """Return the gradient by the parameters from that by the calibration."""
        return self.basis @ np.concatenate([np.ravel(some) for some in calibration])

    def centre(self, factor):
        """Return the parameters with which all scores have one factor."""
        n, m = self.sizes
        scaled = Calibration.scaled(factor, n, m)._replace(coef=factor * np.eye(n))
        return self.pack(scaled) / self.basis.sum(axis=1)


METHODS = ("temperature", "vector", "matrix")


def fit_calibration(method, parts, n_labels, n_tables):
    """Find the calibration under which held-out labels are most likely.

    The mean logarithm of the probability of the true labels of a sequence is concave in all
    parameters where all labels are known and have one state each. First all scores get one
    factor; the other parameters of a method have a normal prior around that.

    Parameters
    ----------
    method : {"temperature", "vector", "matrix"}
        Which parameters there are.
    parts : list of HeldOut
        Held-out data.
    n_labels, n_tables : int
        Numbers of labels and of tables of pairs.

    Returns
    -------
    calibration : Calibration
    log_likelihood : float
        The mean over the weights of the sequences.

    Raises
    ------
    ValueError
        If nothing is known of any sequence that is held out.
    """
    targets = [Target(part) for part in parts]
    total = sum(target.weight.sum() for target in targets)
    if not total > 0:
        raise ValueError("no held-out sequence has labels that are possible and a positive weight")

    def maximise(family, centre, precision):
        def negative(theta):
            calibration = family.unpack(theta)
            away = theta - centre
            value, gradient = -0.5 * precision * away @ away, -precision * away
            for target in targets:
                own, slope = target.evaluate(calibration)
                value += own
                gradient = gradient + family.pack(slope)
            return -value / total, -gradient / total

        bounds = [(None, None)] * len(centre)
        bounds[family.factor] = SMALLEST, LARGEST
        return minimize(
            negative, centre, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": 100, "ftol": 1e-7},
        )  # fmt: skip

    family = Family("temperature", n_labels, n_tables)
    found = maximise(family, family.centre(1.0), 0.0)
    if method != "temperature":
        family = Family(method, n_labels, n_tables)
        found = maximise(family, family.centre(found.x[0]), PRECISION)
    calibration = family.unpack(found.x)
    values = [target.evaluate(calibration)[0] for target in targets]
    return calibration, float(sum(values) / total)
