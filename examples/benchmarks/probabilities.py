"""Probabilities of labels on CoNLL-2000 chunking and parts of speech, against CRFsuite.

On test sets that neither weights nor calibrations have seen, for each method of CalibratedTagger
and for CRFsuite (L-BFGS, its own defaults, the same features):

- the log-loss, the mean of -log p of the true label of a token. A label that training has not seen
counts as 1e-15 for all; - the expected calibration error of tokens, in 15 bins: the mean distance
of the probability of the most probable label from the fraction of such labels that are right; - the
same for the spans of predictions (chunking only), and for those of CRFsuite; - token accuracy and
the F1 score of spans for each risk; - microseconds a sentence for the marginals of all tokens,
features made before.

CRFsuite is python-crfsuite (``pip install python-crfsuite``); without it there is no comparison.
Data are found in $SSKIT_DATA: conll2000 and wsj_pos. Seconds are those of the processor. About ten
minutes; ``--task`` takes one of the two. ``--task segments`` is that of chunks as segments
(SegmentTagger), of the first ``--sentences`` alone: -log p of the chunks of a sentence, log-loss
and calibration error of tokens, that of chunks, and the F1 score of chunks for each risk.

With ``--choose`` no test set is used: for each method and for three precisions of the prior, the
log-loss, the calibration error and the accuracy of 1,000 sentences of the training set of
CoNLL-2000, chunks and parts of speech, trained on 3,000 others. About five minutes.
"""

import argparse
import os
import tempfile

import numpy as np
from _cases import attributes
from _common import processor_time
from _data import load_conll2000, load_wsj_pos
from sklearn.feature_extraction import DictVectorizer

from sskit import CalibratedTagger, SegmentTagger, SequenceTagger
from sskit.metrics import span_f1_score, spans
from sskit.models.calibration import likelihood
from sskit.preprocessing import TokenTransformer

LEAST = 1e-15


def chunks():
    """Return (dicts, labels) of training and test sentences of CoNLL-2000."""
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    return train.data, train.target, test.data, test.target


def parts_of_speech():
    """Return the same of parts of speech."""
    train, test = load_wsj_pos("train"), load_wsj_pos("test")
    dicts = [[attributes(words) for words in part.data] for part in (train, test)]
    return dicts[0], train.target, dicts[1], test.target


def calibration_error(probability, right, bins=15):
    """Return the expected calibration error."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    return np.abs(np.bincount(place, probability - right, minlength=bins)).sum() / len(right)


def token_figures(p, classes, y):
    """Return the log-loss, the calibration error and the accuracy of the best label of tokens."""
    p, truth = np.concatenate(list(p)), np.concatenate(list(y))
    place = np.searchsorted(classes, truth).clip(max=len(classes) - 1)
    known = classes[place] == truth
    own = np.where(known, p[np.arange(len(p)), place], 0.0)
    right = classes[p.argmax(axis=1)] == truth
    loss = -np.log(own.clip(LEAST)).mean()
    return loss, calibration_error(p.max(axis=1), right), right.mean()


def span_error(found, y):
    """Return the calibration error of spans (type, first, stop, probability) of each sentence."""
    truth = [set(spans(labels)) for labels in y]
    pairs = [
        (p, tuple(span) in true)
        for some, true in zip(found, truth, strict=True)
        for *span, p in some
    ]
    return calibration_error(*np.array(pairs, dtype=float).T)


def show(name, figures, span=None, microseconds=None, more=""):
    """Print a row."""
    cells = [f"{figure:8.4f}" for figure in figures]
    cells.append(" " * 8 if span is None else f"{span:8.4f}")
    cells.append(" " * 9 if microseconds is None else f"{microseconds:9.1f}")
    print(f"{name:34}", *cells, more, flush=True)


def ours(name, model, data, chunked):
    """Fit a calibrated tagger and print its figures."""
    X, y, X_test, y_test = data
    model, seconds = processor_time(lambda: model.fit(X, y))
    model.predict_proba(X_test[:10])
    p, spent = processor_time(lambda: model.predict_proba(X_test))
    error, more = None, f"fit {seconds:.0f} s"
    if chunked:
        error = span_error(model.span_confidence(X_test), y_test)
        for risk in (None, "labelling", "tokens"):
            predicted = model.set_params(risk=risk).predict(X_test)
            more += f", F1 {risk} {span_f1_score(list(y_test), list(predicted)):.4f}"
    figures = token_figures(p, model.classes_, y_test)
    show(name, figures, error, 1e6 * spent / len(X_test), more)


def crfsuite(data, chunked):
    """Train CRFsuite and print its figures."""
    try:
        import pycrfsuite
    except ImportError:
        print("python-crfsuite is not installed: no comparison (pip install python-crfsuite)")
        return
    X, y, X_test, y_test = data
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(tokens, list(labels))
        seconds = processor_time(lambda: trainer.train(path))[1]
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        classes = np.array(sorted(tagger.labels()))
        items = [pycrfsuite.ItemSequence(tokens) for tokens in X_test]

        def marginals():
            out = []
            for sequence, labels in zip(items, y_test, strict=True):
                tagger.set(sequence)
                table = [[tagger.marginal(k, t) for k in classes] for t in range(len(labels))]
                out.append(np.array(table))
            return out

        p, spent = processor_time(marginals)
        more = f"fit {seconds:.0f} s"
        if chunked:
            predicted = [tagger.tag(sequence) for sequence in items]
            more += f", F1 labelling {span_f1_score(list(y_test), predicted):.4f}"
        show("CRFsuite", token_figures(p, classes, y_test), None, 1e6 * spent / len(X_test), more)


def segments(n):
    """Print the figures of segments, trained by the hinge and by the likelihood."""
    dicts, y, dicts_test, y_test = chunks()
    vectorizer = TokenTransformer(DictVectorizer())
    X, X_test = vectorizer.fit_transform(dicts[:n]), vectorizer.transform(dicts_test)
    y, truth = y[:n], [[label.partition("-")[2] or "O" for label in tags] for tags in y_test]
    true = [{(a, b, k) for k, a, b in spans(tags)} for tags in y_test]
    for method in ("temperature", "likelihood"):
        model = CalibratedTagger(SegmentTagger(random_state=0), method=method)
        seconds = processor_time(lambda model=model: model.fit(X, y))[1]
        p, spent = processor_time(lambda model=model: model.predict_proba(X_test))
        found = model.span_confidence(X_test)
        pairs = [
            (p, (a, b, k) in some)
            for one, some in zip(found, true, strict=True)
            for k, a, b, p in one
        ]
        whole = -np.log(model.confidence(X_test, y_test).clip(LEAST)).mean()
        more = f"fit {seconds:.0f} s, -log p of a sentence {whole:.3f}"
        for risk in (None, "segments"):
            predicted = model.set_params(risk=risk).predict(X_test)
            more += f", F1 {risk} {span_f1_score(list(y_test), list(predicted)):.4f}"
        figures = token_figures(p, model.classes_, truth)
        error = calibration_error(*np.array(pairs, dtype=float).T)
        show(method, figures, error, 1e6 * spent / len(X_test), more)


def choose(task):
    """Print the table by which a calibration can be chosen without test sets."""
    dicts, y = chunks()[:2]
    words = load_conll2000(subset="train").data
    order = np.random.default_rng(0).permutation(len(y))[:4000]
    if task == "pos":
        y = [np.array([tag for _, tag in sentence]) for sentence in words]
        dicts = [attributes([word for word, _ in sentence]) for sentence in words]
    dicts, y = [dicts[i] for i in order], [np.asarray(y[i]) for i in order]
    vectorizer = TokenTransformer(DictVectorizer())
    X, X_test = vectorizer.fit_transform(dicts[:3000]), vectorizer.transform(dicts[3000:])
    for method in ("temperature", "matrix"):
        for precision in (1.0, 10.0, 100.0)[: 1 if method == "temperature" else 3]:
            likelihood.PRECISION = precision  # of "temperature" there is no prior
            model = CalibratedTagger(SequenceTagger(random_state=0), method=method)
            p = model.fit(X, y[:3000]).predict_proba(X_test)
            show(f"{method}, prior {precision:g}", token_figures(p, model.classes_, y[3000:]))


def main():
    """Print a table for each task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=("chunks", "pos", "segments"))
    parser.add_argument("--sentences", type=int, default=2000, help="of segments")
    parser.add_argument("--choose", action="store_true", help="on training data alone")
    given = parser.parse_args()
    task = given.task
    columns = ("log-loss", "tokens", "accuracy", "spans", "us/sent.")
    if task == "segments":
        print(f"{task:34}", *(f"{column:>8}" for column in columns))
        segments(given.sentences)
    for name, load in (("chunks", chunks), ("pos", parts_of_speech)):
        if task not in (name, None):
            continue
        if given.choose:
            print(f"{name:34}", *(f"{column:>8}" for column in columns[:3]))
            choose(name)
            continue
        dicts, y, dicts_test, y_test = load()
        vectorizer = TokenTransformer(DictVectorizer())
        X, X_test = vectorizer.fit_transform(dicts), vectorizer.transform(dicts_test)
        data = X, y, X_test, y_test
        print(f"{name:34}", *(f"{column:>8}" for column in columns))
        for method in ("temperature", "matrix", "likelihood"):
            model = CalibratedTagger(SequenceTagger(random_state=0), method=method)
            ours(method, model, data, name == "chunks")
        crfsuite((dicts, y, dicts_test, y_test), name == "chunks")


if __name__ == "__main__":
    main()
