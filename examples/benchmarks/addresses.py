"""Parts of American addresses, from dicts to labels: sskit and CRFsuite's trainers in one run.

    python addresses.py [--ours]

The task and the attributes are those of the parser `usaddress`, which trains CRFsuite on them; the
data are in $SSKIT_DATA. "Vectorising" is the time to make features of dicts: by `TokenVectorizer`,
as items of CRFsuite, and by `DictVectorizer` on flattened dicts. "Fit" is the rest of training,
with defaults. The script prints seconds of processor time, the fraction of addresses whose tokens
are all right in both test files, and the median time from the dicts of one address to labels.
"""

import argparse
import importlib.util
import os
import tempfile
import time

import numpy as np
from _common import alternate, processor_time
from _data import load_usaddress
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

from sskit import SequenceTagger
from sskit.metrics import sequence_accuracy_score
from sskit.preprocessing import TokenTransformer, TokenVectorizer

TESTS = ("test_labeled", "test_osm")
N_REQUESTS = 100
ALGORITHMS = ("lbfgs", "pa", "ap")


def flat(addresses):
    """Return addresses whose tokens have no dicts within."""
    return [[_flat(token) for token in address] for address in addresses]


def _flat(token):
    found = {}
    for key, value in token.items():
        if isinstance(value, dict):
            found |= {f"{key}:{name}": inner for name, inner in value.items()}
        else:
            found[key] = value
    return found


def ours(X, y):
    """Yield name, seconds of vectorising and of the fit, and what labels a list of addresses."""
    SequenceTagger(max_iter=1, tol=10.0).fit(X[:200], y[:200])  # the first pays for imports
    _, vectorising = processor_time(lambda: TokenVectorizer().fit_transform(X))
    tagger, seconds = processor_time(lambda: SequenceTagger(random_state=0).fit(X, y))
    yield "SequenceTagger, of dicts", vectorising, seconds - vectorising, tagger.predict
    step = TokenTransformer(DictVectorizer())
    rows, vectorising = processor_time(lambda: step.fit_transform(flat(X)))
    tagger, seconds = processor_time(lambda: SequenceTagger(random_state=0).fit(rows, y))
    before = make_pipeline(step, tagger)
    yield "DictVectorizer, SequenceTagger", vectorising, seconds, lambda x: before.predict(flat(x))


def crfsuite(X, y):
    """Yield the same of each trainer of CRFsuite."""
    import pycrfsuite

    for algorithm in ALGORITHMS:
        items, vectorising = processor_time(lambda: [pycrfsuite.ItemSequence(x) for x in X])

        def train(items=items, algorithm=algorithm):
            trainer = pycrfsuite.Trainer(algorithm, verbose=False)
            for item, labels in zip(items, y, strict=True):
                trainer.append(item, labels)
            path = os.path.join(tempfile.mkdtemp(), "model")
            trainer.train(path)
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            return tagger

        tagger, seconds = processor_time(train)
        name = f"CRFsuite, {algorithm}"
        yield name, vectorising, seconds, lambda x, tagger=tagger: [*map(tagger.tag, x)]


def main():
    """Print a line for each way, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ours", action="store_true", help="leave out CRFsuite")
    options = parser.parse_args()
    train, tests = load_usaddress(), [load_usaddress(name) for name in TESTS]
    print(
        f"{'':32} {'vectorising':>11} {'fit':>7} {'sum':>7}   " + "  ".join(TESTS) + "  one address"
    )
    alone = options.ours or importlib.util.find_spec("pycrfsuite") is None
    for source in (ours,) if alone else (ours, crfsuite):
        for name, vectorising, fit, label in source(train.data, train.target):
            right = [sequence_accuracy_score(test.target, label(test.data)) for test in tests]
            requests = [lambda x=x: label([x]) for x in tests[1].data[:N_REQUESTS]]  # noqa: B023
            one = np.median(alternate(requests, 5, time.perf_counter))
            print(
                f"{name:32} {vectorising:9.2f} s {fit:5.2f} s {vectorising + fit:5.2f} s"
                f"   {right[0]:12.3f}  {right[1]:8.4f}  {1e6 * one:8.0f} us",
                flush=True,
            )


if __name__ == "__main__":
    main()
