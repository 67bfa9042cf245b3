"""Labels of unusual kinds, across the estimators and metrics that they can meet."""

import re
import tracemalloc
import warnings
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from helpers import families
from helpers.crossing import in_turn
from sklearn.base import clone

import sskit
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


OF_MEMBERS = [[MEMBERS[label] for label in item] for item in LABELS]
FAMILIES = {
    "rows": {},
    "sequences": {},
    "second order": {},
    "hidden states": {"n_states_per_label": 2},
    "segments": {},
    "trees": {},
    "trees, hidden states": {"n_states_per_label": 2},
    "graphs": {},
    "segmentation": {},
}
TAGGERS = ("sequences", "trees", "graphs", "segmentation")
WEIGHED = ("rows", "sequences", "segments", "trees")


def made(family, y=LABELS, kind=list, **given):
    """An estimator and data of a family, with labels of which `kind` makes each sample."""
    of = {"hidden states": "sequences", "trees, hidden states": "trees"}.get(family, family)
    model, X, y = families.make(
        of, SEQUENCES, y, random_state=0, lam=0.01, **FAMILIES[family] | given
    )
    return model, X, kind(y) if family == "rows" else [kind(item) for item in y]


def same(predicted, other):
    return all(map(np.array_equal, predicted, other))


def objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


KINDS = {"list": list, "tuple": tuple, "objects": objects, "series": pd.Series}


@pytest.mark.parametrize("family", FAMILIES)
def test_members_of_enumerations_are_their_values(family):
    plain, X, y = made(family)
    plain.fit(X, y)
    for kind in [kind for name, kind in in_turn(FAMILIES, KINDS, 2) if name == family]:
        model, _, members = made(family, OF_MEMBERS, KINDS[kind])
        model.fit(X, members)
        assert model.classes_.tolist() == plain.classes_.tolist()
        assert all(type(label) is str for label in model.classes_.tolist())
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        assert same(model.predict(X), plain.predict(X))
        assert model.score(X, members) == plain.score(X, y) == 1.0


@pytest.mark.parametrize("family", WEIGHED)
def test_keys_of_weights(family):
    """Members stand for their values, and labels that a fold lacks are no error; others are."""
    names = ["PER"] if family == "segments" else ["B-PER", "I-PER"]
    values = {"O": 0.5} | dict.fromkeys(names, 3.0)
    keys = {MEMBERS.get(label, label): factor for label, factor in values.items()}
    keys |= {"B-LOC": 5.0, "LOC": 5.0}
    (model, X, y), (other, *_) = made(family, class_weight=keys), made(family, class_weight=values)
    np.testing.assert_array_equal(model.fit(X, y).coef_, other.fit(X, y).coef_)
    assert model.get_params()["class_weight"] is keys
    other.set_params(class_weight={"O": 1.0, "B_PER": 2.0})
    told = "^class_weight has keys that are no labels in y, 'B_PER', and none for the labels '"
    steps = [clone(other).partial_fit] if family in ("rows", "sequences") else []
    for fit in (other.fit, *steps):
        with pytest.warns(UserWarning, match=told) as caught:
            fit(X, y)
        assert len(caught) == 1 and caught[0].filename == __file__


def test_members_as_parameters():
    X = SEQUENCES
    model = sskit.SegmentTagger(outside=Tag.OUT, random_state=0).fit(X, LABELS)
    assert model.classes_.tolist() == ["O", "PER"] and model.score(X, LABELS) == 1.0
    tagger = sskit.SequenceTagger(ignore_label=Tag.OUT, random_state=0).fit(X, LABELS)
    assert tagger.classes_.tolist() == ["B-PER", "I-PER"] and tagger.score(X, LABELS) == 1.0
    tagger = sskit.SequenceTagger(allowed_transitions="bio", random_state=0)
    tagger.partial_fit(X, LABELS, classes=list(Tag))
    assert tagger.classes_.tolist() == ["B-PER", "I-PER", "O"]
    prior = {"classes_": [Tag.INSIDE, Tag.OUT], "coef_": np.ones((2, 3))}
    near = sskit.SequenceTagger(lam=1e6, prior=prior).fit(X, LABELS)
    np.testing.assert_allclose(near.coef_, [[0.0] * 3, [1.0] * 3, [1.0] * 3], atol=1e-3)
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(9, 2)), np.tile([0, 1, 2], 3), np.repeat(list(VALUES), 3)
    members = [MEMBERS[group] for group in groups]
    fits = [sskit.RankingSVM(random_state=0).fit(X, y, given) for given in (groups, members)]
    np.testing.assert_array_equal(fits[1].coef_, fits[0].coef_)


@pytest.mark.parametrize("family", ["sequences", "trees", "graphs"])
def test_members_among_what_is_known(family):
    model, X, y = made(family)
    model.fit(X, y)
    known = [[None, {Tag.OUT, Tag.INSIDE}, Tag.BEGIN], None, None, None]
    plain = [[None, {"O", "I-PER"}, "B-PER"], None, None, None]
    found = model.predict(X, known=known)
    assert same(found, model.predict(X, known=plain)) and found[0][2] == Tag.BEGIN
    if family != "graphs":
        assert model.explain(X, 0, 1, label=Tag.OUT).attrs["label"] == "O"


def test_members_and_ignored_labels_in_calibration():
    tagger = sskit.SequenceTagger(lam=0.01, random_state=0)
    fits = [sskit.CalibratedTagger(tagger, cv=2).fit(SEQUENCES, y) for y in (LABELS, OF_MEMBERS)]
    assert fits[1].classes_.tolist() == fits[0].classes_.tolist()
    assert fits[1].log_likelihood_ == fits[0].log_likelihood_
    for ask in (sskit.CalibratedTagger.span_confidence, sskit.CalibratedTagger.confidence):
        np.testing.assert_array_equal(
            ask(fits[1], SEQUENCES, OF_MEMBERS), ask(fits[0], SEQUENCES, LABELS)
        )
    fits = [
        sskit.CalibratedTagger(clone(tagger).set_params(ignore_label=value), cv=2).fit(
            SEQUENCES, holes(LABELS, HIDDEN, value)
        )
        for value in (-100, "?")
    ]
    assert fits[0].log_likelihood_ == fits[1].log_likelihood_


def test_members_in_metrics():
    """What is ignored, and sets of labels, are in tests/test_metrics.py."""
    wrong = [VALUES[np.zeros(len(item), int)].tolist() for item in LABELS]
    for metric in (token_accuracy_score, sequence_accuracy_score, mean_iou_score,
                   class_accuracy_score, span_f1_score):  # fmt: skip
        assert metric(OF_MEMBERS, LABELS) == 1.0
        assert metric(OF_MEMBERS, wrong) == metric(LABELS, wrong) < 1.0
    assert token_accuracy_score(OF_MEMBERS, wrong, ignore_label=Tag.OUT) == 0.0
    sets = [[{Tag.OUT, Tag.BEGIN}, -100, "I-PER"]]
    assert token_accuracy_score(sets, LABELS[:1], ignore_label=-100) == 1.0
    assert mean_iou_score(OF_MEMBERS, LABELS, labels=[Tag.OUT]) == 1.0
    assert same(iou_scores(OF_MEMBERS, wrong), iou_scores(LABELS, wrong))
    assert spans(OF_MEMBERS[0]) == spans(LABELS[0])
    assert same(convert_tags(OF_MEMBERS, "bio", "bioes"), convert_tags(LABELS, "bio", "bioes"))


def test_other_parameters_by_label():
    unknown = {Tag.OUT: 1, "B-PER": 1, Tag.INSIDE: 2, "B-LOC": 3}
    tagger, X, y = made("sequences", n_states_per_label=unknown)
    assert tagger.fit(X, y).n_states_.tolist() == [1, 2, 1]
    rows, *of_rows = made("rows", n_components=unknown)
    assert rows.fit(*of_rows).component_labels_.tolist() == ["B-PER", "I-PER", "I-PER", "O"]
    segments, *_ = made("segments", max_length={"PER": 3, "LOC": 2})
    assert segments.fit(X, y).max_length_.tolist() == [1, 3]
    keys = "has keys that are no labels in y"
    prior = {"classes_": ["PER", "OUT"], "coef_": np.ones((2, 3))}
    for family, given, told in (
        ("sequences", {"n_states_per_label": {"PER": 2}}, keys),
        ("segments", {"max_length": {"B-PER": 4}}, keys),
        ("rows", {"n_components": {"PER": 2}}, f"n_components {keys}, 'PER'"),
        ("sequences", {"prior": prior}, "prior['classes_'] has labels none of which is in y"),
    ):
        model, X, y = made(family, **given)
        with pytest.warns(UserWarning, match=re.escape(told)):
            model.fit(X, y)


def holes(labels, at, value):
    """Labels with a value in place of some."""
    return [
        [value if (i, t) in at else label for t, label in enumerate(item)]
        for i, item in enumerate(labels)
    ]


HIDDEN = {(0, 1), (1, 3), (3, 0)}


@pytest.mark.parametrize("family", TAGGERS)
def test_labels_of_another_kind_are_ignored(family):
    other, X, y = made(family, holes(LABELS, HIDDEN, "nothing"), ignore_label="nothing")
    other.fit(X, y)
    turned = [item[::-1] for item in LABELS]
    right = other.score(X, holes(turned, HIDDEN, "nothing"))
    for value in (-100, "?", float("nan"), 1.5):
        model, _, y = made(family, holes(LABELS, HIDDEN, value), ignore_label=value)
        model.fit(X, y)
        assert model.classes_.tolist() == ["B-PER", "I-PER", "O"]
        np.testing.assert_array_equal(model.coef_, other.coef_)
        y = holes(turned, HIDDEN, value)
        assert model.score(X, y) == model.score(X, [*map(objects, y)]) == right < 1.0


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
        model, X, _ = made(family, ignore_label=ignore_label)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
        assert "classes_" not in vars(model)


def test_messages_name_the_item_its_token_and_its_value():
    X, y, many = SEQUENCES, [list(item) for item in LABELS], 10**400
    y[1][2] = "X-PER"
    fitted = sskit.SequenceTagger(allowed_transitions="bio", random_state=0).fit(X, LABELS)
    calibrated = sskit.CalibratedTagger(fitted, cv="prefit").fit(X, LABELS)
    bio, other = sskit.SequenceTagger(allowed_transitions="bio"), clone(fitted)
    sets = [*LABELS[:1], ["B-PER", {"I-PER", "X-PER"}, "O", "O"], *LABELS[2:]]
    pairs, known = [[("N", len(label)) for label in item] for item in LABELS], [("N", 1), ("V", 0)]
    mixed = [*LABELS[:3], ["B-PER", many, "O"]]
    step, told = (
        sskit.SequenceTagger().partial_fit,
        r"^y\[1\]\[2\] has 'X-PER', not among the classes",
    )
    bad = r"^allowed_transitions='bio' .* y\[1\]\[1\] is 'X-PER'$"
    for message, call in (
        (bad, lambda: bio.fit(X, sets)),
        (r"^y\[1\]\[2\] is 'X-PER', but labels are O, B-TYPE, I-TYPE$",
         lambda: calibrated.span_confidence(X, y)),
        (r"^y\[1\]\[2\] has 'X-PER', which is no", lambda: calibrated.confidence(X, y)),
        (told, lambda: step(tuple(X), tuple(map(tuple, y)), classes=tuple(VALUES))),
        (r"^y\[0\]\[1\] has \('N', 5\), not among", lambda: step(X, pairs, classes=known)),
        (r"^y\[0\]\[0\] is 'O' but y\[3\]\[1\] is 10{79}: labels must be of types that sort",
         lambda: other.fit(X, mixed)),
        ("^Unknown label type", lambda: sskit.StructSVMClassifier().fit([[1.0], [2.0]], [0, many])),
        ("too large", lambda: sskit.RankingSVM().fit([[1.0], [2.0]], [0, many])),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def test_one_long_label_takes_the_room_of_one():
    n, long, once = 20_000, "x" * 3000, {"max_iter": 1, "tol": 10, "random_state": 0}
    X = [np.ones((200, 1))] * (n // 200)
    y = [["a", "b"] * 100 for _ in X]
    y[3][5] = long
    model, flat = sskit.SequenceTagger(**once), np.array(sum(y, []), dtype=object)
    tags = [[f"B-{label}" for label in item] for item in y]
    for call in (
        lambda: model.fit(X, y),
        lambda: model.predict(X),
        lambda: token_accuracy_score(y, y),
        lambda: sskit.StructSVMClassifier(**once).fit(np.arange(n)[:, None] % 3.0, flat),
        lambda: sskit.SegmentTagger(**once).fit(X, tags),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tracemalloc.start()
            call()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 20e6  # as wide as the longest they would take 240e6 bytes
    assert model.classes_.dtype == object and model.classes_.tolist() == ["a", "b", long]
    assert len(model.explain(X, 0, 1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_kernel_matrices_may_differ_in_the_last_bit(dtype):
    X, y = np.random.default_rng(0).normal(size=(12, 5)) + 3 * np.eye(12, 5), np.arange(12) % 2
    for scale in (0.01, 1.0, 100.0):
        K = (scale * (X @ X.T)).astype(dtype)
        K = np.triu(K) + np.triu(K, 1).T
        largest = np.unravel_index(np.argmax(K - np.diag(np.full(12, np.inf))), K.shape)
        K[largest] = np.nextafter(K[largest], dtype(np.inf))
        assert (K != K.T).any()
        model = sskit.StructSVMClassifier(kernel="precomputed", random_state=0).fit(K, y)
        K[largest] += dtype(0.1) * np.diagonal(K).max()
        with pytest.raises(ValueError, match="^the kernel matrix is not symmetric: "):
            model.fit(K, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_pixels_without_a_label(dtype):
    mask = np.array([[0, 0, 1, 1], [0, np.nan, 1, np.nan]], dtype=dtype)
    segments = np.array([[0, 0, 1, 1], [0, 0, 1, 2]])
    images = [SuperpixelGraph(np.eye(3), [[0, 1], [1, 2]], np.ones((2, 1)), segments)]
    infinite = np.array([[0, 0, 1, 1], [0, 0, 1, np.inf]])
    model = sskit.SegmentationModel(random_state=0)
    for call, message in (
        (lambda: sskit.SegmentationModel().fit(images, [mask]), r"^y\[0\]\[1\]\[1\] is nan: "),
        (
            lambda: sskit.SegmentationModel(ignore_label=9).fit(images, [mask]),
            r"^y\[0\]\[1\]\[1\] is n",
        ),
        (lambda: mean_iou_score([mask], [np.zeros((2, 4))]), r"^y_true\[0\]\[1\]\[1\] is nan: "),
        (lambda: images[0].node_labels(mask), r"^mask\[1\]\[1\] is nan: "),
        (lambda: sskit.SegmentationModel().fit(images, [infinite]), r"^y\[0\]\[1\]\[3\] is inf: "),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    model.set_params(ignore_label=np.nan).fit(images, [mask])
    assert model.classes_.tolist() == [0.0, 1.0] and model.score(images, [mask]) == 1.0
    labels = images[0].node_labels(mask, ignore_label=np.nan)
    assert labels[:2].tolist() == [0.0, 1.0] and np.isnan(float(labels[2]))


def test_tags_without_a_type_and_labels_that_are_tuples():
    y = [["B" if tag == "B-PER" else tag[:1] for tag in item] for item in LABELS]
    model = sskit.SequenceTagger(allowed_transitions="bio", random_state=0).fit(SEQUENCES, y)
    assert model.allowed_start_.tolist() == [True, False, True]
    assert model.allowed_transitions_.tolist() == [[True] * 3, [True] * 3, [True, False, True]]
    assert model.score(SEQUENCES, y) == span_f1_score(y, model.predict(SEQUENCES)) == 1.0
    other = sskit.SegmentTagger(random_state=0).fit(SEQUENCES, y)
    assert same(other.predict(SEQUENCES), model.predict(SEQUENCES))
    mixed = [["B", "I-PER", "O"][: len(item)] + ["O"] * (len(item) - 3) for item in LABELS]
    with pytest.raises(ValueError, match=r"^y\[0\]\[1\] is I-PER after B"):
        model.fit(SEQUENCES, mixed)
    with pytest.warns(UserWarning, match="labels that allowed_transitions does not allow"):
        model.set_params(on_violation="repair").fit(SEQUENCES, mixed)
    pairs = [[("N", len(label)) for label in item] for item in LABELS]
    classes = [("N", 1), ("N", 5)]
    assert sskit.SequenceTagger(random_state=0).fit(SEQUENCES, pairs).classes_.tolist() == classes
    other = sskit.SequenceTagger(random_state=0)
    other.partial_fit(SEQUENCES, pairs, classes=[("V", 0), *classes[::-1]])
    assert other.classes_.tolist() == [*classes, ("V", 0)]
