"""What the structured losses of given potentials have in common."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, Literal

import numpy as np

from sskit._parameters import JOBS, parameter, parameters
from sskit._public import PublicMixin
from sskit._types import ArrayLike, BaseEstimator
from sskit.losses.evaluation import as_type
from sskit.losses.nodes import NodeProblem
from sskit.models.request import Decoder, find_hinges, find_max_marginals
from sskit.models.structure import NodeLoss


@parameters
class StructuredLayer(PublicMixin, BaseEstimator):
    """Base of the losses: labellings and marginals of potentials, and checks of arguments."""

    structure: Literal["chain", "tree", "graph"] = parameter(default="chain", kw_only=False)
    pairwise_form: Literal["full", "potts"] = parameter(default="full")
    n_jobs: int | None = parameter(*JOBS, default=None)
    _sound = None  # parameters that passed their check

    def decode(
        self,
        unary: ArrayLike | Sequence[ArrayLike],
        pairwise: ArrayLike | Sequence[ArrayLike] | None,
        *,
        edges: ArrayLike | Sequence[ArrayLike] | None = None,
        mask: ArrayLike | None = None,
    ) -> Any:
        """Find the best labellings.

        Parameters
        ----------
        unary, pairwise, edges, mask : object
            As for ``evaluate``.

        Returns
        -------
        labels : ndarray of int32 of shape (n, n_nodes), or list of (n_nodes_i,)
            The labellings, -100 at padding.

        Raises
        ------
        ValueError
            As ``evaluate``.
        """
        problem = self._pack(unary, pairwise, None, edges, mask)
        return problem.layout.split_labels(find_hinges_of(problem, self.n_jobs)[1])

    def max_marginals(
        self,
        unary: ArrayLike | Sequence[ArrayLike],
        pairwise: ArrayLike | Sequence[ArrayLike] | None,
        *,
        edges: ArrayLike | Sequence[ArrayLike] | None = None,
        mask: ArrayLike | None = None,
    ) -> Any:
        """Compute for each node and label the best score of all labellings with it.

        Parameters
        ----------
        unary, pairwise, edges, mask : object
            As for ``evaluate``.

        Returns
        -------
        scores : ndarray or list of ndarray
            Of the shape and type of `unary`; zero at padding, -inf if nothing is allowed.

        Raises
        ------
        ValueError
            As ``evaluate``; also for graphs.
        """
        problem = self._pack(unary, pairwise, None, edges, mask, method="max_marginals")
        request = problem.request()
        out = np.zeros((problem.layout.n_rows, request.map.stride))
        out = Decoder(request, self.n_jobs).run(find_max_marginals, out)[:, : problem.n_states]
        return problem.layout.split(as_type(out, problem.dtypes[0]))

    def marginals(
        self,
        unary: ArrayLike | Sequence[ArrayLike],
        pairwise: ArrayLike | Sequence[ArrayLike] | None,
        *,
        edges: ArrayLike | Sequence[ArrayLike] | None = None,
        mask: ArrayLike | None = None,
    ) -> Any:
        """Compute for each node and label its probability, by the sum-product algorithm.

        A labelling has the probability exp(F(y)) / Z. Scores of a max-margin model are not
        log-probabilities: divide potentials by a temperature that makes held-out labels likely.

        Parameters
        ----------
        unary, pairwise, edges, mask : object
            As for ``evaluate``.

        Returns
        -------
        probabilities : ndarray or list of ndarray
            Of the shape and type of `unary`; zero at padding.

        Raises
        ------
        ValueError
            As ``evaluate``; also for graphs.
        """
        problem = self._pack(unary, pairwise, None, edges, mask, method="marginals")
        log_sums, out, *_ = Decoder(problem.request(), self.n_jobs).marginals()
        if log_sums.min(initial=0.0) == -np.inf:
            raise problem.forbidden(int(log_sums.argmin()))
        return problem.layout.split(as_type(out, problem.dtypes[0]))

    def _check(self):
        """Raise ValueError for a parameter that is wrong, or that does not go with another."""
        values = [vars(self)[name] for name in self._parameter_constraints]
        if self._sound is not None and all(map(is_, values, self._sound)):
            return  # a check takes as long as a short sequence
        self._validate_params()
        self._check_together()
        self._sound = values

    def _check_together(self):
        """Raise ValueError for a parameter that does not go with another."""
        if self.structure == "chain" and self.pairwise_form != "full":
            raise ValueError("pairwise_form='potts' is for trees and graphs")

    def _pack(self, *arguments, method=None):
        """Return checked potentials and labels; raise ValueError if a method excludes graphs."""
        self._check()
        if method is not None and self.structure == "graph":
            raise ValueError(f"{method} is for chains and trees, not for structure='graph'")
        return NodeProblem(self.structure, self.pairwise_form == "potts", *arguments)


def find_hinges_of(problem, n_jobs, table=None, cost=None, levels=None, unit=None):
    """Return labellings and losses of all samples.

    Parameters
    ----------
    problem : NodeProblem
        The samples.
    n_jobs : int or None
        Number of threads.
    table : ndarray of shape (n_states, n_states), default=None
        Factors of the costs.
    cost : ndarray of shape (n_rows,), default=None
        Costs of wrong labels; None: only the completion of known labels is computed.
    levels, unit : ndarray, default=None
        The costs in units, and the unit of each sample, for slack rescaling.

    Returns
    -------
    labels, completed : ndarray of shape (n_rows,), int32
        Those of the maximum in the loss, and the true ones; -1 at padding.
    losses, scale, exact : ndarray of shape (n,)
        Hinges, factors of their gradients, and whether they are certain.
    """
    n, n_rows, K = problem.layout.n, problem.layout.n_rows, problem.n_states
    labels, completed = np.full((2, n_rows), -1, dtype=np.int32)
    known, n_candidates = None, 0
    if (problem.truth < 0).any():
        known = problem.agreeing()
    request = problem.request()
    if levels is not None:
        most, levels = problem.largest_total(levels), levels.astype(np.int32)
        n_candidates = request.structure.index_losses(levels, unit, most)
    loss = None if cost is None else NodeLoss(completed, cost, K, table)
    out = np.zeros(n), np.ones(n), np.ones(n, dtype=np.uint8)
    arrays = problem.truth, known, loss, n_candidates, completed, labels, *out
    Decoder(request, n_jobs).run(find_hinges, arrays)
    if out[0].min(initial=0.0) == -np.inf:
        raise problem.forbidden(int(out[0].argmin()))
    return labels, completed, *out[:2], out[2].view(bool)
