"""Scores of label sequences, against hand-made cases, the rules of conlleval and laws."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.metrics import accuracy_score, classification_report, jaccard_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from sskit import PartsModel, SegmentationModel, SequenceTagger, metrics
from sskit.datasets import make_chains, make_poses
from sskit.inputs.poses import check_torso
from sskit.metrics import (
    mean_part_error,
    pdj_curve,
    pdj_score,
    pdj_scorer,
    sequence_accuracy_score,
    span_f1_score,
    span_precision_recall_fscore,
    span_report,
    spans,
    token_accuracy_score,
)
from sskit.utils import RaggedArray


def conlleval_spans(labels):
    """Read spans as the scripts conlleval and seqeval do: two tables of chunk boundaries."""
    found, start = [], None
    before, before_kind = "O", ""
    for t, label in enumerate([*labels, "O"]):
        here, _, kind = label.partition("-")
        end = before in "ES" or (before in "BI" and here in "BSO")
        end = end or (before != "O" and before_kind != kind)
        begin = here in "BS" or (before in "ESO" and here in "IE")
        begin = begin or (here != "O" and before_kind != kind)
        if end and start is not None:
            found.append((before_kind, start, t))
            start = None
        if begin:
            start = t
        before, before_kind = here, kind
    return found


def flatten(sequences):
    return [label for labels in sequences for label in labels]


SCORES = [token_accuracy_score, sequence_accuracy_score, span_f1_score]
Y_TRUE = [["a", "b", "b"], ["a"], ["b", "b"]]
Y_PRED = [["a", "b", "a"], ["a"], ["a", "a"]]


def test_accuracy_of_kinds_of_labels():
    """Each is read by `stack_labels`, whose other forms are in tests/inputs/test_ragged.py."""
    for convert in (
        list,
        lambda y: RaggedArray(np.array(flatten(y)), [0, 3, 4, 6]),
        lambda y: [[ord(label) for label in labels] for labels in y],
        lambda y: [[(label, 1) for label in labels] for labels in y],
    ):
        for score, expected in zip(SCORES[:2], (3 / 6, 1 / 3), strict=True):
            found = score(convert(Y_TRUE), convert(Y_PRED))
            assert isinstance(found, float) and found == pytest.approx(expected)
    # mixed containers and empty sequences
    assert token_accuracy_score([[1, 2]], [np.array([1, 3], dtype=np.int8)]) == 0.5
    assert token_accuracy_score([[True]], [[1]]) == 1
    assert sequence_accuracy_score([[], ["a"]], [[], ["b"]]) == 0.5


@pytest.mark.parametrize("kind", [set, frozenset])
def test_of_a_set_each_label_is_right(kind):
    y_true = [["a", kind("ab"), kind("bc")], np.array([kind("b"), "c"], dtype=object)]
    y_pred = [["a", "b", "a"], np.array(["b", "c"])]
    assert token_accuracy_score(y_true, y_pred) == pytest.approx(4 / 5)
    assert sequence_accuracy_score(y_true, y_pred) == 0.5
    for true, ignored, message in (
        (["a", kind()], None, r"y_true\[0\]\[1\] is an empty set"),
        ([kind("ab"), "a"], "a", r"y_true\[0\]\[0\] is a set with ignore_label='a"),
        ([kind("ab")], None, r"y_true\[0\] has 1 labels but y_pred\[0\] has 2"),
    ):
        with pytest.raises(ValueError, match=message):
            token_accuracy_score([true], [["a", "b"]], ignore_label=ignored)
    for score in (span_f1_score, span_report, metrics.mean_iou_score):
        with pytest.raises(TypeError, match=r"y_true\[0\]\[0\] is .*set.* one label is expected"):
            score([[kind({"O"})]], [["O"]])


@st.composite
def pairs(draw, labels, longest):
    """Labels of some sequences twice, and a weight of each sequence."""
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=5))
    sequence = [st.lists(labels, min_size=n, max_size=n) for n in lengths]
    weight = [st.integers(1, 3)] * len(lengths)
    return tuple([draw(one) for one in column] for column in (sequence, sequence, weight))


@given(pairs(st.integers(0, 2), 5), st.sampled_from([None, 2, 9]))
@example(([[2]], [[0]], [1]), 2)
def test_laws_of_accuracy(drawn, ignored):
    y_true, y_pred, weights = drawn
    kept = [
        [(a, b) for a, b in zip(*labels, strict=True) if a != ignored]
        for labels in zip(y_true, y_pred, strict=True)
    ]
    options = {"ignore_label": ignored}
    if not any(kept):
        for score in SCORES[:2]:
            with pytest.raises(ValueError, match="no sequence with a weight has a label"):
                score(y_true, y_pred, **options)
        return
    expected = accuracy_score(*zip(*flatten(kept), strict=True))
    assert token_accuracy_score(y_true, y_pred, **options) == pytest.approx(expected)
    expected = np.mean([all(a == b for a, b in labels) for labels in kept if labels])
    assert sequence_accuracy_score(y_true, y_pred, **options) == pytest.approx(expected)
    copied = np.repeat(np.arange(len(weights)), weights)
    copies = [[y[i] for i in copied] for y in (y_true, y_pred)]
    for score in SCORES[:2]:
        weighted = score(y_true, y_pred, sample_weight=weights, **options)
        assert weighted == pytest.approx(score(*copies, **options))


def tags(prefixes, kinds):
    return st.sampled_from(["O", *(f"{prefix}{kind}" for prefix in prefixes for kind in kinds)])


@pytest.mark.parametrize(("scheme", "prefixes"), [("bio", "BI"), ("bioes", "BIES")])
@given(data=st.data())
def test_spans_are_those_of_the_scripts(scheme, prefixes, data):
    labels = data.draw(st.lists(tags(prefixes, ["", "-X", "-Y", "-X-Y"]), max_size=12))
    found = spans(labels, scheme)
    assert found == conlleval_spans(labels) == spans(np.array(labels, dtype=str), scheme)
    # They cover exactly what is not O, without overlap.
    covered = [t for _, start, stop in found for t in range(start, stop)]
    assert covered == [t for t, label in enumerate(labels) if label != "O"]


def test_spans_end_with_their_sequence_and_only_they_count():
    assert span_precision_recall_fscore([["I-X"], [], ["I-X"]], [["I-X"], [], ["O"]])[3] == 2
    assert span_f1_score([["I-X", "I-X"]], [["B-X", "I-X"]]) == 1
    for average in ("micro", "macro", "weighted"):
        for found in (["O"], ["B"]):
            scores = span_precision_recall_fscore([["O"]], [found], average=average)
            assert scores == (0, 0, 0, 0)
    assert span_f1_score([["O"]], [["O"]], average=None) == {}


def scores_of_sets(true, pred):
    """Precision, recall, F-score and support of two sets of spans."""
    both, sizes = len(true & pred), (len(pred), len(true), (len(true) + len(pred)) / 2)
    return *(pytest.approx(both / (size or 1)) for size in sizes), len(true)


@given(pairs(tags("BIES", ["-X", "-Y"]), 6))
def test_laws_of_span_scores(drawn):
    y = drawn[:2]
    true, pred = ({(i, *s) for i, tags in enumerate(y) for s in conlleval_spans(tags)} for y in y)
    assert span_precision_recall_fscore(*y, scheme="bioes") == scores_of_sets(true, pred)
    assert span_f1_score(*y, scheme="bioes") == scores_of_sets(true, pred)[2]
    per_type = span_precision_recall_fscore(*y, scheme="bioes", average=None)
    kinds = sorted({kind for _, kind, *_ in true | pred})
    assert all(list(scores) == kinds for scores in per_type)
    for kind in kinds:
        mine = ({span for span in found if span[1] == kind} for found in (true, pred))
        assert tuple(scores[kind] for scores in per_type) == scores_of_sets(*mine)


def test_reports_are_those_of_scikit_learn():
    labels = list("XXYZZZ"), list("XYYZZX")
    theirs = classification_report(*labels, output_dict=True)
    del theirs["accuracy"]
    y = [[[f"B-{label}"] for label in some] for some in labels]
    ours = span_report(*y, output_dict=True)
    assert list(ours) == ["X", "Y", "Z", "micro avg", "macro avg", "weighted avg"]
    for name, row in theirs.items():
        assert ours[name] == pytest.approx(row)
    for name in ("micro", "macro", "weighted"):
        row = span_precision_recall_fscore(*y, average=name)
        assert tuple(ours[f"{name} avg"].values()) == row
        assert span_f1_score(*y, average=name) == row[2]
    text = span_report([["B-X", "B-longest-of-all-types"]], [["B-X", "O"]], digits=3)
    assert {len(line) for line in text.splitlines() if line} == {61}
    assert "                   X      1.000     1.000     1.000         1\n" in text
    assert span_report([["O"]], [["O"]]).count("0.00") == 12


def test_bad_labels():
    """Each is read by `stack_labels`, whose other errors are in tests/inputs/test_ragged.py."""
    for y_true, y_pred, error, message in [
        ([["O"], ["O"]], [["O"]], ValueError, "y_true has 2 samples but y_pred has 1"),
        ([["O"]], [["O", "O"]], ValueError, r"y_true\[0\] has 1 .* y_pred\[0\] has 2"),
        ([["O", None]], [["O", "O"]], ValueError, r"y_true\[0\]\[1\] is None"),
        ([["O"]], [[1]], TypeError, "y_pred"),
    ]:
        for score in (*SCORES, span_report):
            with pytest.raises(error, match=message):
                score(y_true, y_pred)


def test_labels_outside_the_scheme():
    good = [["B-NP", "O"]]
    for bad in ("X-NP", "S-NP", "NP", "", "B-", "O-NP", "BI-NP", "b-NP"):
        wrong, message = [["B-NP", bad]], rf"\[1\] is '{bad}', but labels are O, B-TYPE, I-TYPE$"
        for function, data, place in (
            (span_f1_score, (wrong, good), r"y_true\[0\]"),
            (span_report, (good, wrong), r"y_pred\[0\]"),
            (spans, wrong, "labels"),
        ):
            with pytest.raises(ValueError, match=place + message):
                function(*data)
    for y_true, name in (([[3]], "y_true"), ([["O"]], "y_pred")):
        with pytest.raises(TypeError, match=name + r"\[0\]\[0\] is 3, but labels of spans are str"):
            span_f1_score(y_true, [[3]])
    with pytest.raises(TypeError, match=r"labels\[0\] is 3"):
        spans([3])


def test_bad_options_and_weights():
    for scheme in ("conll", ["bio"]):
        for function, data in ((span_f1_score, ([["O"]], [["O"]])), (spans, [["O"]])):
            with pytest.raises(ValueError, match="scheme must be one of"):
                function(*data, scheme=scheme)
    for average in (["micro"], np.array(["micro", "macro"])):
        with pytest.raises(ValueError, match="average"):
            span_f1_score([["O"]], [["O"]], average=average)
    for weights in [
        [1], [1, -1], [1, np.nan], [0, 0], [[1, 1]], ["1", "1"], [1j, 1], [[1], 1], [1e308] * 2
    ]:  # fmt: skip
        for score in SCORES[:2]:
            with pytest.raises(ValueError, match="sample_weight"):
                score([[1], [2]], [[1], [2]], sample_weight=weights)


@pytest.mark.parametrize("ignored", [None, 3])
def test_scores_of_regions_are_those_of_scikit_learn(ignored):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        shapes = [(3, 4), (2, 2), (5, 1), (4, 4)]
        y = [[rng.integers(4, size=shape) for shape in shapes] for _ in range(2)]
        true, pred = (np.concatenate([a.ravel() for a in labels]) for labels in y)
        weight = np.array([1.0, 0.25, 2.0, 0.5])
        kept = true != ignored
        of_pixel = np.repeat(weight, [a.size for a in y[0]])[kept]
        true, pred, options = true[kept], pred[kept], {"ignore_label": ignored}
        scores, classes = metrics.iou_scores(*y, **options)
        np.testing.assert_allclose(scores, jaccard_score(true, pred, average=None, labels=classes))
        assert metrics.mean_iou_score(*y, **options) == pytest.approx(scores.mean())
        of_class = {"average": "macro", "labels": np.unique(true)}
        for given_weight, weight_of_pixel in ((None, None), (weight, of_pixel)):
            found = metrics.class_accuracy_score(*y, sample_weight=given_weight, **options)
            expected = recall_score(true, pred, sample_weight=weight_of_pixel, **of_class)
            assert found == pytest.approx(expected)


def test_bad_regions():
    for true, pred, options, error, message in [
        ([[[0, 1]]], [[[0], [1]]], {}, ValueError, r"shape \(1, 2\) but y_pred\[0\] has \(2, 1\)"),
        ([[0, 1]], [[0, 1], [1]], {}, ValueError, "y_true has 1 samples but y_pred has 2"),
        ([[0, 0]], [[0, 1]], {"ignore_label": 0}, ValueError, "no labels that count"),
        ([[0], [0, 1]], [[0], [[0, 1], [1]]], {}, ValueError, r"^y_pred\[1\] is no array"),
        ([["a"]], [[datetime.date(2020, 1, 1)]], {}, TypeError, "not supported between"),
        ([[0], [1.0]], [[0], np.array([1 + 0j])], {}, TypeError, r"^y_pred\[1\]\[0\] is .*complex"),
        ([[0, 1]], [["a", "b"]], {}, TypeError, "has labels of dtype int64 but y_pred of <U1"),
        ([[0, 1]], 3, {}, TypeError, "y_pred must be a list with one array of labels"),
        ([[0, 1]], [[0, 2]], {"labels": "all"}, ValueError, "must be 'either', 'true' or a list,"),
        ([[0, 1]], [[0, 2]], {"labels": [7]}, ValueError, "none of labels occurs"),
        ([[0, 1]], [[0, 2]], {"labels": ["a"]}, TypeError, "labels has labels of dtype <U1 but"),
    ]:
        with pytest.raises(error, match=message):
            metrics.mean_iou_score(true, pred, **options)
    for wrong in ([1, 2], (), {}, np.arange(2), csr_array(np.eye(2)), pd.NA, int, memoryview(b"a")):
        with pytest.raises(ValueError, match="^ignore_label must be one label, got "):
            metrics.iou_scores([[0, 1]], [[0, 1]], ignore_label=wrong)
    y = [[0.0, 1.0]]
    for other in ("void", b"void", 10**400, 1.5, np.nan, pd.Timestamp(0)):  # do not occur
        assert metrics.mean_iou_score(y, y, ignore_label=other) == 1.0


def test_classes_of_the_mean_iou():
    """Class 2 is predicted and never true: 0 by Pascal VOC."""
    y = [[0, 0, 1, 1]], [[0, 0, 1, 2]]
    for labels, expected in (
        ("either", (1 + 0.5 + 0) / 3), ("true", 0.75), ([0, 2], 0.5), ([1], 0.5), ([0, 9], 1.0)
    ):  # fmt: skip
        assert metrics.mean_iou_score(*y, labels=labels) == expected


def ignoring():
    """Graphs, labels of which some are not known, and a model that leaves these out."""
    rng = np.random.default_rng(0)
    edges = [[0, 1], [1, 2], [2, 3]]
    truth = [np.repeat(rng.integers(2, size=2), 2) for _ in range(20)]
    X = [(y[:, None] + rng.normal(size=(4, 2)), edges, None) for y in truth]
    y = [np.where(rng.random(4) < 0.3, 9, labels) for labels in truth]
    y[0][:] = truth[0]
    return X, y, SegmentationModel(ignore_label=9, random_state=0)


@pytest.mark.parametrize(
    "name", ["mean_iou", "class_accuracy", "token_accuracy", "sequence_accuracy"]
)
def test_scorers_ignore_what_the_estimator_does_and_route_weights(name):
    X, y, model = ignoring()
    scorer, score = getattr(metrics, f"{name}_scorer"), getattr(metrics, f"{name}_score")
    assert name in repr(scorer)
    found, weight = model.fit(X, y).predict(X), np.arange(20.0) / 9.5
    expected = score(y, found, ignore_label=9)
    assert scorer(model, X, y) == expected != score(y, found)
    weighted = score(y, found, ignore_label=9, sample_weight=weight)
    assert scorer(model, X, y, sample_weight=weight) == weighted
    copied = pickle.loads(pickle.dumps(scorer))
    assert copied(model, X, y) == expected
    pipeline = Pipeline([("same", FunctionTransformer()), ("model", model)])
    assert scorer(pipeline, X, y) == expected
    search = GridSearchCV(pipeline, {"model__lam": [0.1, 1.0]}, cv=2, scoring=scorer).fit(X, y)
    assert search.score(X, y) == score(y, search.predict(X), ignore_label=9)
    with config_context(enable_metadata_routing=True):
        routed = copied.set_score_request(sample_weight=True)  # which changes it
        model.set_fit_request(sample_weight=True)
        options = {"params": {"sample_weight": weight}, "return_estimator": True}
        results = cross_validate(model, X, y, cv=2, scoring=routed, **options)
    for k, test in enumerate((slice(10), slice(10, 20))):
        found = results["estimator"][k].predict(X[test])
        weighted = score(y[test], found, ignore_label=9, sample_weight=weight[test])
        assert results["test_score"][k] == weighted


def test_the_scorer_of_spans():
    X, y = make_chains(30, random_state=0)
    y = [np.array(["O", "B-X", "I-X"])[labels] for labels in y]
    tagger = SequenceTagger(random_state=0).fit(X, y)
    assert metrics.span_f1_scorer(tagger, X, y) == span_f1_score(y, tagger.predict(X))


# ---- poses --------------------------------------------------------------------------------------


def random_poses(seed, n=6, n_parts=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, rng.choice([2, 20]), size=(n, n_parts, 2)).astype(float)
    return truth, truth + rng.normal(size=truth.shape) * rng.integers(0, 4, size=(n, 1, 1))


def errors_by_loops(truth, found, torso):
    errors = np.zeros(truth.shape[:2])
    for i, k in np.ndindex(errors.shape):
        if torso is None:
            size = max(np.ptp(truth[i, :, 0]), np.ptp(truth[i, :, 1]))
        else:
            size = np.hypot(*(truth[i, torso[0]] - truth[i, torso[1]]))
        errors[i, k] = np.hypot(*(truth[i, k] - found[i, k])) / max(size, 1.0)
    return errors


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, (0, 1), (3, 1)]))
def test_scores_are_those_of_loops(seed, torso):
    truth, found = random_poses(seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=len(truth))
    errors = errors_by_loops(truth, found, torso)
    options = {"torso": torso, "sample_weight": weight}
    for radius in (0.0, 0.1, 0.25, 10.0):
        expected = np.average(errors <= radius, axis=0, weights=weight)
        fractions = pdj_score(list(truth), found.tolist(), radius=radius, per_part=True, **options)
        np.testing.assert_allclose(fractions, expected)
        expected = pytest.approx(expected.mean())
        assert pdj_score(truth, found, radius=radius, **options) == expected
        assert pdj_curve(truth, found, radii=[radius], **options)[1] == [expected]
    expected = np.average(errors, axis=0, weights=weight)
    np.testing.assert_allclose(mean_part_error(truth, found, per_part=True, **options), expected)
    assert mean_part_error(truth, found, **options) == pytest.approx(expected.mean())


def test_radii_when_none_are_given():
    truth, found = random_poses(1)
    assert pdj_score(truth, found) == pdj_score(truth, found, radius=0.2)
    radii, fractions = pdj_curve(truth, found)
    assert len(radii) == 51 and radii[0] == 0.0 and radii[-1] == 0.5
    np.testing.assert_array_equal(fractions, pdj_curve(truth, found, radii=radii)[1])


def test_scorer_and_score_of_the_model_agree():
    poses = make_poses(12, shape=(16, 16), random_state=0)
    y = [np.rint(pose) for pose in poses.target]
    model = PartsModel(poses.parents, n_types=1, tol=0.5, random_state=0).fit(poses.data, y)
    assert pdj_scorer(model, poses.data, y) == pytest.approx(model.score(poses.data, y))


POSES = [[[0, 0], [1, 2], [3, 4]]] * 2


def test_bad_input():
    """Poses are read as in tests/inputs/test_poses.py."""
    first, large = POSES[0], [[0, 1e200]] * 3
    torso = "torso must be two different parts from 0 to 2, got"
    for error, pattern, argument, *wrong in [
        (ValueError, "y_true must hold one sample", "y_true", []),
        (ValueError, r"y_pred\[1\] must be numbers .* \(3, 2\)", "y_pred", [first, [[0, 0]]]),
        (ValueError, r"y_true\[1\] is no array: its items", "y_true", [first, [[0, 0], [1]]]),
        (ValueError, r"y_true\[0\] must be numbers .*\(n_parts, 2\)", "y_true", [0.5, 1.0],
         [np.zeros((0, 2))] * 2),
        (ValueError, r"y_pred\[1\]\[0, 1\] is 1e\+200", "y_pred", [first, large]),
        (ValueError, torso, "torso", 1, np.array(1), (0, 3)),
        (ValueError, r"must be numbers of shape \(2,\)", "sample_weight", [1.0]),
        (ValueError, "sample_weight has the sum inf", "sample_weight", [1e308, 1e308]),
        (ValueError, r"sample_weight\[1\] is -1.0, expected", "sample_weight", [1.0, -1.0]),
    ]:  # fmt: skip
        for value in wrong:
            arguments = {"y_true": POSES, "y_pred": POSES} | {argument: value}
            for function in (pdj_score, pdj_curve, mean_part_error):
                with pytest.raises(error, match=pattern):
                    function(**arguments)


def test_types_of_numbers_and_bad_radii():
    for dtype in (np.float16, np.longdouble, np.uint8):
        assert pdj_score(np.array(POSES, dtype=dtype), POSES) == 1.0
    for radius in (-0.1, np.nan, "big", True, None):
        with pytest.raises(ValueError, match="radius must be a number >= 0"):
            pdj_score(POSES, POSES, radius=radius)
    for radii in ([-0.1], 0.5, [np.nan], ["a"], [[0.1]], [0.1, [0.2]]):
        with pytest.raises(ValueError, match="^radii"):
            pdj_curve(POSES, POSES, radii=radii)
    # a torso by name
    abc = ["a", "b", "c"]
    assert check_torso(("c", 0), 3, abc) == (2, 0)
    for torso, names in [(("c", "d"), abc), (("a", 0), abc), (("a", "b"), None)]:
        with pytest.raises(ValueError, match="torso must be two different parts"):
            check_torso(torso, 3, names)
