"""All data sets, each with its estimator and its score.

A case is a function that returns (estimator, score, X, y, X_test, y_test); `score` maps a fitted
estimator and test data to a number, the larger the better. Needs the data sets, see sskit.datasets.
"""

import numpy as np
from _common import conll, ocr
from _data import load_imclef07a, load_lsp, load_usps, load_wsj_pos
from multilabel_tables import bibtex, imclef07a, rcv1, yeast
from sklearn.datasets import load_digits
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.datasets import make_score_maps
from sskit.metrics import class_accuracy_score, iou_scores, span_f1_score
from sskit.preprocessing import TokenTransformer

RARE_TAG = "WDT"  # about one word in 200
SHAPE = (56, 56)


def accuracy(model, X, y):
    """Return the estimator's own score."""
    return model.score(X, y)


def span_f1(model, X, y):
    """Return F1 of spans."""
    return span_f1_score(y, model.predict(X))


def f1_of(label):
    """Return a function that computes F1 of one label of tokens."""

    def score(model, X, y):
        found = np.concatenate(list(model.predict(X))) == label
        return f1_score(np.concatenate(y) == label, found, zero_division=0.0)

    return score


def micro_f1(model, X, y):
    """Return micro F1 of sets of labels."""
    return f1_score(y, model.predict(X), average="micro")


def letters(size):
    """Return the case of OCR letters."""
    return SequenceTagger(), accuracy, *ocr(size)


def chunks():
    """Return the case of all chunks of CoNLL-2000."""
    return SequenceTagger(), span_f1, *conll()


def one_kind_of_chunk(kind):
    """Return the case of chunks of one kind against all else."""

    def kept(y):
        return [np.where(np.char.endswith(tags, f"-{kind}"), tags, "O") for tags in y]

    X, y, X_test, y_test = conll()
    return SequenceTagger(), span_f1, X, kept(y), X_test, kept(y_test)


def attributes(words):
    """Return attributes of the words of a sentence: the word, neighbours, ends and shape."""
    around = ["<s>", *words, "</s>"]
    return [
        {
            f"word={word.lower()}": 1.0,
            f"before={around[t].lower()}": 1.0,
            f"after={around[t + 2].lower()}": 1.0,
            **{f"ends in {word[-k:]}": 1.0 for k in (1, 2, 3)},
            "capital": float(word[0].isupper()),
            "digit": float(any(letter.isdigit() for letter in word)),
            "hyphen": float("-" in word),
        }
        for t, word in enumerate(words)
    ]


def words(score=accuracy, kept=None):
    """Return the case of parts of speech, of all or of one against the rest."""
    train, test = load_wsj_pos("train"), load_wsj_pos("test")
    vectorizer = TokenTransformer(DictVectorizer())
    X = vectorizer.fit_transform([attributes(sentence) for sentence in train.data])
    X_test = vectorizer.transform([attributes(sentence) for sentence in test.data])
    y, y_test = train.target, test.target
    if kept is not None:
        y, y_test = (
            [np.where(np.array(tags) == kept, kept, "O") for tags in part] for part in (y, y_test)
        )
    return SequenceTagger(), score, X, y, X_test, y_test


def digits():
    """Return the case of scikit-learn's digits."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0, stratify=y)
    return StructSVMClassifier(), accuracy, X, y, X_test, y_test


def usps():
    """Return the case of digits of the post."""
    train, test = load_usps(), load_usps("test")
    return StructSVMClassifier(), accuracy, train.data, train.target, test.data, test.target


def sets(load, **options):
    """Return a case of sets of labels."""
    return MultilabelPairwise(**options), micro_f1, *load()


def codes():
    """Return the case of sets of labels of a hierarchy."""
    parents = load_imclef07a("test").parents
    return HierarchicalMultilabel(hierarchy=parents), micro_f1, *imclef07a()


def mails():
    """Return the case of labels of e-mails on a tree."""
    from trees import load

    parents, ((X, y), (X_test, y_test)) = load(300, 300)

    def score(model, X, y):
        return f1_score(np.stack(y), np.stack(list(model.predict(X))), average="samples")

    X, X_test = ([(x, parents) for x in part] for part in (X, X_test))
    return TreeTagger(), score, X, y, X_test, y_test


def photographs(name, score, **options):
    """Return a case of superpixel graphs."""
    from _images import graphs

    return SegmentationModel(**options), score, *graphs(name)


def horse_iou(model, X, y):
    """Return the intersection over union of horses."""
    return iou_scores(y, model.predict(X))[0][1]


def of_classes(model, X, y):
    """Return the mean accuracy of classes."""
    return class_accuracy_score(y, model.predict(X), ignore_label=0)


def poses():
    """Return the case of people; the score is the fraction of joints within 3 cells."""
    train, test = load_lsp("train", SHAPE), load_lsp("test", SHAPE)
    y, y_test = train.target[:200], test.target[:300]
    X, X_test = (
        make_score_maps(part, SHAPE, mirrors=train.mirrors, random_state=seed)
        for seed, part in enumerate((y, y_test))
    )

    def score(model, X, y):
        away = np.linalg.norm(np.array(model.predict(X)) - np.rint(np.array(y)), axis=2)
        return float(np.mean(away <= 3.0))

    return PartsModel(train.parents), score, X, np.rint(np.array(y)), X_test, y_test


CASES = {
    "digits": digits,
    "USPS": usps,
    "OCR-small": lambda: letters("small"),
    "OCR-large": lambda: letters("large"),
    "CoNLL-2000": chunks,
    "CoNLL-2000, NP": lambda: one_kind_of_chunk("NP"),
    "CoNLL-2000, ADJP": lambda: one_kind_of_chunk("ADJP"),
    "POS": words,
    f"POS, {RARE_TAG}": lambda: words(f1_of(RARE_TAG), RARE_TAG),
    "yeast": lambda: sets(yeast),
    "RCV1, 30 topics": lambda: sets(lambda: rcv1(30)),
    "bibtex": lambda: sets(bibtex, edges="tree"),
    "imclef07a": codes,
    "e-mails": mails,
    "poses": poses,
    "horses": lambda: photographs("horses", horse_iou),
    "MSRC": lambda: photographs("msrc", of_classes, ignore_label=0),
}
