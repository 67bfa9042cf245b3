"""Structured losses of batches of potentials, as a network would use them.

A batch of sequences: losses and gradients of StructuredHinge and of StructuredLogLoss against loops
over tokens in NumPy, which do the same recursions for the whole batch at once and, of the hinge,
for one sequence after the other. Labels are drawn near the best labelling, as in training. Prints
milliseconds a batch; writes a CSV file.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from sskit.losses import StructuredHinge, StructuredLogLoss

RESULTS = Path(__file__).parent / "results"


def make_batch(n, n_tokens, n_labels, dtype, seed=0):
    """Return potentials and labels."""
    rng = np.random.default_rng(seed)
    unary = rng.standard_normal((n, n_tokens, n_labels)).astype(dtype)
    transitions = rng.standard_normal((n_labels, n_labels)).astype(dtype)
    labels = StructuredHinge().decode(unary, transitions)
    wrong = rng.random(labels.shape) < 0.2
    return unary, transitions, np.where(wrong, rng.integers(n_labels, size=labels.shape), labels)


def numpy_batch(unary, transitions, labels):
    """Losses and gradients by NumPy: all sequences at once, token by token."""
    n, n_tokens, n_labels = unary.shape
    rows, samples = np.arange(n_tokens), np.arange(n)[:, np.newaxis]
    augmented = unary + 1
    augmented[samples, rows, labels] -= 1
    value, pointers = augmented[:, 0], np.empty((n_tokens, n, n_labels), dtype=np.int64)
    for t in range(1, n_tokens):
        table = value[:, :, np.newaxis] + transitions
        pointers[t] = table.argmax(axis=1)
        value = np.take_along_axis(table, pointers[t][:, np.newaxis], 1)[:, 0] + augmented[:, t]
    best = np.empty((n, n_tokens), dtype=np.int64)
    best[:, -1] = value.argmax(axis=1)
    for t in range(n_tokens - 1, 0, -1):
        best[:, t - 1] = pointers[t][samples[:, 0], best[:, t]]
    by_unary, by_table = np.zeros_like(unary), np.zeros_like(transitions)
    truth = unary[samples, rows, labels].sum(axis=1)
    truth += transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    for sign, y in ((1, best), (-1, labels)):
        by_unary[samples, rows, y] += sign
        np.add.at(by_table, (y[:, :-1], y[:, 1:]), sign)
    return value.max(axis=1) - truth, by_unary, by_table


def numpy_log_batch(unary, transitions, labels):
    """Log-losses and gradients by NumPy: forward and backward sums, all sequences at once."""
    n, n_tokens, n_labels = unary.shape
    rows, samples = np.arange(n_tokens), np.arange(n)[:, np.newaxis]
    top = unary.max(axis=2, keepdims=True)
    table, node = np.exp(transitions), np.exp(unary - top)
    forward, scale = np.empty_like(unary), np.empty((n_tokens, n, 1), dtype=unary.dtype)
    backward, by_table = np.ones_like(unary[:, 0]), np.zeros_like(transitions)
    for t in range(n_tokens):
        forward[:, t] = node[:, t] * (forward[:, t - 1] @ table if t else 1)
        scale[t] = forward[:, t].sum(axis=1, keepdims=True)
        forward[:, t] /= scale[t]
    by_unary = forward.copy()
    for t in range(n_tokens - 2, -1, -1):
        later = node[:, t + 1] * backward / scale[t + 1]
        by_table += table * (forward[:, t].T @ later)
        backward = later @ table.T
        by_unary[:, t] *= backward
    losses = np.log(scale).sum(axis=(0, 2)) + top.sum(axis=(1, 2))
    losses -= unary[samples, rows, labels].sum(axis=1)
    losses -= transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    by_unary[samples, rows, labels] -= 1
    np.add.at(by_table, (labels[:, :-1], labels[:, 1:]), -1)
    return losses, by_unary, by_table


def numpy_loop(unary, transitions, labels):
    """The same, one sequence after the other."""
    parts = [
        numpy_batch(u[np.newaxis], transitions, y[np.newaxis])
        for u, y in zip(unary, labels, strict=True)
    ]
    losses, by_unary, by_table = zip(*parts, strict=True)
    return np.concatenate(losses), np.concatenate(by_unary), sum(by_table)


def milliseconds(function, seconds):
    """Return the median time of a call, of calls for so many seconds."""
    function()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def measure(size, dtype, seconds):
    """Return milliseconds a batch, by what is asked for."""
    batch, layer = make_batch(*size, dtype), StructuredHinge(n_jobs=1)
    log_layer, near = StructuredLogLoss(n_jobs=1), {"rtol": 1e-3, "atol": 1e-3}
    np.testing.assert_allclose(layer.evaluate(*batch).losses, numpy_batch(*batch)[0], **near)
    found, expected = log_layer.evaluate(*batch), numpy_log_batch(*batch)
    for ours, theirs in zip((found.losses, *found.gradients()), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **near)
    calls = {
        "losses": lambda: layer.evaluate(*batch).losses,
        "with gradients": lambda: layer.evaluate(*batch).gradients(),
        "decode": lambda: layer.decode(*batch[:2]),
        "max-marginals": lambda: layer.max_marginals(*batch[:2]),
        "marginals": lambda: layer.marginals(*batch[:2]),
        "NumPy, a batch": lambda: numpy_batch(*batch),
        "NumPy, a loop": lambda: numpy_loop(*batch),
        "log-losses": lambda: log_layer.evaluate(*batch).gradients(),
        "by NumPy": lambda: numpy_log_batch(*batch),
    }
    return {name: milliseconds(call, seconds) for name, call in calls.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.2, help="for each figure")
    args = parser.parse_args()
    sizes = [(32, 50, 20), (32, 50, 5), (32, 50, 60), (8, 20, 20), (128, 100, 20), (1, 50, 20)]
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / "losses.csv", "w", newline="") as file:
        writer = csv.writer(file)
        for size in sizes:
            for dtype in (np.float32, np.float64):
                found = measure(size, dtype, args.seconds)
                if not file.tell():
                    writer.writerow(["sequences", "tokens", "labels", "type", *found])
                    print(" " * 23, *(f"{name:>14}" for name in found))
                writer.writerow([*size, dtype.__name__, *(f"{t:.4f}" for t in found.values())])
                name = " x ".join(map(str, size))
                print(f"{name:>14} {dtype.__name__:>8}", *(f"{t:14.3f}" for t in found.values()))


if __name__ == "__main__":
    main()
