"""Hidden states of labels against none, and latent types of springs against fixed ones.

Strings of handwritten digits, with their own labels and with one label for two digits each, so that
labels have two styles; chunks or tags of CoNLL-2000; joints of Leeds Sports Poses. lam is chosen on
held-out strings, or people, for each number of states and each kind of types. Run:

    python examples/benchmarks/hidden_states.py [digits | starts | chunks | pos | parts] [n]

n is the number of seeds, or of training sentences.
"""

import sys
import time

import numpy as np
from _common import conll
from hidden_labels import parts_of_speech
from poses import load

from sskit import PartsModel, SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.metrics import mean_part_error, pdj_curve, pdj_score

FACTORS = (1 / 64, 1 / 16, 1 / 4, 1.0)
TASKS = {"ten digits": lambda y: y, "pairs of digits": lambda y: y // 2}
N_TRAIN, N_CHOSEN, N_TEST = 200, 100, 400
RADII = np.array([0.1, 0.2, 0.3, 0.4, 0.5])


def strings(seed, merge):
    """Return strings to train, to choose and to test with; the last are of other writers."""
    parts = []
    for part, n in enumerate((N_TRAIN, N_CHOSEN, N_TEST)):
        subset = "test" if part == 2 else "train"
        X, y = make_digit_strings(n, subset=subset, random_state=10 * seed + part)
        parts.append((X, [merge(labels) for labels in y]))
    return parts


def chosen(data, n_states, n_init=1):
    """Return the tagger with the lam that is best on held-out strings."""
    (X, y), (X_chosen, y_chosen), _ = data
    lam = SequenceTagger(max_iter=1, tol=1e9).fit(X, y).lam_
    given = {"n_states_per_label": n_states, "n_init": n_init, "random_state": 0}
    models = [SequenceTagger(lam=lam * factor, **given).fit(X, y) for factor in FACTORS]
    return max(models, key=lambda model: model.score(X_chosen, y_chosen)), lam


def digits(n_seeds=5):
    """Print test errors by the number of states."""
    for name, merge in TASKS.items():
        errors = {n_states: [] for n_states in (1, 2, 3)}
        for seed in range(n_seeds):
            data = strings(seed, merge)
            for n_states, found in errors.items():
                start = time.process_time()
                model, lam = chosen(data, n_states)
                found.append(100 * (1 - model.score(*data[2])))
                print(
                    f"    {name}, seed {seed}, {n_states} states: {found[-1]:.2f} %, lam "
                    f"{model.lam_ / lam:g} of the default, rounds "
                    f"{getattr(model, 'n_rounds_', 1)}, {time.process_time() - start:.0f} s",
                    flush=True,
                )
        for n_states, found in errors.items():
            wins = sum(a < b for a, b in zip(found, errors[1], strict=True))
            print(
                f"{name}, {n_states} states: {np.mean(found):.2f} % wrong, {min(found):.2f} to "
                f"{max(found):.2f}, better than one state in {wins} of {n_seeds}",
                flush=True,
            )


def starts(n_seeds=5):
    """Print objectives and test errors by the number of starts."""
    for name, merge in TASKS.items():
        for n_init in (1, 3, 10):
            values, errors, seconds = [], [], time.process_time()
            for seed in range(n_seeds):
                (X, y), _, test = strings(seed, merge)
                lam = SequenceTagger(max_iter=1, tol=1e9).fit(X, y).lam_ / 16
                model = SequenceTagger(lam, n_states_per_label=2, n_init=n_init, random_state=seed)
                values.append(model.fit(X, y).round_objectives_[-1])
                errors.append(100 * (1 - model.score(*test)))
            seconds = (time.process_time() - seconds) / n_seeds
            print(
                f"{name}, 2 states, {n_init} starts: P {np.mean(values):.4f}, "
                f"{np.mean(errors):.2f} % wrong, {seconds:.1f} s a fit",
                flush=True,
            )


def words(load_words, n_train):
    """Print test errors of chunks or tags with two states of each label against one."""
    X, y, X_test, y_test = load_words()
    X, y = X[:n_train], y[:n_train]
    for n_states in (1, 2):
        for factor in FACTORS[2:]:
            start = time.process_time()
            lam = SequenceTagger(max_iter=1, tol=1e9).fit(X[:200], y[:200]).lam_
            lam *= 200 / len(X) * factor
            model = SequenceTagger(lam, n_states_per_label=n_states, random_state=0).fit(X, y)
            print(
                f"{len(X)} sentences, {n_states} states, lam {factor:g} of the default: "
                f"{100 * model.score(X_test, y_test):.2f} % right, rounds "
                f"{getattr(model, 'n_rounds_', 1)}, {time.process_time() - start:.0f} s",
                flush=True,
            )


def parts(n_seeds=3, n_train=100, n_chosen=100, n_test=500):
    """Print joints detected with latent types of springs against fixed ones."""
    kinds = {"fixed": False, "latent": True}
    results = {kind: [] for kind in kinds}
    for seed in range(n_seeds):
        skeleton, (train, held_out, test) = load(seed, n_train, n_chosen, n_test)
        for kind, latent in kinds.items():
            models = []
            for lam in (1.0, 3.0, 10.0):
                model = PartsModel(
                    skeleton.parents,
                    lam / n_train,
                    latent_types=latent,
                    scores="raw",
                    torso=skeleton.torso,
                    random_state=0,
                )
                start = time.process_time()
                model.fit(*train)
                score = pdj_score(held_out[1], model.predict(held_out[0]), torso=skeleton.torso)
                models.append((score, lam, model))
                print(
                    f"    seed {seed}: {kind}, lam {lam} / n: {score:.4f} held out, rounds "
                    f"{getattr(model, 'n_rounds_', 1)}, {time.process_time() - start:.0f} s",
                    flush=True,
                )
            _, lam, model = max(models, key=lambda entry: entry[0])
            found = model.predict(test[0])
            fractions = pdj_curve(test[1], found, torso=skeleton.torso, radii=RADII)[1]
            error = mean_part_error(test[1], found, torso=skeleton.torso)
            print(f"  seed {seed}: {kind}, lam {lam} / n: {fractions.round(4)}, error {error:.4f}")
            results[kind].append([*fractions, error])
    for kind, found in results.items():
        print(f"{kind} types: detected within {RADII}, error: {np.mean(found, axis=0).round(4)}")


def main(task="digits", n=None):
    """Print the tables of a task."""
    n = {} if n is None else {"n_seeds": int(n)}
    if task in ("chunks", "pos"):
        words({"chunks": conll, "pos": parts_of_speech}[task], n.get("n_seeds"))
    else:
        {"digits": digits, "starts": starts, "parts": parts}[task](**n)


if __name__ == "__main__":
    main(*sys.argv[1:])
