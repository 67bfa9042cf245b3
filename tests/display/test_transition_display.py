"""The fields of a transition display are the weights of the tagger."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from sskit import GraphTagger, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.datasets import make_digit_strings, make_snakes
from sskit.display import TransitionDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def tagger():
    X, y = make_digit_strings(60, random_state=0)
    return SequenceTagger(random_state=0).fit(X, y)


def test_fields_are_the_weights(tagger):
    display = TransitionDisplay.from_estimator(tagger)
    shown = display.image_.get_array()
    np.testing.assert_array_equal(shown[1:, :-1], tagger.transitions_)
    np.testing.assert_array_equal(shown[0, :-1], tagger.start_)
    np.testing.assert_array_equal(shown[1:, -1], tagger.end_)
    assert np.ma.getmaskarray(shown)[0, -1]
    assert display.rows[:2] == ["(start)", "0"]
    assert display.columns[-2:] == ["9", "(end)"]
    low, high = display.image_.get_clim()
    assert low == -high
    assert display.colorbar_.ax.get_ylabel() == "weight"
    _, ax = plt.subplots()
    display = TransitionDisplay.from_estimator(tagger, ends=False, ax=ax, colorbar=False)
    np.testing.assert_array_equal(display.weights, tagger.transitions_)
    assert display.ax_ is ax
    assert [label.get_text() for label in ax.get_xticklabels()] == list("0123456789")
    assert display.colorbar_ is None


def test_what_may_not_occur_has_no_number():
    X = [np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 0, 1]]]
    y = [["O", "B-X", "I-X", "O"], ["O", "O", "B-X"]]
    tagger = SequenceTagger(allowed_transitions="bio", random_state=0).fit(X, y)
    display = TransitionDisplay.from_estimator(tagger)
    from_outside = display.rows.index("O"), display.columns.index("I-X")
    assert np.isnan(display.weights[from_outside])
    assert np.isnan(display.weights[0, display.columns.index("I-X")])
    assert np.isnan(display.weights).sum() == 3  # and from the start to the end
    assert display.ax_.get_xticklabels()[0].get_rotation() == 90
    # weights of zero are drawn too
    display = TransitionDisplay(weights=np.zeros((2, 2)), rows=["a", "b"], columns=["a", "b"])
    assert display.plot().image_.get_clim() == (-1.0, 1.0)
    pipeline = Pipeline([("transformer", None), ("tagger", tagger)])
    display = TransitionDisplay.from_estimator(pipeline)
    direct = TransitionDisplay.from_estimator(tagger)
    np.testing.assert_array_equal(display.weights, direct.weights)


def test_tables_of_features_of_edges():
    X, y = make_snakes(6, random_state=0)
    X = [(features, edges, both[:, [4, -1]]) for features, edges, both in X]
    graphs = GraphTagger(random_state=0).fit(X, y)
    display = TransitionDisplay.from_estimator(graphs, edge_feature=1)
    np.testing.assert_array_equal(display.weights, graphs.pairwise_[1])
    assert display.ax_.get_xlabel() == "label of the second node"
    rng = np.random.default_rng(0)
    tokens = [(rng.normal(size=(4, 2)), rng.normal(size=(3, 2))) for _ in range(6)]
    tagger = SequenceTagger(random_state=0).fit(tokens, [[0, 1, 2, 0]] * 6)
    display = TransitionDisplay.from_estimator(tagger, edge_feature=1)
    np.testing.assert_array_equal(display.weights, tagger.edge_coef_[1])
    assert TransitionDisplay.from_estimator(tagger).weights.shape == (4, 4)
    potts = GraphTagger(pairwise_form="potts", random_state=0).fit(X, y)
    rows = StructSVMClassifier().fit([[0.0], [1.0]], [0, 1])
    trees = TreeTagger(tol=0.5).fit([(np.eye(2), [-1, 0]), (np.eye(2), [-1, 0])], [[0, 1]] * 2)
    plain = SequenceTagger(random_state=0).fit([x for x, _ in tokens], [[0, 1, 2, 0]] * 6)
    for model, options, error, message in [
        (graphs, {"edge_feature": 2}, ValueError, "edge_feature == 2, must be <= 1"),
        (tagger, {"edge_feature": 2}, ValueError, "edge_feature == 2, must be <= 1"),
        (plain, {"edge_feature": 0}, AttributeError, "no attribute 'edge_coef_'"),
        (potts, {}, TypeError, "GraphTagger has no transitions_ of sequences, and no tab"),
        (trees, {}, TypeError, "TreeTagger has no transitions_ of sequences"),
        (rows, {}, TypeError, "StructSVMClassifier has no transitions_"),
        (SequenceTagger(), {}, NotFittedError, "not fitted"),
    ]:
        with pytest.raises(error, match=message):
            TransitionDisplay.from_estimator(model, **options)
