"""Dual-decomposed training against BCFW: test error and gap against time, time against labels.

    python many_labels.py optima [FIGURE]          letters: certified optima, lam 1 to 1e-3
    python many_labels.py tags [PASSES]            part-of-speech tags of newspaper sentences
    python many_labels.py characters K [N [PASSES]]  characters of a newspaper, simulated glyphs
    python many_labels.py words K [TOKENS [PASSES]]  words restored from their consonants
    python many_labels.py scaling [N]              time of a pass, 100 to 3,600 characters
    python many_labels.py sample [PASSES]          110 sentences in real handwriting

The data are found in $SSKIT_DATA: ocr, wsj_pos, conll2000, chinese_chars and chinese_ocr_sample.
Times are processor times, so that other programs matter less; test errors and gaps that only serve
to draw a curve are computed outside of them.
"""

import collections
import gzip
import os
import re
import sys
import time

import numpy as np
from _common import chain_problem, ocr
from _data import load_conll2000, load_wsj_pos, make_glyph_sentences
from sklearn.feature_extraction import DictVectorizer

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged import stack_sequences
from sskit.models.chain.model import ChainModel, token_scale
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW, GDMM
from sskit.solvers.dual_decomposition import gdmm
from sskit.solvers.oracle_calls.pool import make_pool

LAMS = (1.0, 0.1, 0.01, 0.001)


def bind(X, y, n_states):
    """Return model, problem and default lam of sequences whose labels are numbers."""
    stacked = stack_sequences(X)
    labels = np.concatenate(y)
    model = ChainModel(stacked.values.shape[1], n_states)
    problem = model.bind(stacked, labels, np.ones(len(labels)), block_weights(len(X)))
    scale = token_scale(stacked, None)
    return model, problem, scale.times(0.25) / scale.weight  # the default lam


def curve(name, solver, data, test, n_passes, every=1, goal=0.0):
    """Print passes, seconds and test error as a fit goes on, down to a goal; return the rows."""
    model, problem, lam = data
    stacked, truth = test
    rows, began = [], time.process_time()
    run = solver.start(problem, Regularizer(lam, problem.n_weights), np.random.RandomState(0))
    spent = time.process_time() - began
    for n_iter in range(1, n_passes + 1):
        began = time.process_time()
        run.run_pass()
        spent += time.process_time() - began
        if n_iter % every == 0 or n_iter == n_passes:
            labels = model.decoder(stacked, run.weights()).best()
            rows.append((n_iter, spent, float(np.mean(labels != truth))))
            print(f"{name:32s} {n_iter:4d} {spent:9.2f} s  error {rows[-1][2]:.4f}", flush=True)
            if rows[-1][2] <= goal:
                break
    return rows


def compare(data, test, n_passes, variants, every=1):
    """Draw the curve of BCFW, and of GDMM until it has the error that BCFW ends with."""
    bcfw = curve("BCFW", BCFW(), data, test, n_passes, every)
    final = bcfw[-1][2]
    first = next(row for row in bcfw if row[2] <= final)
    print(f"BCFW ends with {final:.4f}, which it has first after {first[1]:.2f} s")
    for options in variants:
        name = "GDMM " + ", ".join(f"{key}={value}" for key, value in options.items())
        last = curve(name, GDMM(**options), data, test, 20, every, final)[-1]
        if last[2] <= final:
            print(
                f"{name}: there after {last[0]} passes and {last[1]:.2f} s, which is "
                f"{last[1] / first[1]:.3f} of that and {last[1] / bcfw[-1][1]:.3f} of all of BCFW"
            )


def describe(words):
    """Return a dict of features for each word: itself, neighbours, endings, shape."""
    around = ["(start)", *(word.lower() for word in words), "(end)"]
    features = []
    for before, word, given, after in zip(around, around[1:], words, around[2:], strict=False):
        entry = {"word=" + word: 1, "before=" + before: 1, "after=" + after: 1, "constant": 1}
        entry |= {f"ending{k}=" + word[-k:]: 1 for k in (1, 2, 3)}
        entry |= {"beginning=" + word[:2]: 1, "first": before == "(start)"}
        entry |= {"capital": given[0].isupper(), "hyphen": "-" in word}
        features.append(entry | {"digit": any(letter.isdigit() for letter in word)})
    return features


def tags(n_passes=15):
    """Time to the test error that BCFW ends with: 45 tags, sparse features."""
    train, test = load_wsj_pos("train"), load_wsj_pos("test")
    vectorizer = TokenTransformer(DictVectorizer())
    X = vectorizer.fit_transform([describe(words) for words in train.data])
    X_test = vectorizer.transform([describe(words) for words in test.data])
    classes = np.unique(np.concatenate(train.target))
    y = [np.searchsorted(classes, labels) for labels in train.target]
    truth = np.concatenate([np.searchsorted(classes, labels) for labels in test.target])
    data = bind(X, y, len(classes))
    print(f"{data[1].n_blocks} sentences, {len(classes)} tags, lam {data[2]:.2g}")
    compare(data, (stack_sequences(X_test), truth), n_passes, ({}, {"method": "afw"}))


def newspaper(n_characters):
    """Return stretches of text, up to 40 characters each, of the most frequent characters."""
    sentences = []
    for part in ("test", "dev"):
        path = os.path.join(
            os.environ["SSKIT_DATA"], "chinese_chars", f"peoples_daily_{part}.txt.gz"
        )
        with gzip.open(path, "rt", encoding="utf8") as file:
            for sentence in file.read().strip().split("\n\n"):
                sentences.append("".join(line.split()[0] for line in sentence.split("\n")))
    counts = collections.Counter("".join(sentences))
    frequent = {c for c, _ in counts.most_common(n_characters)}
    pieces = []
    for sentence in sentences:
        marked = "".join(c if c in frequent else "\n" for c in sentence)
        pieces += [piece for line in marked.split("\n") for piece in re.findall(".{10,40}", line)]
    return pieces, sorted(frequent)


def characters(n_characters=1100, n_train=150, n_passes=8):
    """Time to the test error that BCFW ends with: many labels, dense features."""
    text, alphabet = newspaper(n_characters)
    chosen = np.random.RandomState(0).permutation(len(text))[: n_train + n_train // 4]
    text = [text[i] for i in chosen]
    rng = np.random.RandomState(0)
    prototypes = rng.normal(size=(len(alphabet), 85))
    known = {c: k for k, c in enumerate(alphabet)}
    y = [np.array([known[c] for c in sentence]) for sentence in text]
    used = np.unique(np.concatenate(y))
    X, _ = make_glyph_sentences(text=text, prototypes=prototypes[used], random_state=0)
    data = bind(X[:n_train], y[:n_train], len(alphabet))
    seen = np.unique(np.concatenate(y[:n_train]))
    truth = np.concatenate(y[n_train:])
    print(
        f"{len(alphabet)} characters, {sum(map(len, y[:n_train]))} tokens of {len(seen)} of them; "
        f"{np.mean(~np.isin(truth, seen)):.3f} of the test are of others"
    )
    test = stack_sequences(X[n_train:]), truth
    compare(data, test, n_passes, ({},))


def stretches(sentences, vocabulary):
    """Return stretches of five words and more that are all in a vocabulary."""
    found = []
    for sentence in sentences:
        piece = []
        for word in [*(word.lower() for word, _ in sentence), None]:
            if word in vocabulary:
                piece.append(word)
                continue
            if len(piece) >= 5:
                found.append(piece)
            piece = []
    return found


def draw_pieces(pieces, n_tokens):
    """Return random ones with about so many tokens."""
    order = np.random.RandomState(0).permutation(len(pieces))
    ends = np.cumsum([len(pieces[i]) for i in order])
    return [pieces[i] for i in order[: 1 + np.searchsorted(ends, n_tokens)]]


def describe_consonants(words):
    """Return a dict of features for each word: its consonants, pieces of them, the neighbours'."""
    around = ["(start)", *(re.sub("[aeiou]", "", word) for word in words), "(end)"]
    features = []
    for before, left, after in zip(around, around[1:], around[2:], strict=False):
        entry = {"is=" + left: 1, "before=" + before: 1, "after=" + after: 1, "constant": 1}
        marked = f"^{left}$"
        entry |= {"gram=" + marked[k : k + 2]: 1 for k in range(len(marked) - 1)}
        features.append(entry | {"gram=" + marked[k : k + 3]: 1 for k in range(len(marked) - 2)})
    return features


def words(n_words=1000, n_tokens=7256, n_passes=12):
    """Time to the test error that BCFW ends with: words without vowels, sparse features."""
    train, test = load_conll2000("train").data, load_conll2000("test").data
    plain = (word.lower() for sentence in train for word, _ in sentence if word.isalpha())
    frequent = [word for word, _ in collections.Counter(plain).most_common(n_words)]
    known = {word: k for k, word in enumerate(sorted(frequent))}
    pieces, held_out = stretches(train, known), stretches(test, known)
    chosen, held_out = draw_pieces(pieces, n_tokens), draw_pieces(held_out, n_tokens // 2)
    features = [describe_consonants(piece) for piece in chosen]
    seen = collections.Counter(name for piece in features for entry in piece for name in entry)
    X, X_test = (
        [[{name: 1 for name in entry if seen[name] > 1} for entry in piece] for piece in part]
        for part in (features, map(describe_consonants, held_out))
    )
    vectorizer = TokenTransformer(DictVectorizer())
    X, X_test = vectorizer.fit_transform(X), vectorizer.transform(X_test)
    y = [np.array([known[word] for word in piece]) for piece in chosen]
    truth = np.concatenate([[known[word] for word in piece] for piece in held_out])
    data = bind(X, y, n_words)
    labels = np.concatenate(y)
    print(
        f"{len(y)} stretches, {len(labels)} tokens of {len(np.unique(labels))} words, "
        f"{X[0].shape[1]} features; {np.mean(~np.isin(truth, labels)):.3f} of the test are others"
    )
    compare(data, (stack_sequences(X_test), truth), n_passes, ({},))


def sample(n_passes=5):
    """Real handwriting: 110 sentences, too few to learn from; the last 20 are the test."""
    path = os.path.join(os.environ["SSKIT_DATA"], "chinese_ocr_sample", "chinese_ocr_sample.npz")
    with np.load(path) as file:
        X, y, offsets = (file[name] for name in ("X", "y", "offsets"))
    X = np.column_stack([(X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9), np.ones(len(X))])
    X, y = np.split(X, offsets[1:-1]), np.split(y.astype(np.int64), offsets[1:-1])
    classes, labels = np.unique(np.concatenate(y[:90]), return_inverse=True)
    known = {label: k for k, label in enumerate(classes)}
    truth = np.array([known.get(label, -1) for label in np.concatenate(y[90:])])
    data = bind(X[:90], np.split(labels, offsets[1:90]), len(classes))
    print(f"{len(labels)} tokens of {len(classes)} labels; {np.mean(truth < 0):.2f} unseen")
    compare(data, (stack_sequences(X[90:]), truth), n_passes, ({},))


def scaling(n_train=40):
    """Seconds and scored states of a pass against K."""
    found = {}
    for n_states in (100, 300, 1000, 3600):
        X, y = make_glyph_sentences(n_train, n_characters=n_states, random_state=0)
        _, problem, lam = bind(X, y, n_states)
        for name, many, part in (
            ("plain", 10**6, 10**6),
            ("ordered", 1, 10**6),
            ("ordered, in parts", 1, 100),
        ):
            if name == "plain" and n_states > 1000:
                continue
            # the rules by which GDMM orders pairs and splits labels into parts
            gdmm.MANY, gdmm.PART = many, part
            regularizer = Regularizer(lam, problem.n_weights)
            run = GDMM().start(problem, regularizer, np.random.RandomState(0))
            run.run_pass()
            run.run_pass()
            scored, began = run.sweep.n_compared, time.process_time()
            for _ in range(4):
                run.run_pass()
            seconds, scored = (time.process_time() - began) / 4, (run.sweep.n_compared - scored) / 4
            found.setdefault(name, []).append((n_states, seconds, scored))
            print(f"{n_states:5d} {name:20s} {seconds:8.4f} s {scored:12.0f} scored", flush=True)
        evaluator, w = make_pool(problem, 1), regularizer.padded(run.weights())
        began = time.process_time()
        evaluator.hinges(w)
        seconds = time.process_time() - began
        found.setdefault("Viterbi", []).append((n_states, seconds, np.nan))
        print(f"{n_states:5d} {'Viterbi':20s} {seconds:8.4f} s", flush=True)
    for name, rows in found.items():
        n_states, seconds, scored = np.log(np.array(rows)).T
        time_slope = np.polyfit(n_states, seconds, 1)[0]
        print(f"{name}: time grows with exponent {time_slope:.2f}", end="")
        finite = np.isfinite(scored).all()
        print(f", scored with {np.polyfit(n_states, scored, 1)[0]:.2f}" if finite else "")


def optima(path=None):
    """Passes and seconds to a gap of 1e-3 of the optimum, which BCFW certifies to 1e-4 of it."""
    X, y, _, _ = ocr("small")
    problem, curves = chain_problem(X, y), {}
    for lam in LAMS:
        began = time.process_time()
        scale = 1e-4 * min(1.0, 20.0 * lam)
        best = BCFW(steps="pairwise").solve(
            problem, Regularizer(lam, problem.n_weights), tol=scale, max_iter=3000, random_state=0
        )
        seconds = time.process_time() - began
        print(f"lam {lam:g}: optimum in [{best.dual:.7f}, {best.primal:.7f}], {seconds:.1f} s")
        regularizer = Regularizer(lam, problem.n_weights)
        run = GDMM().start(problem, regularizer, np.random.RandomState(0))
        spent, rows, evaluator = 0.0, [], make_pool(problem, 1)
        while not rows or (rows[-1][1] > 1e-4 and spent < 100.0):
            began = time.process_time()
            for _ in range(5):
                run.run_pass()
            spent += time.process_time() - began
            known = run.certify(evaluator)
            excess = known.primal / best.dual - 1.0
            n_iter = 5 * (len(rows) + 1)
            rows.append((n_iter, known.gap / known.primal, excess, run.sweep.infeasibility, spent))
        for place, what in ((2, "objective"), (1, "gap")):
            near = [row for row in rows if row[place] <= 1e-3]
            if near:
                print(f"    {what} to 1e-3: {near[0][0]} passes, {near[0][4]:.1f} s", flush=True)
        print(f"    at last: {rows[-1][0]} passes, {spent:.1f} s, gap {rows[-1][1]:.1e}")
        curves[lam] = np.array(rows)
    if path is not None:
        draw(path, curves)


def draw(path, curves):
    """Draw gap and disagreement over passes: straight lines on a logarithmic axis."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for axis, place, title in zip(
        axes, (1, 3), ("duality gap / primal objective", "infeasibility"), strict=True
    ):
        for lam, rows in curves.items():
            axis.semilogy(rows[:, 0] / rows[-1, 0], rows[:, place], label=f"lam = {lam:g}")
        axis.set(title=title, xlabel="fraction of the passes to a gap of 1e-4")
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    arguments = [int(text) if text.isdigit() else text for text in sys.argv[2:]]
    modes = (optima, tags, characters, words, scaling, sample)
    {mode.__name__: mode for mode in modes}[sys.argv[1]](*arguments)
