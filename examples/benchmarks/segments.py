"""Segments of CoNLL-2000 against tags of the same tokens, and the time of the oracle.

The span F1 of test sentences, and what the fit took: SequenceTagger on tags "bio" and "bioes", and
SegmentTagger with weights of lengths, of first and last tokens, of both and of neither, and with
each loss. All have the same attributes of tokens and default lam. Then the oracle on random scores
of T tokens, K labels and segments of up to M tokens, compared with Viterbi. The figures of the user
guide are those of the defaults. The first part needs the data set, see sskit.datasets.

    python examples/benchmarks/segments.py [--seeds 1] [--sentences 8936] [--only fit|oracle]
"""

import argparse
from functools import partial

import numpy as np
from _common import conll, processor_time

from sskit import SegmentTagger, SequenceTagger
from sskit.metrics import convert_tags, span_f1_score
from sskit.oracles import segment_max_sum, viterbi

BY_TOKEN = {"loss": "hamming_sum"}
SEGMENTS = {
    "tokens alone": BY_TOKEN | {"first_last": False, "lengths": False},
    "with lengths": BY_TOKEN | {"first_last": False},
    "with first and last tokens": BY_TOKEN | {"lengths": False},
    "with both": BY_TOKEN,
    "with both, loss 'hamming'": {"loss": "hamming"},
    "with both, loss 'segments'": {},
    "the same without lengths": {"lengths": False},
}


def row(name, model, X, y, X_test, y_test, scheme="bio"):
    """Fit a model and print its line."""
    _, seconds = processor_time(lambda: model.fit(X, y))
    score = span_f1_score(y_test, model.predict(X_test), scheme=scheme)
    print(f"{name:42s} {score:6.4f} {seconds:7.1f} s {model.n_iter_:5d} passes", flush=True)
    return score


def fits(seeds, n):
    """Print the scores of taggers and of segments."""
    X, y, X_test, y_test = conll()
    X, y = X[:n], y[:n]
    found = {}
    for seed in range(seeds):
        for scheme in ("bio", "bioes"):
            model = SequenceTagger(allowed_transitions=scheme, random_state=seed)
            name = f"SequenceTagger, {scheme}"
            given = X, convert_tags(y, "bio", scheme), X_test, convert_tags(y_test, "bio", scheme)
            found.setdefault(name, []).append(row(name, model, *given, scheme=scheme))
        for name, options in SEGMENTS.items():
            model, name = SegmentTagger(random_state=seed, **options), f"SegmentTagger, {name}"
            found.setdefault(name, []).append(row(name, model, X, y, X_test, y_test))
    print()
    for name, scores in found.items():
        print(f"{name:42s} {np.mean(scores):6.4f}")


def least(function, rounds=7):
    """Return the least processor time of some calls."""
    return min(processor_time(function)[1] for _ in range(rounds))


def oracle():
    """Print milliseconds of the oracle, and of Viterbi, for sizes that grow one at a time."""
    rng = np.random.default_rng(0)
    print(
        f"{'T':>6s} {'K':>6s} {'M':>6s} {'ms':>8s} {'ns / (T K (K + M))':>20s} {'Viterbi, ms':>12s}"
    )
    sizes = [(t, 16, 10) for t in (500, 1000, 2000, 4000)]
    sizes += [(1000, k, 10) for k in (8, 32, 64, 128)]
    sizes += [(1000, 16, m) for m in (1, 30, 100, 300)]
    for n_tokens, n_states, max_length in sizes:
        nodes = rng.normal(size=(n_tokens, n_states))
        table, lengths = (rng.normal(size=(n_states, n)) for n in (n_states, max_length))
        segments = least(partial(segment_max_sum, nodes, table, lengths))
        tokens = least(partial(viterbi, nodes, table))
        fraction = segments / (n_tokens * n_states * (n_states + max_length))
        print(
            f"{n_tokens:6d} {n_states:6d} {max_length:6d} {1e3 * segments:8.2f} "
            f"{1e9 * fraction:20.2f} {1e3 * tokens:12.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=None)
    parser.add_argument("--only", choices=("fit", "oracle"), default=None)
    options = parser.parse_args()
    if options.only != "fit":
        oracle()
    if options.only != "oracle":
        fits(options.seeds, options.sentences)
