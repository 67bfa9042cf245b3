"""Lists of the strongest weights: which they are, what they are called, and what has none."""

import numpy as np
import pandas as pd
import pytest
from helpers.fits import Matching, figures, graphs, matchings, sets
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import (
    EarlyStopping,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.datasets import make_chains
from sskit.display import top_features
from sskit.preprocessing import TokenTransformer

WORDS = ["the", "cat", "sleeps", "a", "dog", "barks"]
TAGS = ["DET", "NOUN", "VERB"]


def sentences(n=30):
    """Sentences of two patterns, as dicts of words."""
    rng = np.random.default_rng(0)
    X = [
        [{"word": WORDS[k + 3 * j]} for k, j in enumerate(rng.integers(2, size=3))]
        for _ in range(n)
    ]
    return X, [TAGS] * n


@pytest.fixture(scope="module")
def tagger():
    """A tagger of sentences in a pipeline."""
    X, y = sentences()
    return make_pipeline(TokenTransformer(DictVectorizer()), SequenceTagger(random_state=0)).fit(
        X, y
    )


def test_names_come_through_the_pipeline(tagger):
    found = top_features(tagger, 2, output_dict=True)
    assert list(found) == ["features", "transitions", "start", "end"]
    assert list(found["features"]) == TAGS
    assert set(found["features"]["NOUN"]) == {"word=cat", "word=dog"}
    names, coef = tagger[:-1].get_feature_names_out(), tagger[-1].coef_
    assert found["features"]["VERB"]["word=barks"] == coef[2, list(names).index("word=barks")]
    assert len(found["transitions"]) == 2
    for (a, b), weight in found["transitions"].items():
        assert weight == tagger[-1].transitions_[TAGS.index(a), TAGS.index(b)]


def test_the_largest_absolute_values_from_the_largest_down(tagger):
    for n in (1, 3, 100):
        found = top_features(tagger, n, output_dict=True)
        for k, label in enumerate(TAGS):
            row, values = tagger[-1].coef_[k], list(found["features"][label].values())
            expected = np.sort(np.abs(row[row != 0]))[::-1][:n]
            assert sorted(map(abs, values), reverse=True) == pytest.approx(expected)
            assert values == sorted(values, reverse=True)


def test_text(tagger):
    lines = top_features(tagger, 1, digits=2).splitlines()
    assert [line for line in lines if line and line[0] != " "] == [
        *TAGS, "(transitions)", "(start)", "(end)",
    ]  # fmt: skip
    weight, name = lines[1].split()
    assert name.startswith("word=") and weight[0] in "+-" and len(weight.split(".")[1]) == 2
    assert any(" -> " in line for line in lines)


def test_ways_to_a_tagger(tagger):
    X, y = sentences()
    own = top_features(tagger, output_dict=True)
    search = GridSearchCV(tagger, {"sequencetagger__lam": [tagger[-1].lam_]}, cv=2).fit(X, y)
    assert top_features(search, output_dict=True) == own
    inner = tagger[:-1].transform(X)
    assert set(top_features(tagger[-1], output_dict=True)["features"]["DET"]) <= {
        f"x{j}" for j in range(6)
    }
    named = top_features(tagger[-1], feature_names=tagger[:-1].get_feature_names_out())
    assert named == top_features(tagger)
    hashed = make_pipeline(TokenTransformer(FeatureHasher(8)), SequenceTagger(random_state=0))
    words = [[[token["word"]] for token in sentence] for sentence in X]
    hashed.set_params(tokentransformer__transformer__input_type="string").fit(words, y)
    assert all(name[0] == "x" for name in top_features(hashed, output_dict=True)["features"]["DET"])
    scaled = make_pipeline(
        TokenTransformer(make_pipeline(DictVectorizer(), SelectKBest(k=3))),
        SequenceTagger(random_state=0),
    ).fit(X, y)
    assert "word=" in top_features(scaled)
    for wrapper in (EarlyStopping, RegularizationPath):
        model = wrapper(SequenceTagger(random_state=0)).fit(inner, y)
        if hasattr(model, "coef_"):
            assert top_features(model, feature_names=list("abcdef"))


def test_rows_with_names():
    X, y = sets()
    frame, labels = pd.DataFrame(X, columns=["p", "q", "r", "s"]), np.arange(16) % 3
    found = top_features(StructSVMClassifier(random_state=0).fit(frame, labels), output_dict=True)
    assert list(found) == ["features"] and list(found["features"]) == sorted(set(labels.tolist()))
    assert set(found["features"][0]) == {"p", "q", "r", "s"}
    two = StructSVMClassifier(random_state=0).fit(frame, np.array(["no", "yes"])[y[:, 0]])
    assert list(top_features(two, output_dict=True)["features"]) == ["yes"]
    piped = make_pipeline(StandardScaler(), StructSVMClassifier(random_state=0)).fit(frame, labels)
    assert set(top_features(piped, 4, output_dict=True)["features"][0]) == {"p", "q", "r", "s"}
    for model in (MultilabelPairwise(random_state=0), HierarchicalMultilabel([-1, 0, 0, 1])):
        model.fit(frame, np.repeat(y[:, :1], 4, axis=1))
        found = top_features(model, output_dict=True)
        assert list(found["features"]) == [0, 1, 2, 3]


def test_trees_and_graphs():
    X, y = make_chains(10, n_states=3, random_state=0)
    rng = np.random.default_rng(0)
    kinds = [rng.choice(["left", "right"], size=len(x)) for x in X]
    trees = [(x, np.arange(len(x)) - 1, kind) for x, kind in zip(X, kinds, strict=True)]
    found = top_features(TreeTagger(random_state=0).fit(trees, y), output_dict=True)
    assert list(found) == ["features", "transitions", "root", "leaf"]
    assert {place[0] for place in found["transitions"]} <= {"left", "right"}
    assert " -> " in top_features(TreeTagger(random_state=0).fit([t[:2] for t in trees], y))
    X, y = graphs(2)()
    assert list(top_features(SegmentationModel().fit(X, y), output_dict=True)) == ["features"]


def test_forbidden_transitions_and_zeros_are_left_out():
    X, y = make_chains(20, n_states=3, random_state=0)
    allowed = ~np.eye(3, dtype=bool)
    y = [np.arange(len(labels)) % 3 for labels in y]
    tagger = SequenceTagger(allowed_transitions=allowed, random_state=0).fit(X, y)
    found = top_features(tagger, 20, output_dict=True)
    assert all(a != b and np.isfinite(w) and w for (a, b), w in found["transitions"].items())


def test_what_has_no_such_weights():
    X, y = sentences()
    with pytest.raises(NotFittedError):
        top_features(make_pipeline(TokenTransformer(DictVectorizer()), SequenceTagger()))
    rows, classes = np.eye(4), np.arange(4)
    unfit = [
        StructSVMClassifier(kernel="rbf").fit(rows, classes),
        StructSVMClassifier(Matching(), random_state=0).fit(*matchings()),
        PartsModel([1, -1, 1]).fit(*figures()),
    ]
    for model in unfit:
        with pytest.raises(TypeError, match="has no weights of features by label to list"):
            top_features(model)
    plain = StructSVMClassifier().fit(rows, classes)
    with pytest.raises(ValueError, match="feature_names has 2 names, but there are 4"):
        top_features(plain, feature_names=["a", "b"])
    for n in (0, 1.5, True, "3"):
        with pytest.raises(ValueError, match="n must be an integer, at least 1"):
            top_features(plain, n)


def test_equal_names_are_refused():
    X, y = make_chains(10, n_features=3, n_states=2, random_state=0)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="^feature_names must differ, got 'a' twice"):
        top_features(tagger, feature_names=["a", "b", "a"])


def test_models_that_others_hold():
    X, y = make_chains(30, n_features=3, n_states=2, random_state=0)
    tagger = SequenceTagger(random_state=0)
    path = RegularizationPath(tagger, cv=2, lam_min=0.1).fit(X, y)
    assert top_features(path) == top_features(path.best_estimator_)
    stopped = EarlyStopping(tagger, random_state=0).fit(X, y)
    assert top_features(stopped) == top_features(stopped.estimator_)
