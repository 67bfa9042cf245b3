"""Labels of unusual kinds, across the estimators and metrics that they can meet."""

import tracemalloc
import warnings
from enum import Enum
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers.crossing import in_turn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_predict
from sklearn.semi_supervised import SelfTrainingClassifier

from sskit import (
    CalibratedTagger,
    GraphTagger,
    RankingSVM,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.metrics import (
    class_accuracy_score,
    convert_tags,
    iou_scores,
    mean_iou_score,
    sequence_accuracy_score,
    span_f1_score,
    spans,
    token_accuracy_score,
)
from sskit.preprocessing import SuperpixelGraph


class Tag(str, Enum):
    OUT = "O"
    BEGIN = "B-PER"
    INSIDE = "I-PER"


VALUES = np.array(["O", "B-PER", "I-PER"])
MEMBERS = {tag.value: tag for tag in Tag}
NUMBERS = [[0, 1, 2], [1, 2, 0, 0], [0, 0], [1, 2, 2]]
SEQUENCES = [np.eye(3)[numbers] for numbers in NUMBERS]
LABELS = [VALUES[numbers].tolist() for numbers in NUMBERS]
TREES = [(x, np.arange(len(x)) - 1) for x in SEQUENCES]
GRAPHS = [
    (x, np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1), np.ones((len(x) - 1, 1)))
    for x in SEQUENCES
]
FAMILIES = {
    "rows": (StructSVMClassifier, np.concatenate(SEQUENCES)),
    "sequences": (SequenceTagger, SEQUENCES),
    "second order": (lambda **given: SequenceTagger(order=2, **given), SEQUENCES),
    "hidden states": (lambda **given: SequenceTagger(n_states_per_label=2, **given), SEQUENCES),
    "segments": (SegmentTagger, SEQUENCES),
    "trees": (TreeTagger, TREES),
    "trees, hidden states": (lambda **given: TreeTagger(n_states_per_label=2, **given), TREES),
    "graphs": (GraphTagger, GRAPHS),
    "segmentation": (SegmentationModel, GRAPHS),
}
TAGGERS = ("sequences", "trees", "graphs", "segmentation")
WEIGHED = ("rows", "sequences", "segments", "trees")


def made(family, **given):
    make, X = FAMILIES[family]
    return make(random_state=0, lam=0.01, **given), X


def targets(family, kind=list, labels=LABELS):
    """Labels in the form of a family; `kind` makes one sample of a list."""
    if family == "rows":
        return kind([label for item in labels for label in item])
    return [kind(item) for item in labels]


def objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def same(predicted, other):
    return all(np.array_equal(a, b) for a, b in zip(predicted, other, strict=True))


KINDS = {"list": list, "tuple": tuple, "objects": objects, "series": pd.Series}


@pytest.mark.parametrize("family", FAMILIES)
def test_members_of_enumerations_are_their_values(family):
    model, X = made(family)
    plain = made(family)[0].fit(X, targets(family))
    members = [[MEMBERS[label] for label in item] for item in LABELS]
    for kind in [kind for name, kind in in_turn(FAMILIES, KINDS, 2) if name == family]:
        y = targets(family, KINDS[kind], members)
        model.fit(X, y)
        assert model.classes_.tolist() == plain.classes_.tolist()
        assert all(type(label) is str for label in model.classes_.tolist())
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        predicted = model.predict(X)
        assert same(predicted, plain.predict(X))
        assert model.score(X, y) == plain.score(X, targets(family)) == 1.0
        # equal to the members that were given, one by one
        flat = predicted.tolist() if family == "rows" else np.concatenate(predicted).tolist()
        assert flat == [label for item in members for label in item]


@pytest.mark.parametrize("family", WEIGHED)
def test_members_as_keys_of_weights(family):
    values = {"O": 0.5, "PER" if family == "segments" else "B-PER": 3.0}
    keys = {MEMBERS.get(label, label): factor for label, factor in values.items()}
    model, X = made(family, class_weight=keys)
    other, _ = made(family, class_weight=values)
    given = model.get_params()["class_weight"]
    np.testing.assert_array_equal(
        model.fit(X, targets(family)).coef_, other.fit(X, targets(family)).coef_
    )
    assert model.get_params()["class_weight"] is given and list(given) == list(keys)


def test_members_as_parameters():
    X = SEQUENCES
    model = SegmentTagger(outside=Tag.OUT, random_state=0).fit(X, LABELS)
    assert model.classes_.tolist() == ["O", "PER"] and model.score(X, LABELS) == 1.0
    tagger = SequenceTagger(ignore_label=Tag.OUT, random_state=0).fit(X, LABELS)
    assert tagger.classes_.tolist() == ["B-PER", "I-PER"] and tagger.score(X, LABELS) == 1.0
    tagger = SequenceTagger(allowed_transitions="bio", random_state=0)
    tagger.partial_fit(X, LABELS, classes=list(Tag))
    assert tagger.classes_.tolist() == ["B-PER", "I-PER", "O"]
    states = SequenceTagger(n_states_per_label={Tag.OUT: 2}, random_state=0).fit(X, LABELS)
    assert states.n_states_.tolist() == [1, 1, 2]
    rows = StructSVMClassifier(n_components={Tag.OUT: 2}, random_state=0)
    rows.fit(FAMILIES["rows"][1], targets("rows"))
    assert rows.component_labels_.tolist() == ["B-PER", "I-PER", "O", "O"]
    prior = {"classes_": [Tag.INSIDE, Tag.OUT], "coef_": np.ones((2, 3))}
    near = SequenceTagger(lam=1e6, prior=prior).fit(X, LABELS)
    np.testing.assert_allclose(near.coef_, [[0.0] * 3, [1.0] * 3, [1.0] * 3], atol=1e-3)


@pytest.mark.parametrize("family", ["sequences", "trees", "graphs"])
def test_members_among_what_is_known(family):
    model, X = made(family)
    model.fit(X, targets(family))
    known = [[None, {Tag.OUT, Tag.INSIDE}, Tag.BEGIN], None, None, None]
    plain = [[None, {"O", "I-PER"}, "B-PER"], None, None, None]
    found = model.predict(X, known=known)
    assert same(found, model.predict(X, known=plain)) and found[0][2] == Tag.BEGIN
    if family != "graphs":
        frame = model.explain(X, 0, 1, label=Tag.OUT)
        assert frame.attrs["label"] == "O"


def test_members_in_calibration():
    members = [[MEMBERS[label] for label in item] for item in LABELS]
    tagger = SequenceTagger(lam=0.01, random_state=0)
    fits = [CalibratedTagger(tagger, cv=2).fit(SEQUENCES, y) for y in (LABELS, members)]
    assert fits[1].classes_.tolist() == fits[0].classes_.tolist()
    assert fits[1].log_likelihood_ == fits[0].log_likelihood_
    given = fits[1].span_confidence(SEQUENCES, members)
    assert given.tolist() == fits[0].span_confidence(SEQUENCES, LABELS).tolist()
    np.testing.assert_array_equal(
        fits[1].confidence(SEQUENCES, members), fits[0].confidence(SEQUENCES, LABELS)
    )


def test_members_in_metrics():
    members = [[MEMBERS[label] for label in item] for item in LABELS]
    wrong = [VALUES[np.zeros(len(item), int)].tolist() for item in LABELS]
    for metric in (token_accuracy_score, sequence_accuracy_score, mean_iou_score, span_f1_score,
                   class_accuracy_score):  # fmt: skip
        assert metric(members, LABELS) == 1.0
        assert metric(members, wrong) == metric(LABELS, wrong) < 1.0
    assert token_accuracy_score(members, wrong, ignore_label=Tag.OUT) == 0.0
    sets = [[{Tag.OUT, Tag.BEGIN}, "B-PER", "I-PER"]]
    assert token_accuracy_score(sets, LABELS[:1]) == 1.0
    assert mean_iou_score(members, LABELS, labels=[Tag.OUT]) == 1.0
    for found, expected in zip(iou_scores(members, wrong), iou_scores(LABELS, wrong), strict=True):
        assert found.tolist() == expected.tolist()
    assert spans(members[0]) == spans(LABELS[0])
    assert same(convert_tags(members, "bio", "bioes"), convert_tags(LABELS, "bio", "bioes"))


def test_members_as_groups():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(9, 2)), np.tile([0, 1, 2], 3), np.repeat(list(VALUES), 3)
    members = [MEMBERS[group] for group in groups]
    fits = [RankingSVM(random_state=0).fit(X, y, given) for given in (groups, members)]
    np.testing.assert_array_equal(fits[1].coef_, fits[0].coef_)


# --- parameters by label


@pytest.mark.parametrize("family", WEIGHED)
def test_a_label_that_a_fold_lacks_is_no_error(family):
    names = ["O", "PER"] if family == "segments" else VALUES.tolist()
    weights = dict.fromkeys(names, 2.0)
    model, X = made(family, class_weight=weights | {"B-LOC": 5.0, "LOC": 5.0})
    other, _ = made(family, class_weight=weights)
    model.fit(X, targets(family))  # warnings are errors
    np.testing.assert_array_equal(model.coef_, other.fit(X, targets(family)).coef_)


@pytest.mark.parametrize("family", WEIGHED)
def test_names_that_are_written_otherwise_are_told(family):
    model, X = made(family, class_weight={"O": 1.0, "B_PER": 2.0})
    told = "^class_weight has keys that are no labels in y, 'B_PER', and none for the labels '"
    for fit in (
        model.fit,
        clone(model).partial_fit if family in ("rows", "sequences") else model.fit,
    ):
        with pytest.warns(UserWarning, match=told) as caught:
            fit(X, targets(family))
        assert len(caught) == 1 and caught[0].filename == __file__


def test_other_parameters_by_label():
    X, unknown = SEQUENCES, {"O": 1, "B-PER": 1, "I-PER": 2, "B-LOC": 3}
    tagger = SequenceTagger(n_states_per_label=unknown, random_state=0).fit(X, LABELS)
    assert tagger.n_states_.tolist() == [1, 2, 1]
    rows = StructSVMClassifier(n_components=unknown, random_state=0)
    rows.fit(FAMILIES["rows"][1], targets("rows"))
    assert rows.component_labels_.tolist() == ["B-PER", "I-PER", "I-PER", "O"]
    segments = SegmentTagger(max_length={"PER": 3, "LOC": 2}, random_state=0).fit(X, LABELS)
    assert segments.max_length_.tolist() == [1, 3]
    with pytest.raises(ValueError, match=r"n_states_per_label\['B-LOC'\] is 0, expected a pos"):
        SequenceTagger(n_states_per_label=unknown | {"B-LOC": 0}).fit(X, LABELS)
    for model, y in (
        (SequenceTagger(n_states_per_label={"PER": 2}), LABELS),
        (SegmentTagger(max_length={"B-PER": 4}), LABELS),
    ):
        with pytest.warns(UserWarning, match="has keys that are no labels in y"):
            model.fit(X, y)
    with pytest.warns(UserWarning, match="^n_components has keys that are no labels in y, 'PER'"):
        StructSVMClassifier(n_components={"PER": 2}).fit(FAMILIES["rows"][1], targets("rows"))
    prior = {"classes_": ["PER", "OUT"], "coef_": np.ones((2, 3))}
    with pytest.warns(UserWarning, match=r"^prior\['classes_'\] has labels none of which is in y"):
        SequenceTagger(prior=prior).fit(X, LABELS)


# --- labels that say that there is none


def holes(labels, at, value):
    """Labels with a value in place of some."""
    return [
        [value if (i, t) in at else label for t, label in enumerate(item)]
        for i, item in enumerate(labels)
    ]


HIDDEN = {(0, 1), (1, 3), (3, 0)}


@pytest.mark.parametrize("family", TAGGERS)
def test_labels_of_another_kind_are_ignored(family):
    other, X = made(family, ignore_label="nothing")
    other.fit(X, holes(LABELS, HIDDEN, "nothing"))
    turned = [item[::-1] for item in LABELS]
    right = other.score(X, holes(turned, HIDDEN, "nothing"))
    for value in (-100, "?", float("nan"), 1.5):
        model, _ = made(family, ignore_label=value)
        model.fit(X, holes(LABELS, HIDDEN, value))
        assert model.classes_.tolist() == other.classes_.tolist() == ["B-PER", "I-PER", "O"]
        np.testing.assert_array_equal(model.coef_, other.coef_)
        y = holes(turned, HIDDEN, value)
        assert model.score(X, y) == right < 1.0
        assert model.score(X, [objects(item) for item in y]) == right


def test_ignored_labels_in_metrics_and_calibration():
    y = holes(LABELS, HIDDEN, -100)
    right = holes(LABELS, HIDDEN, "O")
    for metric in (token_accuracy_score, sequence_accuracy_score, mean_iou_score,
                   class_accuracy_score):  # fmt: skip
        assert metric(y, LABELS, ignore_label=-100) == 1.0
        assert metric(y, right, ignore_label=-100) == 1.0
    assert token_accuracy_score(y, holes(LABELS, {(0, 0)}, "x"), ignore_label=-100) == 8 / 9
    sets = [[{"O", "B-PER"}, -100, "I-PER"]]
    assert token_accuracy_score(sets, LABELS[:1], ignore_label=-100) == 1.0
    tagger = SequenceTagger(lam=0.01, random_state=0, ignore_label=-100)
    model = CalibratedTagger(tagger, cv=2).fit(SEQUENCES, y)
    other = CalibratedTagger(clone(tagger).set_params(ignore_label="?"), cv=2)
    other.fit(SEQUENCES, holes(LABELS, HIDDEN, "?"))
    assert model.log_likelihood_ == other.log_likelihood_
    assert model.score(SEQUENCES, y) == 1.0


def test_sets_among_labels_of_which_some_are_ignored():
    y = holes(LABELS, HIDDEN, -100)
    y[1][0] = {"B-PER", "I-PER"}
    model = SequenceTagger(ignore_label=-100, random_state=0).fit(SEQUENCES, y)
    assert model.classes_.tolist() == ["B-PER", "I-PER", "O"]
    y[1][0] = {"B-PER", -100}
    with pytest.raises(ValueError, match=r"^y\[1\]\[0\] is a set with ignore_label=-100 in it"):
        model.fit(SEQUENCES, y)
    y[1][0] = {"B-PER", 3}
    with pytest.raises(TypeError, match=r"y\[1\]\[0\] is .* sort"):
        model.fit(SEQUENCES, y)


@pytest.mark.parametrize(
    ("labels", "ignore_label", "message"),
    [
        (VALUES, -100, r"^y\[0\]\[1\] is '-100', to which ignore_label=-100 is not equal"),
        (np.arange(3), "-100", r"^y\[0\]\[1\] is -100, to which ignore_label='-100' is not"),
    ],
)
def test_numbers_that_have_become_strings_are_told(labels, ignore_label, message):
    given = [labels[numbers].tolist() for numbers in NUMBERS]
    y = [np.array(item) for item in holes(given, HIDDEN, -100)]
    for family in TAGGERS:
        model, X = made(family, ignore_label=ignore_label)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
        assert "classes_" not in vars(model)


# --- tags


def test_tags_without_a_type():
    y = [["B" if tag == "B-PER" else tag[:1] for tag in item] for item in LABELS]
    model = SequenceTagger(allowed_transitions="bio", random_state=0).fit(SEQUENCES, y)
    assert model.classes_.tolist() == ["B", "I", "O"]
    assert model.allowed_start_.tolist() == [True, False, True]
    assert model.allowed_transitions_.tolist() == [[True] * 3, [True] * 3, [True, False, True]]
    assert model.score(SEQUENCES, y) == span_f1_score(y, model.predict(SEQUENCES)) == 1.0
    other = SegmentTagger(random_state=0).fit(SEQUENCES, y)
    assert same(other.predict(SEQUENCES), model.predict(SEQUENCES))
    typed = SequenceTagger(allowed_transitions="bio", random_state=0).fit(SEQUENCES, LABELS)
    np.testing.assert_array_equal(typed.coef_, model.coef_)
    mixed = [["B", "I-PER", "O"][: len(item)] + ["O"] * (len(item) - 3) for item in LABELS]
    with pytest.raises(ValueError, match=r"^y\[0\]\[1\] is I-PER after B"):
        SequenceTagger(allowed_transitions="bio").fit(SEQUENCES, mixed)
    repaired = SequenceTagger(allowed_transitions="bio", on_violation="repair", random_state=0)
    with pytest.warns(UserWarning, match="labels that allowed_transitions does not allow"):
        repaired.fit(SEQUENCES, mixed)


# --- messages


def test_messages_name_the_item_its_token_and_its_value():
    y = [list(item) for item in LABELS]
    y[1][2] = "X-PER"
    fitted = SequenceTagger(allowed_transitions="bio", random_state=0).fit(SEQUENCES, LABELS)
    calibrated = CalibratedTagger(fitted, cv="prefit").fit(SEQUENCES, LABELS)
    sets = [*LABELS[:1], ["B-PER", {"I-PER", "X-PER"}, "O", "O"], *LABELS[2:]]
    huge = [x.tolist() for x in SEQUENCES]
    huge[2][1][0] = 10**400
    mixed = [*LABELS[:3], ["B-PER", 10**400, "O"]]
    bio, other = SequenceTagger(allowed_transitions="bio"), clone(fitted)
    ignoring = clone(bio).set_params(ignore_label=-100)
    step, flat = SequenceTagger().partial_fit, tuple(targets("rows", list, y))
    told = r"^y\[1\]\[2\] has 'X-PER', not among the classes"
    for message, call in (
        (r"^allowed_transitions='bio' .* y\[1\]\[2\] is 'X-PER'$", lambda: bio.fit(SEQUENCES, y)),
        (
            r"^allowed_transitions='bio' .* y\[1\]\[2\] is 'X-PER'$",
            lambda: ignoring.fit(SEQUENCES, holes(y, HIDDEN, -100)),
        ),
        (
            r"^allowed_transitions='bio' .* y\[1\]\[1\] is 'X-PER'$",
            lambda: bio.fit(SEQUENCES, sets),
        ),
        (
            r"^y\[1\]\[2\] is 'X-PER', but labels are O, B-TYPE, I-TYPE$",
            lambda: calibrated.span_confidence(SEQUENCES, y),
        ),
        (r"^y_true\[1\]\[2\] is 'X-PER', but labels are", lambda: span_f1_score(y, LABELS)),
        (r"^y\[1\]\[2\] has 'X-PER', which is no", lambda: calibrated.confidence(SEQUENCES, y)),
        (r"^known\[1\]\[2\] has 'X-PER', which", lambda: fitted.predict(SEQUENCES, known=y)),
        (r"^known\[1\]\[1\] has 'X-PER', which", lambda: fitted.predict(SEQUENCES, known=sets)),
        (told, lambda: other.partial_fit(SEQUENCES, y, classes=VALUES)),
        (told, lambda: step(tuple(SEQUENCES), tuple(map(tuple, y)), classes=tuple(VALUES))),
        (told, lambda: step(SEQUENCES, list(map(objects, y)), classes=VALUES)),
        (told, lambda: TreeTagger().partial_fit(TREES, y, classes=VALUES)),
        (
            r"^y\[5\] has 'X-PER', not among the classes",
            lambda: StructSVMClassifier().partial_fit(FAMILIES["rows"][1], flat, classes=VALUES),
        ),
        (
            r"^X\[2\] must hold numbers, but X\[2\]\[1, 0\] is 10{79}$",
            lambda: fitted.predict(huge),
        ),
        (
            r"^sample_weight must hold numbers, but sample_weight\[2\] is 10{79}$",
            lambda: other.fit(SEQUENCES, LABELS, sample_weight=[1, 1, 10**400, 1]),
        ),
        (
            r"^y\[0\]\[0\] is 'O' but y\[3\]\[1\] is 10{79}: labels must be of types that sort",
            lambda: other.fit(SEQUENCES, mixed),
        ),
        ("^Unknown label type", lambda: StructSVMClassifier().fit([[1.0], [2.0]], [0, 10**400])),
        ("too large", lambda: RankingSVM().fit([[1.0], [2.0]], [0, 10**400])),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def test_labels_that_are_tuples():
    pairs = [[("N", len(label)) for label in item] for item in LABELS]
    model = SequenceTagger(random_state=0).fit(SEQUENCES, pairs)
    assert model.classes_.tolist() == [("N", 1), ("N", 5)]
    other = SequenceTagger(random_state=0)
    other.partial_fit(SEQUENCES, pairs, classes=[("N", 5), ("N", 1), ("V", 0)])
    assert other.classes_.tolist() == [("N", 1), ("N", 5), ("V", 0)]
    with pytest.raises(ValueError, match=r"^y\[0\]\[1\] has \('N', 5\), not among"):
        SequenceTagger().partial_fit(SEQUENCES, pairs, classes=[("N", 1), ("V", 0)])


# --- tools of scikit-learn that make one array of y, as the guide says


def test_what_makes_one_array_of_labels_refuses_them():
    model = SequenceTagger(random_state=0)
    fitted = clone(model).fit(SEQUENCES, LABELS)
    for call in (
        BaggingClassifier(model).fit,
        AdaBoostClassifier(model).fit,
        VotingClassifier([("a", model)]).fit,
        StackingClassifier([("a", model)]).fit,
        CalibratedClassifierCV(model).fit,
        SelfTrainingClassifier(model).fit,
        RFE(model).fit,
        SequentialFeatureSelector(model).fit,
        partial(permutation_importance, fitted),
        partial(cross_val_predict, model, method="decision_function", cv=2),
    ):
        with pytest.raises(ValueError, match="array element with a sequence|legacy multi-label"):
            call(SEQUENCES, LABELS)


# --- long labels


def test_one_long_label_takes_the_room_of_one():
    n, long = 20_000, "x" * 3000
    X = [np.ones((200, 1))] * (n // 200)
    y = [["a", "b"] * 100 for _ in X]
    y[3][5] = long
    model = SequenceTagger(max_iter=1, tol=10, random_state=0)
    flat = np.full(n, "a", dtype=object)
    flat[7] = long
    for call in (
        lambda: model.fit(X, y),
        lambda: model.predict(X),
        lambda: token_accuracy_score(y, y),
        lambda: StructSVMClassifier(max_iter=1, tol=10).fit(np.arange(n)[:, None] % 3.0, flat),
        lambda: SegmentTagger(max_iter=1, tol=10).fit(
            X, [[f"B-{label}" for label in item] for item in y]
        ),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tracemalloc.start()
            call()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 20e6  # as wide as the longest they would take 240e6 bytes
    assert model.classes_.dtype == object and model.classes_.tolist() == ["a", "b", long]


@pytest.mark.parametrize("family", FAMILIES)
def test_long_labels_are_objects_and_others_strings(family):
    names = {label: label if label == "O" else label + "x" * 100 for label in VALUES}
    long = [[names[label] for label in item] for item in LABELS]
    model, X = made(family)
    other, _ = made(family)
    y = targets(family, list, long)
    model.fit(X, y)
    other.fit(X, targets(family))
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert other.classes_.dtype.kind == "U" and model.classes_.dtype == object
    assert all(type(label) is str for label in model.classes_)
    assert model.score(X, y) == 1.0
    wide = targets(family, np.array, long)
    assert wide[0].dtype.itemsize > 400 or family == "rows"
    assert model.score(X, wide) == 1.0
    assert made(family)[0].fit(X, wide).classes_.dtype == object
    if family in ("sequences", "trees"):
        assert len(model.explain(X, 0, 1)) and model.weights_frame(top=1).shape[0]


# --- rankings, kernels


def test_rankings_without_a_pair():
    for y, groups, sample_weight in (
        ([1, 1, 1, 1], None, None),
        ([1, 1, 2, 2], [0, 0, 1, 1], None),
        ([0, 1, 2, 2], [0, 0, 1, 1], [0, 0, 1, 1]),
    ):
        model = RankingSVM()
        with pytest.raises(ValueError, match="^y has no two rows of different grades"):
            model.fit(np.eye(4), y, groups, sample_weight)
        assert "coef_" not in vars(model)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_kernel_matrices_may_differ_in_the_last_bit(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5)) + 3 * np.eye(12, 5)
    y = np.arange(12) % 2
    for scale in (0.01, 1.0, 100.0):
        K = (scale * (X @ X.T)).astype(dtype)
        K = np.triu(K) + np.triu(K, 1).T
        largest = np.unravel_index(np.argmax(K - np.diag(np.full(12, np.inf))), K.shape)
        exact = StructSVMClassifier(kernel="precomputed", random_state=0).fit(K, y)
        K[largest] = np.nextafter(K[largest], dtype(np.inf))
        assert (K != K.T).any()
        model = StructSVMClassifier(kernel="precomputed", random_state=0).fit(K, y)
        if dtype != np.float16:  # of which a kernel matrix is not even positive semi-definite
            assert model.primal_objective_ == pytest.approx(exact.primal_objective_, rel=1e-3)
        K[largest] += dtype(0.1) * np.diagonal(K).max()
        with pytest.raises(ValueError, match="^the kernel matrix is not symmetric: "):
            model.fit(K, y)


# --- masks


SEGMENTS = np.array([[0, 0, 1, 1], [0, 0, 1, 2]])


def pictures(masks):
    graph = SuperpixelGraph(np.eye(3), [[0, 1], [1, 2]], np.ones((2, 1)), SEGMENTS)
    return [graph] * len(masks)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_pixels_without_a_label(dtype):
    mask = np.array([[0, 0, 1, 1], [0, np.nan, 1, np.nan]], dtype=dtype)
    for call in (
        lambda: SegmentationModel().fit(pictures([0]), [mask]),
        lambda: SegmentationModel(ignore_label=9).fit(pictures([0]), [mask]),
        lambda: mean_iou_score([mask], [np.zeros((2, 4))]),
    ):
        with pytest.raises(ValueError, match=r"^y(_true)?\[0\]\[1\]\[1\] is nan: "):
            call()
    with pytest.raises(ValueError, match=r"^mask\[1\]\[1\] is nan: "):
        pictures([0])[0].node_labels(mask)
    model = SegmentationModel(ignore_label=np.nan, random_state=0).fit(pictures([0]), [mask])
    assert model.classes_.tolist() == [0.0, 1.0] and model.score(pictures([0]), [mask]) == 1.0
    labels = pictures([0])[0].node_labels(mask, ignore_label=np.nan)
    assert labels[:2].tolist() == [0.0, 1.0] and np.isnan(float(labels[2]))
    found = mean_iou_score([mask], [np.array([[0, 0, 1, 1], [0, 5, 1, 5]])], ignore_label=np.nan)
    assert found == 1.0
    infinite = np.array([[0, 0, 1, 1], [0, 0, 1, np.inf]])
    with pytest.raises(ValueError, match=r"^y\[0\]\[1\]\[3\] is inf: "):
        SegmentationModel().fit(pictures([0]), [infinite])


def test_pixels_of_another_kind_than_what_is_ignored():
    # objects, and lists of lists, may hold both
    mixed = [["a", "a", "b", "b"], ["a", -1, "b", -1]]
    for mask in (mixed, np.array(mixed, dtype=object)):
        model = SegmentationModel(ignore_label=-1, random_state=0).fit(pictures([0]), [mask])
        assert model.classes_.tolist() == ["a", "b"]
        assert model.score(pictures([0]), [mask]) == 1.0
        labels = pictures([0])[0].node_labels(mask, ignore_label=-1)
        assert labels.tolist() == ["a", "b", -1]
    members = [[Tag.OUT, Tag.OUT, Tag.BEGIN, Tag.BEGIN], [Tag.OUT, Tag.INSIDE] + [Tag.BEGIN] * 2]
    model = SegmentationModel(random_state=0).fit(pictures([0]), [members])
    assert model.classes_.tolist() == ["B-PER", "O"]


def test_pixels_that_do_not_sort():
    mask = [["a", "a", "b", "b"], ["a", 7, "b", "b"]]
    told = r"^y\[0\]\[0\]\[0\] is 'a' but y\[0\]\[1\]\[1\] is 7: labels"
    with pytest.raises(TypeError, match=told):
        SegmentationModel().fit(pictures([0]), [mask])
    flat = SimpleNamespace(**{
        name: getattr(pictures([0])[0], name) for name in ("features", "edges", "edge_features")
    })  # fmt: skip
    with pytest.raises(ValueError, match="does not say by an attribute 'segments'"):
        SegmentationModel().fit([flat], [np.zeros((2, 4))])
