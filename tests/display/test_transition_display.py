"""The fields of a transition display are the weights of the tagger."""

import numpy as np
import pytest
from helpers.fits import chains, edged_chains, graphs, rows, trees
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from sskit import GraphTagger, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.datasets import make_digit_strings
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
    assert display.rows[:2] == ["(start)", "0"] and display.columns[-2:] == ["9", "(end)"]
    low, high = display.image_.get_clim()
    assert low == -high and display.colorbar_.ax.get_ylabel() == "weight"
    _, ax = plt.subplots()
    display = TransitionDisplay.from_estimator(tagger, ends=False, ax=ax, colorbar=False)
    np.testing.assert_array_equal(display.weights, tagger.transitions_)
    assert display.ax_ is ax and display.colorbar_ is None
    assert [label.get_text() for label in ax.get_xticklabels()] == list("0123456789")


def test_what_may_not_occur_has_no_number():
    X = [np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 0, 1]]]
    y = [["O", "B-X", "I-X", "O"], ["O", "O", "B-X"]]
    tagger = SequenceTagger(allowed_transitions="bio", random_state=0).fit(X, y)
    display = TransitionDisplay.from_estimator(Pipeline([("none", None), ("tagger", tagger)]))
    inside = display.columns.index("I-X")
    assert np.isnan(display.weights[[display.rows.index("O"), 0], inside]).all()
    assert np.isnan(display.weights).sum() == 3  # and from the start to the end
    assert display.ax_.get_xticklabels()[0].get_rotation() == 90
    # weights of zero are drawn too
    display = TransitionDisplay(weights=np.zeros((2, 2)), rows=["a", "b"], columns=["a", "b"])
    assert display.plot().image_.get_clim() == (-1.0, 1.0)


def test_tables_of_features_of_edges():
    X, y = graphs(3)()
    X = [(x, edges, np.column_stack([ones, -ones])) for x, edges, ones in X]
    tagger = SequenceTagger(random_state=0).fit(*edged_chains())
    for model, name in (
        (GraphTagger(random_state=0).fit(X, y), "pairwise_"),
        (tagger, "edge_coef_"),
    ):
        display = TransitionDisplay.from_estimator(model, edge_feature=1)
        np.testing.assert_array_equal(display.weights, getattr(model, name)[1])
        with pytest.raises(ValueError, match="edge_feature == 2, must be <= 1"):
            TransitionDisplay.from_estimator(model, edge_feature=2)
    assert TransitionDisplay.from_estimator(tagger).weights.shape == (4, 4)
    for model, options, error, message in [
        (SequenceTagger().fit(*chains()), {"edge_feature": 0}, AttributeError, "no attribute"),
        (GraphTagger(pairwise_form="potts").fit(X, y), {}, TypeError,
         "GraphTagger has no transitions_ of sequences, and no tab"),
        (TreeTagger(tol=0.5).fit(*trees()), {}, TypeError, "TreeTagger has no transitions_ of seq"),
        (StructSVMClassifier().fit(*rows()), {}, TypeError, "StructSVMClassifier has no transiti"),
        (SequenceTagger(), {}, NotFittedError, "not fitted"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            TransitionDisplay.from_estimator(model, **options)
