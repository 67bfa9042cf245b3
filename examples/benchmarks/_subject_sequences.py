"""Text and addresses for peers.py: from tokens as dicts to labels."""

import os
import tempfile
from itertools import chain

import numpy as np
from _cases import attributes
from _data import HOME, load_conll2000, load_usaddress, load_wsj_pos
from _data import _address_attributes as address_attributes
from _subjects import Subject, Way, bunch, estimator, ways
from scipy.sparse import csr_array
from serving import made_sentences
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sskit import CalibratedTagger, SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.inputs.ragged_array import make_offsets, split
from sskit.metrics import sequence_accuracy_score, span_f1_score, token_accuracy_score
from sskit.preprocessing import TokenTransformer

TENTHS = (0.1, 1.0, 10.0)
EXAMPLE = "1600 N. Pennsylvania Ave. NW Apt. 4B, Washington, DC 20500"


# ---- data ------------------------------------------------------------------------------------


def one_by_one(X):
    """Return requests of single sequences."""
    return [[x] for x in X]


def made(name, n, tiny):
    """Return made sentences in place of those of a data set."""
    X, y = made_sentences(60 if tiny else n, 300 if tiny else 5000)
    cut = len(X) * 4 // 5
    parts = X[:cut], y[:cut], X[cut:], y[cut:]
    return bunch(f"made sentences, in place of {name}", *parts, requests=one_by_one)


def chunks(tiny=False):
    """Return sentences of CoNLL-2000 and their chunks."""
    if tiny or not (HOME / "conll2000").is_dir():
        data = made("CoNLL-2000", 3000, tiny)
    else:
        train, test = (load_conll2000(part, attributes=True) for part in ("train", "test"))
        data = bunch(
            "CoNLL-2000 chunking, 8,936 sentences, attributes of CRFsuite's tutorial",
            *(train.data, train.target, test.data, test.target),
            requests=one_by_one,
        )
    data.scores = {"span F1": span_f1_score, "token accuracy": token_accuracy_score}
    return data


def parts_of_speech(tiny=False):
    """Return sentences of newspapers and the parts of speech of their words."""
    if tiny or not (HOME / "wsj_pos").is_dir():
        data = made("parts of speech", 1500, tiny)
    else:
        train, test = load_wsj_pos("train"), load_wsj_pos("test")
        X, X_test = ([attributes(words) for words in part.data] for part in (train, test))
        data = bunch(
            "parts of speech, 3,253 sentences, 45 tags",
            *(X, train.target, X_test, test.target),
            requests=one_by_one,
        )
    data.scores = {"token accuracy": token_accuracy_score}
    return data


def addresses(tiny=False):
    """Return addresses and their parts, of which some are harder."""
    if tiny or not (HOME / "usaddress").is_dir():
        parts = [
            make_digit_strings(30 if tiny else 600, subset=subset, random_state=0)
            for subset in ("train", "test")
        ]
        X, X_test = (
            [[{f"p{k}": v for k, v in enumerate(row) if v} for row in x.tolist()] for x in X]
            for X, _ in parts
        )
        y, y_test = ([[str(digit) for digit in digits] for digits in y] for _, y in parts)
        source = "strings of digits, in place of addresses"
        data = bunch(source, X, y, X_test, y_test, requests=one_by_one)
        data.scores = {"all right": sequence_accuracy_score}
        return data
    train, hard, easy = map(load_usaddress, ("train", "test_labeled", "test_osm"))
    n_hard = len(hard.data)
    return bunch(
        "usaddress, 34,610 addresses, attributes of the parser",
        *(train.data, train.target, hard.data + easy.data, list(hard.target) + list(easy.target)),
        # each test by itself: the hard one comes first
        scores={
            "all right, hard test": lambda y, found: sequence_accuracy_score(
                y[:n_hard], found[:n_hard]
            ),
            "all right, easy test": lambda y, found: sequence_accuracy_score(
                y[n_hard:], found[n_hard:]
            ),
        },
        requests=lambda X: one_by_one(X[n_hard:]),
        example=[address_attributes(EXAMPLE.split())],
        # there is no easy part of the addresses that are held out to choose settings
        quality=sequence_accuracy_score,
    )


# ---- ways ------------------------------------------------------------------------------------


class CRFsuite:
    """A tagger of python-crfsuite."""

    def __init__(self, X, y, algorithm="lbfgs", **parameters):
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm, parameters, verbose=False)
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(pycrfsuite.ItemSequence(tokens), [str(label) for label in labels])
        path = os.path.join(tempfile.mkdtemp(), "model")
        trainer.train(path)
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(path)
        if algorithm != "lbfgs":  # the others are no models of probabilities
            self.probabilities = None

    def predict(self, X):
        """Return the labels of sequences."""
        return [self.tagger.tag(tokens) for tokens in X]

    def probabilities(self, X):
        """Return the probabilities of labels of each token, and the labels."""
        classes, tagger = np.array(sorted(self.tagger.labels())), self.tagger
        found = []
        for tokens in X:
            tagger.set(tokens)
            table = [[tagger.marginal(k, t) for k in classes] for t in range(len(tokens))]
            found.append(np.array(table))
        return found, classes


class Chaine:
    """A tagger of chaine."""

    def __init__(self, X, y, **parameters):
        import chaine

        path = os.path.join(tempfile.mkdtemp(), "model")
        given = flat(X), [[str(label) for label in labels] for labels in y]
        self.model = chaine.train(*given, model_filepath=path, verbose=0, **parameters)

    def predict(self, X):
        """Return the labels of sequences."""
        return self.model.predict(flat(X))

    def probabilities(self, X):
        """Return the probabilities of labels of each token, and the labels."""
        classes = np.array(sorted(self.model.labels))
        found = [
            np.array([[token[k] for k in classes] for token in tokens])
            for tokens in self.model.predict_proba(flat(X))
        ]
        return found, classes


class Underthesea:
    """A tagger of underthesea-core, whose features have no values but one."""

    def __init__(self, X, y, **parameters):
        from underthesea_core import CRFTagger, CRFTrainer

        trainer = CRFTrainer(verbose=0, **parameters)
        labels = [[str(label) for label in of_one] for of_one in y]
        self.tagger = CRFTagger.from_model(trainer.train(self.strings(X), labels))

    @staticmethod
    def strings(X):
        """Return each token as a list of strings."""
        return [
            [[k if v is True else f"{k}={v}" for k, v in token.items() if v] for token in tokens]
            for tokens in flat(X)
        ]

    def predict(self, X):
        """Return the labels of sequences."""
        return [self.tagger.tag(tokens) for tokens in self.strings(X)]


class EachToken:
    """A classifier of scikit-learn for one token at a time."""

    def __init__(self, X, y, make=LinearSVC, **settings):
        self.vectorizer = DictVectorizer()
        rows = self.vectorizer.fit_transform(chain.from_iterable(flat(X)))
        self.model = make(**settings).fit(narrow(rows), np.concatenate([*map(np.asarray, y)]))
        if not hasattr(self.model, "predict_proba"):
            self.probabilities = None

    def asked(self, ask, X):
        """Return what a function says of the tokens of each sequence."""
        rows = self.vectorizer.transform(chain.from_iterable(flat(X)))
        return split(ask(narrow(rows)), make_offsets([*map(len, X)]))

    def predict(self, X):
        """Return the labels of sequences."""
        return self.asked(self.model.predict, X)

    def probabilities(self, X):
        """Return the probabilities of labels of each token, and the labels."""
        return self.asked(self.model.predict_proba, X), self.model.classes_


class TorchCRF:
    """A linear layer on the attributes, and the CRF of the package pytorch-crf on it."""

    def __init__(self, X, y, epochs=10, rate=0.01, batch_size=32):
        import torch
        from torchcrf import CRF

        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.vectorizer = DictVectorizer()
        rows = [self.vectorizer.fit_transform(chain.from_iterable(flat(X)))]
        rows = split(narrow(rows[0]), make_offsets([*map(len, X)]))
        self.classes, labels = np.unique(np.concatenate([*map(np.asarray, y)]), return_inverse=True)
        labels = split(labels, make_offsets([*map(len, y)]))
        n_classes = len(self.classes)
        size = len(self.vectorizer.feature_names_)
        self.layer = torch.nn.EmbeddingBag(size, n_classes, mode="sum", sparse=True)
        torch.nn.init.zeros_(self.layer.weight)
        self.crf = CRF(n_classes, batch_first=True)
        steps = (
            torch.optim.SparseAdam(self.layer.parameters(), lr=rate),
            torch.optim.Adam(self.crf.parameters(), lr=rate),
        )
        # sequences of similar lengths together, batches in random order
        order = np.argsort([len(x) for x in labels], kind="stable")
        batches = [order[k : k + batch_size] for k in range(0, len(order), batch_size)]
        rng = np.random.default_rng(0)
        for _ in range(epochs):
            for k in rng.permutation(len(batches)):
                some = batches[k]
                scores, mask = self.scores([rows[i] for i in some])
                truth = torch.zeros(mask.shape, dtype=torch.long)
                truth[mask] = torch.from_numpy(np.concatenate([labels[i] for i in some]))
                loss = -self.crf(scores, truth, mask=mask, reduction="mean")
                for step in steps:
                    step.zero_grad()
                loss.backward()
                for step in steps:
                    step.step()

    def scores(self, rows):
        """Return the scores of labels of some sequences, and where there are tokens."""
        import torch

        lengths = torch.tensor([x.shape[0] for x in rows])
        columns = torch.from_numpy(np.concatenate([x.indices for x in rows]).astype(np.int64))
        values = torch.from_numpy(np.concatenate([x.data for x in rows]).astype(np.float32))
        counts = np.concatenate([np.diff(x.indptr) for x in rows])
        starts = torch.from_numpy(np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64))
        found = self.layer(columns, starts, per_sample_weights=values)
        mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
        scores = found.new_zeros((*mask.shape, found.shape[1]))
        scores[mask] = found
        return scores, mask

    def predict(self, X):
        """Return the labels of sequences."""
        import torch

        labels = []
        with torch.no_grad():
            for k in range(0, len(X), 32):
                part = flat(X[k : k + 32])
                rows = narrow(self.vectorizer.transform(chain.from_iterable(part)))
                rows = split(rows, make_offsets([*map(len, part)]))
                labels += self.crf.decode(*self.scores(rows))
        return [self.classes[some] for some in labels]


class Calibrated:
    """A tagger of this package whose probabilities are calibrated."""

    def __init__(self, X, y, method="matrix"):
        self.model = CalibratedTagger(SequenceTagger(random_state=0), method=method).fit(X, y)

    def predict(self, X):
        """Return the labels of sequences."""
        return self.model.predict(X)

    def probabilities(self, X):
        """Return the probabilities of labels of each token, and the labels."""
        return self.model.predict_proba(X), self.model.classes_


class AfterDictVectorizer:
    """A tagger of this package after scikit-learn's DictVectorizer."""

    def __init__(self, X, y):
        step = TokenTransformer(DictVectorizer())
        tagger = SequenceTagger(random_state=0).fit(step.fit_transform(flat(X)), y)
        self.model = make_pipeline(step, tagger)

    def predict(self, X):
        """Return the labels of sequences."""
        return self.model.predict(flat(X))


def flat(sequences):
    """Return sequences whose tokens have no dicts within, the same ones if they had none."""
    if not any(isinstance(value, dict) for token in sequences[0] for value in token.values()):
        return sequences
    return [[_flat(token) for token in tokens] for tokens in sequences]


def _flat(token):
    found = {}
    for key, value in token.items():
        if isinstance(value, dict):
            found |= {f"{key}:{name}": inner for name, inner in value.items()}
        else:
            found[key] = value
    return found


def narrow(X):
    """Return a matrix with indices of 32 bits, which LIBLINEAR needs and DictVectorizer lacks."""
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def with_make(make, **fixed):
    """Return the train function of a classifier of single tokens."""
    return lambda X, y, **settings: EachToken(X, y, make, **(fixed | settings))


def crfsuite(algorithm):
    """Return the way of a trainer of CRFsuite."""
    return Way("CRFsuite", CRFsuite, {"algorithm": algorithm}, module="pycrfsuite")


def known():
    """Return the ways that are the same for all sequences."""
    return (
        ("sskit", Way("sskit", estimator(SequenceTagger))),
        ("sskit, probabilities", Way("sskit", Calibrated)),
        ("sskit, likelihood", Way("sskit", Calibrated, {"method": "likelihood"})),
        ("CRFsuite, lbfgs", crfsuite("lbfgs")),
        ("CRFsuite, ap", crfsuite("ap")),
        ("CRFsuite, pa", crfsuite("pa")),
        ("chaine", Way("chaine", Chaine, module="chaine")),
        ("underthesea", Way("underthesea-core", Underthesea, module="underthesea_core")),
        ("torch CRF", Way("torch CRF", TorchCRF, module="torchcrf")),
        ("logistic regression", Way("logistic regression", with_make(LogisticRegression))),
        ("LinearSVC", Way("LinearSVC", with_make(LinearSVC, random_state=0))),
    )


GRIDS = {
    "sskit": {"factor": TENTHS},
    "LinearSVC": {"C": TENTHS},
    "CRFsuite, lbfgs": {"c2": TENTHS},
    "CRFsuite, ap": {"max_iterations": (10, 30, 100)},
}
# On chunks the iterations alone would take two minutes, and three values of c2 five.
FEWER = {name: GRIDS[name] for name in ("sskit", "LinearSVC")}
WITHOUT_TORCH = [(name, way) for name, way in known() if way.package != "torch CRF"]
DICTS = ("sskit, DictVectorizer", Way("sskit", AfterDictVectorizer))
CRFS = {name: grid for name, grid in GRIDS.items() if name != "LinearSVC"}
SUBJECTS = {
    "chunks": Subject("Text: chunks", chunks, ways(*known(), tuned=FEWER)),
    "tags": Subject("Text: parts of speech", parts_of_speech, ways(*known(), tuned=GRIDS)),
    "addresses": Subject("Addresses", addresses, ways(*WITHOUT_TORCH, DICTS, tuned=CRFS)),
}
