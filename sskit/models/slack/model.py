"""Slack rescaling: which search finds the most violating labelling (Choi et al. 2016)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from sskit._numbers import capped
from sskit._parameters import AT_LEAST_ONE, NON_NEGATIVE, parameter, parameters
from sskit._public import PublicMixin
from sskit._types import BaseEstimator
from sskit.models.slack.problem import rescaled

if TYPE_CHECKING:
    from sskit.core.problem import Problem
    from sskit.models.slack.problem import SlackProblem


# Searches that need candidates, and their public names.
NEEDS = {"exact": "an exact oracle for slack rescaling", "angular": "a constrained oracle"}


@parameters
class SlackRescaling(PublicMixin, BaseEstimator):
    r"""Slack rescaling of the loss, and the search for the most violating labelling.

    Give it to an estimator as ``rescaling=SlackRescaling(...)``; ``rescaling="slack"`` has the
    defaults. Training then minimises

    .. math::

        P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y L_i(y) \, (1 - \langle w, \psi_i(y)
        \rangle) , \qquad \psi_i(y) = \phi(x_i, y_i) - \phi(x_i, y) .

    A labelling with a small loss needs the same margin as one with a large loss, and each costs in
    proportion to its loss. The maximum is that of a product, which the oracles of margin rescaling
    do not find directly; searches call them several times.

    Parameters
    ----------
    search : {"auto", "exact", "angular", "bisecting"}, default="auto"
        How the maximum is found. "exact" uses an oracle for the product, which exists for classes
        of rows; for chains, and for sets of labels whose edges or hierarchy have no cycle, with
        losses that count (the Hamming losses without weights); and for sets of at most 14 labels
        with pairs that are not relaxed. "angular" uses a constrained oracle, with a proof, for the
        same models. "bisecting" changes the weight lam of the loss in ``score + lam * loss`` and
        works for all models; it may miss the maximum, whatever its effort. "auto" takes the first
        of these that the model supports.
    tol : float, default=0.0
        A search ends when no labelling can be better than the best one found by more than this
        fraction of its value. Above 0 the gap is wider by that, unless the search is "exact".
    max_queries : int, default=None
        Largest number of oracle calls of a search; None sets no limit. With a limit the gap may be
        wide, unless the search is "exact", which makes one call.

    See Also
    --------
    sskit.SequenceTagger : Has the parameter `rescaling`.

    Notes
    -----
    A search begins with the last labelling that it found for this sample. If it finds nothing
    better it returns the same again, so steps of the solver never lower the dual.

    A search that may miss the maximum bounds it: for all labellings the product of loss and margin
    is at most :math:`K(\lambda)^2 / (4 \lambda)`, with K the largest ``margin + lam * loss``, or
    an upper bound of that. ``primal_objective_`` and ``dual_gap_`` are computed from these bounds,
    so ``certified_`` is True; ``history_["inexactness"]`` is their part of the gap, often most of
    it, which passes cannot close. If the oracle behind the search may miss its maximum without a
    bound, there are no bounds, ``certified_`` is False and ``dual_gap_`` an estimate from below.

    ``n_oracle_calls_`` counts the queries of the underlying oracle.

    References
    ----------
    Choi, Meshi, Srebro (2016). Fast and scalable structural SVM with slack rescaling. AISTATS.
    "bisecting": section 4.3 and appendix D; "angular": algorithm 2.

    Bauer, Goernitz, Biegler, Mueller, Kloft (2014). Efficient algorithms for exact inference in
    sequence labeling SVMs. IEEE Transactions on Neural Networks and Learning Systems 25(5).

    Examples
    --------
    >>> from sskit import SequenceTagger, SlackRescaling
    >>> from sskit.datasets import make_digit_strings
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = SequenceTagger(rescaling=SlackRescaling(), random_state=0).fit(X, y)
    >>> tagger.certified_
    True
    >>> search = SlackRescaling(search="bisecting")
    >>> tagger.set_params(rescaling=search).fit(X, y).certified_
    True
    >>> bool(tagger.dual_gap_ > tagger.history_["inexactness"][-1] > 0)
    True
    """

    search: Literal["auto", "exact", "angular", "bisecting"] = parameter(
        default="auto", kw_only=False
    )
    tol: float = parameter(NON_NEGATIVE, default=0.0)
    max_queries: int | None = parameter(AT_LEAST_ONE, None, default=None)

    def check(self) -> None:
        """Raise an error for the first parameter that is wrong.

        Raises
        ------
        ValueError
            Naming the parameter and its value.
        """
        self._validate_params()

    def wrap(self, problem: Problem) -> SlackProblem:
        """Return a problem under slack rescaling.

        Parameters
        ----------
        problem : Problem
            The same problem under margin rescaling.

        Returns
        -------
        problem : SlackProblem
            The problem for the solvers.

        Raises
        ------
        ValueError
            If a parameter is wrong, or the problem does not support the search.
        """
        self.check()
        name, able = self.search, problem.n_candidates() > 0
        if name == "auto":
            name = "exact" if able else "bisecting"
        if name in NEEDS and not able:
            raise ValueError(
                f"search={name!r} needs {NEEDS[name]}, which this model with this loss does "
                "not have; use 'auto' or 'bisecting'"
            )
        limit = sys.maxsize if self.max_queries is None else capped(self.max_queries, sys.maxsize)
        return rescaled(problem, name, float(self.tol), limit)
