"""Softmax-margin: is the likelihood better for labels if losses are added to the scores?

Gimpel, Smith (2010) add the loss of a labelling to its score in the sum over all labellings, so
that wrong labels must be less probable by a factor: log sum_y exp(score(y) + cost * number of wrong
tokens) - score of the truth. It is the likelihood with a further feature, the true label of a
token, whose weights are fixed; this script makes it so, by L-BFGS.

For chunks (CoNLL-2000), parts of speech, parts of addresses, and names in Chinese news, trained on
so many sentences, drawn three times: token accuracy, span F1 (of chunks and names), and log-loss,
by the hinge, the likelihood, and softmax-margin at several costs, each at a quarter of the default
lam, at the default, and at four times it. The log-loss of the hinge is that of
CalibratedTagger(method="matrix") at the default lam. At the default lam there is also the least
log-loss if all scores have the best of some factors, chosen on the test data. Means, differences
from the likelihood at the same lam, and their standard deviations.

    python examples/benchmarks/softmax_margin.py [number of sentences [set ...]]
"""

import copy
import sys
import warnings

import numpy as np
from _common import processor_time
from probabilities import token_figures
from scipy.sparse import csr_array, hstack
from sklearn.exceptions import ConvergenceWarning
from small_texts import SEEDS, SETS

from sskit import CalibratedTagger, SequenceTagger
from sskit.metrics import span_f1_score
from sskit.preprocessing import TokenVectorizer
from sskit.solvers import LBFGS
from sskit.utils import RaggedArray

MOST_TESTED = 1000
LAMS = (0.25, 1.0, 4.0)
COSTS = (1.0, 3.0)
FACTORS = (0.7, 0.85, 1.0, 1.2, 1.4)


class Margin:
    """A loss some of whose weights are fixed."""

    def __init__(self, loss, places, costs):
        self.loss, self.convex = loss, loss.convex
        self.fixed, self.costs = places, costs

    def evaluate(self, w, gradient):
        """Return the mean loss, and add its gradient."""
        w = w.copy()
        w[self.fixed] = self.costs
        value = self.loss.evaluate(w, gradient)
        gradient[self.fixed] = 0.0
        return value

    def losses(self):
        """Return the losses of the blocks."""
        return self.loss.losses()

    def n_queries(self, n_calls):
        """Return the number of sums."""
        return self.loss.n_queries(n_calls)


class SoftmaxMargin(LBFGS):
    """L-BFGS on the likelihood of scores with losses."""

    places = costs = None

    def make_pool(self, problem, n_jobs, stop):
        """Return the loss."""
        return Margin(super().make_pool(problem, n_jobs, stop), self.places, self.costs)


def solver_of(cost, X, y, n_states):
    """Return a solver for a cost of wrong tokens and rows that end with the true labels."""
    task = SequenceTagger(surrogate="log")._make_task(X, y, None)
    # features are numbered by how often they occur
    coef = task.attributes(np.arange(task.problem.n_weights, dtype=float))["coef_"]
    places = coef[:, -n_states:].astype(int)
    # of each label where another one is true
    further = {"places": places, "costs": cost * (1.0 - np.eye(n_states))}
    return type("Solver", (SoftmaxMargin,), further)()


def with_labels(X, codes, n_states):
    """Return rows with further columns: the label of each, or none."""
    rows = csr_array(X.values)
    n = rows.shape[0]
    ones = np.zeros(0) if codes is None else np.ones(n)
    places = ([], []) if codes is None else (np.arange(n), codes)
    further = csr_array((ones, places), shape=(n, n_states))
    return RaggedArray(csr_array(hstack([rows, further])), X.offsets)


def scaled(tagger, factor):
    """Return a tagger with all weights times a factor."""
    other = copy.copy(tagger)
    for name, value in vars(tagger).items():
        if name in ("coef_", "transitions_", "start_", "end_"):
            setattr(other, name, factor * value)
    return other


def log_loss(tagger, X, y, data):
    """Return the log-loss of a fitted field."""
    model = CalibratedTagger(tagger, method="likelihood", cv="prefit").fit(*data)
    return token_figures(model.predict_proba(X), model.classes_, y)[0]


def figures(title, factor, default, train, test, spans):
    """Return accuracy, span F1, log-loss, that by the best factor, and seconds."""
    (X, y), (X_test, y_test) = train, test
    kind, _, cost = title.partition(" ")
    options = {"lam": factor * default[kind], "random_state": 0}
    if kind != "hinge":
        options |= {"surrogate": "log", "solver": "lbfgs"}
    classes, codes = np.unique(np.concatenate(y), return_inverse=True)
    if cost:
        X = with_labels(X, codes, len(classes))
        X_test = with_labels(X_test, None, len(classes))
        options["solver"] = solver_of(float(cost), X, y, len(classes))
    tagger, seconds = processor_time(lambda: SequenceTagger(**options).fit(X, y))
    found = [list(labels) for labels in tagger.predict(X_test)]
    right = np.concatenate(found) == np.concatenate(y_test)
    out = [right.mean(), span_f1_score(y_test, found) if spans else np.nan, np.nan, np.nan]
    few = X[:20], y[:20]
    if kind != "hinge":
        out[2] = log_loss(tagger, X_test, y_test, few)
        if factor == 1.0:
            out[3] = min(log_loss(scaled(tagger, s), X_test, y_test, few) for s in FACTORS)
    elif factor == 1.0:
        model = CalibratedTagger(SequenceTagger(random_state=0), method="matrix").fit(X, y)
        out[2] = token_figures(model.predict_proba(X_test), model.classes_, y_test)[0]
    return [*out, seconds]


def main(n, names):
    """Print a table for each set."""
    titles = ["log", "hinge", *(f"margin {cost:g}" for cost in COSTS)]
    for name in names or SETS:
        dicts, y, dicts_test, y_test = SETS[name]()
        found = {}
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            some, tested = (
                rng.permutation(len(of))[:k] for of, k in ((dicts, n), (dicts_test, MOST_TESTED))
            )
            vectorizer = TokenVectorizer()
            X = vectorizer.fit_transform([dicts[i] for i in some])
            X_test = vectorizer.transform([dicts_test[i] for i in tested])
            train = X, [list(y[i]) for i in some]
            test = X_test, [list(y_test[i]) for i in tested]
            default = {
                kind: SequenceTagger(surrogate=kind, max_iter=1, random_state=0).fit(*train).lam_
                for kind in ("log", "hinge")
            }
            default["margin"] = default["log"]
            for title in titles:
                for factor in LAMS:
                    row = figures(title, factor, default, train, test, name in ("chunks", "names"))
                    found.setdefault((title, factor), []).append(row)
        columns = "accuracy", "span F1", "log-loss", "of best factor", "seconds"
        print(f"\n{name}, {n} of {len(dicts)} sentences")
        print(f"{'':24}", *(f"{column:>24}" for column in columns))
        for (title, factor), rows in found.items():
            change = np.array(rows) - np.array(found["log", factor])
            cells = [
                f"{mean:10.4f}{more:+8.4f}({s:.4f})" if mean == mean else ""
                for mean, more, s in zip(
                    np.mean(rows, 0), change.mean(0), change.std(0), strict=True
                )
            ]
            print(f"{title + f', lam x {factor:g}':24}", *(f"{c:>24}" for c in cells), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2:])
