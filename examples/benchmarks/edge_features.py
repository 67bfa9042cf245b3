"""Features of edges: pairs of words in CoNLL-2000, at transitions, at tokens, and not at all.

    python edge_features.py

The attribute "w[-1]|w[0]", the word before and the word, is left out, given to the tokens, or given
to the edges between the two. Fits are those of SequenceTagger without arguments. Then runs on the
three alternate, one pass each. Times are processor times.
"""

import resource

import numpy as np
from _common import processor_time
from _data import load_conll2000
from sklearn.feature_extraction import DictVectorizer

from sskit import SequenceTagger
from sskit.core.regularizer import Regularizer
from sskit.metrics import span_f1_score
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool

PAIR = "w[-1]|w[0]"
N_PASSES = 20


def without(sentences):
    """Return sentences whose tokens lack the pair."""
    return [
        [{name: value for name, value in token.items() if name != PAIR} for token in sentence]
        for sentence in sentences
    ]


def inputs():
    """Return (X, X_test) by name, and the labels of both."""
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    found = {}
    for name, edges in (("none", None), ("at tokens", None), ("at edges", "w[0][-1]|w[0][0]")):
        data = [train.data, test.data]
        if name != "at tokens":
            data = list(map(without, data))
        transformer = TokenTransformer(DictVectorizer(), edges=edges)
        found[name] = transformer.fit_transform(data[0]), transformer.transform(data[1])
    return found, train.target, test.target


def start(X, y):
    """Return a run of the solver that a fit would use."""
    tagger = SequenceTagger()
    task = tagger._make_task(X, y, None)
    problem, regularizer = task.problem, Regularizer(task.default_lam, task.problem.n_weights)
    hinges = make_pool(problem).hinges(regularizer.padded(np.zeros(problem.n_weights)))
    gaps = np.asarray(problem.block_weight) * hinges
    solver = BCFW().resolved(problem, False)
    return solver.start(problem, regularizer, np.random.RandomState(0), gaps)


def main():
    """Print the tables."""
    found, y, y_test = inputs()
    for name, (X, X_test) in found.items():
        tagger, seconds = processor_time(lambda X=X: SequenceTagger(random_state=0).fit(X, y))
        predicted, per_test = processor_time(lambda: tagger.predict(X_test))  # noqa: B023
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        weights = [tagger.coef_, getattr(tagger, "edge_coef_", np.zeros(0))]
        print(
            f"{name:>10}: F1 {span_f1_score(y_test, predicted):.4f}   fit {seconds:.1f} s, "
            f"{tagger.n_iter_} passes   weights {sum(w.size for w in weights):,}, not zero "
            f"{sum(np.count_nonzero(w) for w in weights):,}   predict "
            f"{1e6 * per_test / len(y_test):.0f} us a sentence   peak so far {peak:.0f} MB",
            flush=True,
        )
    runs = {name: start(X, y) for name, (X, _) in found.items()}
    times = {name: [] for name in runs}
    for _ in range(N_PASSES):
        for name, run in runs.items():
            times[name].append(processor_time(run.run_pass)[1])
    for name, seconds in times.items():
        ratio = np.sum(seconds[1:]) / np.sum(times["none"][1:])
        print(
            f"{name:>10}: {np.mean(seconds[1:]):.3f} s a pass, {ratio:.2f} times that without; the "
            f"first {seconds[0]:.2f} s"
        )


if __name__ == "__main__":
    main()
