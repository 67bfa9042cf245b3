"""The chain model whose node scores are functions of a kernel space."""

from functools import partial

import numpy as np

from sskit.models.chain.problem import KernelChainProblem
from sskit.models.features import no_features
from sskit.models.kernel.restriction import RowsOfBlocks
from sskit.models.kernel.rows import KernelRows
from sskit.models.kernel.space import identify, kernel_rows, runs_within
from sskit.models.layout import WeightLayout


class KernelChainModel:
    """A label for every token, scored by functions of a kernel space, and by pairs of neighbours.

    score(x, y) = sum_t f_{y_t}(x_t) + sum_t transitions[y_{t-1}, y_t] + start[y_1] + end[y_T]

    Parameters
    ----------
    kernel : Kernel
        The kernel of two tokens.
    n_rows : int
        Number of training tokens.
    n_states : int
        Number of labels K.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions, from row to column; None allows all.
    allowed_start, allowed_end : ndarray of shape (K,), bool
        Labels that a sequence may begin and end with; None allows all.
    """

    def __init__(self, kernel, n_rows, n_states, allowed, allowed_start, allowed_end):
        self.kernel = kernel
        self.n_states = n_states
        self.allowed = allowed
        self.allowed_start = allowed_start
        self.allowed_end = allowed_end
        self.layout = WeightLayout(
            transitions=(n_states, n_states),
            start=(n_states,),
            end=(n_states,),
            values=(n_states, n_rows),
            dual_coef=(n_states, n_rows),
        )

    def bind(self, stacked, labels, cost, block_weight, n_bytes):
        """Bind the model to training data.

        Parameters
        ----------
        stacked : RaggedArray
            Features of the sequences, float64, or kernels with all training tokens.
        labels : ndarray of shape (n_tokens,)
            True labels, 0 to K - 1.
        cost : ndarray of shape (n_tokens,)
            Loss of a wrong label at each token.
        block_weight : ndarray of shape (n,)
            Weights of the sequences, summing to one.
        n_bytes : float
            Memory for kernel rows.

        Returns
        -------
        problem : KernelChainProblem
            What solvers take.
        """
        X, labels = stacked.values, labels.astype(np.int32)
        offsets = np.ascontiguousarray(stacked.offsets, dtype=np.int64)
        tables = [self.allowed, self.allowed_start]
        if self.allowed_end is not None and not self.allowed_end.all():
            tables.append(self.allowed_end)
        whole = {
            "the model": "chain in a kernel space",
            "the number of labels": self.n_states,
            "transitions": tuple(None if table is None else table.tobytes() for table in tables),
            "the kernel": self.kernel,
        }
        values = {"y": labels, "the loss of y": cost}
        problem = KernelChainProblem(
            no_features(len(labels)),
            offsets,
            self.n_states,
            labels,
            cost,
            block_weight,
            self.allowed,
            self.allowed_start,
            self.allowed_end,
            kernel_rows(self.kernel, X, n_bytes, int(np.diff(offsets).max())),
            partial(identify, whole, X, offsets, values),
        )
        problem.take_gram(runs_within(self.kernel, X, offsets))
        allowed = self.allowed, self.allowed_start, self.allowed_end
        problem.space.support = ChainRows(
            self.kernel, X, offsets, self.n_states, labels, cost, allowed
        )
        return problem


class ChainRows(RowsOfBlocks):
    """Tokens of sequences.

    Parameters
    ----------
    kernel, X, numbers : object
        As for all.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the tokens offsets[i] to offsets[i + 1] - 1.
    n_states : int
        Number of labels K.
    labels : ndarray of shape (n_rows,), int32
        True labels of all training tokens.
    cost : ndarray of shape (n_rows,)
        Loss of a wrong label at each of them.
    allowed : tuple
        Allowed transitions, first labels and last labels.
    """

    def __init__(self, kernel, X, offsets, n_states, labels, cost, allowed, numbers=None):
        super().__init__(kernel, X, n_states, n_states * (n_states + 2), numbers)
        self.offsets = offsets
        self.labels = labels
        self.cost = cost
        self.allowed = allowed

    def restrict(self, blocks, block_weight):
        """Return the problem of some blocks; see `Problem.restrict`."""
        lengths = np.diff(self.offsets)[blocks]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        numbers = np.arange(offsets[-1]) + np.repeat(self.offsets[blocks] - offsets[:-1], lengths)
        part = ChainRows(
            self.kernel,
            self.X,
            self.offsets,
            self.n_states,
            self.labels,
            self.cost,
            self.allowed,
            numbers,
        )
        matrix = part.matrix()
        problem = KernelChainProblem(
            no_features(len(matrix)),
            offsets,
            self.n_states,
            self.labels[numbers],
            self.cost[numbers],
            block_weight,
            *self.allowed,
            KernelRows.of_matrix(matrix, len(matrix)),
            None,
        )
        problem.take_gram([(0, len(blocks), matrix)])
        problem.space.support = part
        return problem
