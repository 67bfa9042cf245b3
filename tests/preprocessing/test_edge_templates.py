"""Features of edges made of attributes of the tokens around them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from sskit.preprocessing import TokenTransformer

WORDS = [["the", "dog", "barks"], ["stop"], ["a", "dog", "barks"]]
DICTS = [[{"w": word, "n": len(word)} for word in sentence] for sentence in WORDS]


def rows(edges, X=DICTS, inner=None):
    """Features of edges by name, of each sequence."""
    transformer = TokenTransformer(inner or DictVectorizer(), edges=edges).fit(X)
    names = transformer.get_edge_feature_names_out()
    found = transformer.transform(X)
    assert isinstance(found, list)
    again = clone(transformer).fit_transform(X)
    return [
        [dict(zip(names[row.nonzero()], row[row.nonzero()].tolist(), strict=True)) for row in part]
        for part, other in zip(
            (z.toarray() for _, z in found), (z.toarray() for _, z in again), strict=True
        )
        if np.array_equal(part, other)
    ]


def test_strings_are_joined():
    assert rows("w[-1]|w[0]") == [
        [{"+w[-1]|w[0]=the|dog": 1.0}, {"+w[-1]|w[0]=dog|barks": 1.0}],
        [],
        [{"+w[-1]|w[0]=a|dog": 1.0}, {"+w[-1]|w[0]=dog|barks": 1.0}],
    ]
    assert rows("+w[-1]|w[0]") == rows(["w[-1]|w[0]"])
    # brackets belong to the attribute but the last
    X = [[{"w[0]": "a"}, {"w[0]": "b"}]]
    assert rows("w[0][-1]|w[0][0]", X)[0] == [{"+w[0][-1]|w[0][0]=a|b": 1.0}]


def test_numbers_are_multiplied_and_missing_terms_leave_out():
    found = rows(["w[0]|n[-1]", "n[-1]|n[0]", "w[-2]", "w[+1]", "other[0]"])
    assert found[0] == [
        {"+w[0]|n[-1]=dog": 3.0, "+n[-1]|n[0]": 9.0, "+w[+1]=barks": 1.0},
        {"+w[0]|n[-1]=barks": 3.0, "+n[-1]|n[0]": 15.0, "+w[-2]=the": 1.0},
    ]


def test_tokens_of_other_kinds():
    lists = [[["w=" + word, "x"] for word in sentence] for sentence in WORDS]
    found = rows(["w[0]", "x[0]"], lists, FeatureHasher(8, input_type="string"))
    assert found[0][0] == {"+w[0]=dog": 1.0, "+x[0]": 1.0}
    assert rows("[-1]", WORDS, CountVectorizer())[2][0] == {"+[-1]=a": 1.0}


def test_unseen_combinations_are_left_out():
    transformer = TokenTransformer(DictVectorizer(), edges="w[-1]|w[0]").fit(DICTS)
    features, edges = transformer.transform([[{"w": "dog"}, {"w": "the"}], []])[0]
    assert edges.shape == (1, 3)
    assert edges.nnz == 0
    assert len(transformer.transform([[], []])) == 2
    assert transformer.transform([DICTS[1]])[0][1].shape == (0, 3)
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(
        again.transform(DICTS)[0][1].toarray(), transformer.transform(DICTS)[0][1].toarray()
    )


def test_bad_templates():
    for edges, message in [
        (3, "edges must be templates such as"),
        ([], "one template or more"),
        (["w[0]", 1], "edges must be templates such as"),
        ("w", r"edges\[0\] is 'w', expected terms such as"),
        ("w[0]|", r"expected terms"),
        ("w[x]", r"expected terms"),
        (["w[0]", "+w[0]"], r"edges\[1\] is '\+w\[0\]', which is there twice"),
        ("z[0]", r"edges='z\[0\]' make no features"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            TokenTransformer(DictVectorizer(), edges=edges).fit(DICTS)
    with pytest.raises(TypeError, match=r"X\[0\]\[0\] is a ndarray: edges are made of tokens"):
        TokenTransformer(StandardScaler(), edges="w[0]").fit([np.ones((3, 2))])
    hasher = TokenTransformer(FeatureHasher(8, input_type="string"), edges="w[0]")
    with pytest.raises(NotFittedError):
        hasher.transform([[["w=a"], ["w=b"]]])
    with pytest.raises(ValueError, match="edges is None"):
        TokenTransformer(DictVectorizer()).fit(DICTS).get_edge_feature_names_out()
