"""What users of other packages, and newcomers, do wrong first, and what they are told."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import SequenceTagger
from sskit.preprocessing import TokenTransformer

DICTS = [[{"w": "the"}, {"w": "dog"}], [{"w": "dogs"}, {"w": "bark"}]]
TAGS = [["D", "N"], ["N", "V"]]
MATRICES = [np.arange(6.0).reshape(3, 2), np.ones((2, 2))]
LABELS = [["a", "b", "a"], ["b", "a"]]


def pipeline(transformer=None):
    inner = DictVectorizer() if transformer is None else transformer
    return make_pipeline(TokenTransformer(inner), SequenceTagger(random_state=0))


@pytest.fixture(scope="module")
def on_dicts():
    return pipeline().fit(DICTS, TAGS)


@pytest.fixture(scope="module")
def on_matrices():
    return SequenceTagger(random_state=0).fit(MATRICES, LABELS)


def test_raw_sentences(on_dicts):
    raw = ["the dog", "dogs bark"]
    for call in (
        lambda: pipeline().fit(raw, TAGS),
        lambda: on_dicts.predict(raw),
        lambda: SequenceTagger().fit(raw, TAGS),
    ):
        with pytest.raises(TypeError, match=r"X\[0\] must be .*raw text has to be split into tok"):
            call()
    with pytest.raises(TypeError, match=r"X\[1\] must be .* got str; raw text has to be split"):
        TokenTransformer(CountVectorizer()).fit([["the", "dog"], "dogs bark"])


def test_a_single_sentence(on_dicts, on_matrices):
    for single in (MATRICES[0], csr_array(MATRICES[0]), pd.DataFrame(MATRICES[0])):
        with pytest.raises(ValueError, match=r"single sequence is given as a list of one, \[X\]"):
            on_matrices.predict(single)
    with pytest.raises(TypeError, match="a single sequence is given as a list of one"):
        on_dicts.predict(DICTS[0])


@pytest.mark.parametrize("value", [None, np.nan, float("inf")])
def test_attributes_without_a_value_are_named(value, on_dicts):
    bad = [DICTS[0], [{"w": "dogs"}, {"w": "bark", "size": value}]]
    with pytest.raises(ValueError, match=r"X\[1\]\[1\]\['size'\] is"):
        pipeline().fit(bad, TAGS)
    transformer = TokenTransformer(DictVectorizer()).fit([[{"size": 1.0}]])
    with pytest.raises(ValueError, match=r"X\[1\]\[1\]\['size'\] is"):
        transformer.transform(bad)


def test_a_weight_of_no_class():
    told = "^class_weight has keys that are no labels in y, 'x', and none .*'label4' and 4 more"
    with pytest.warns(UserWarning, match=told):
        SequenceTagger(class_weight={"x": 2.0}).fit(
            [np.ones((9, 1))], [[f"label{k}" for k in range(9)]]
        )


def test_frames_that_differ():
    frames = [pd.DataFrame(np.ones((2, 40)), columns=[f"{c}{k}" for k in range(40)]) for c in "ab"]
    for other, told in (
        (frames[1], r"columns 'a0', 'a1', 'a2', 'a3', 'a4' and 35 more, unlike X\[0\]"),
        (frames[0].assign(z=1), r"with the columns .*, unlike X\[0\]"),
        (frames[0][frames[0].columns[::-1]], r"with the columns .*, unlike X\[0\]"),
        (np.ones((2, 40)), r"X\[1\] is not a data frame .*, unlike X\[0\]"),
    ):
        with pytest.raises(ValueError, match=told) as caught:
            TokenTransformer(StandardScaler()).fit([frames[0], other])
        assert len(str(caught.value)) < 120
