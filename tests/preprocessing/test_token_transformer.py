"""A TokenTransformer does to the tokens what its inner transformer does to rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from helpers.ragged_checks import forms_of
from helpers.refusals import refused
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.utils import get_tags

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.inputs.ragged import stack_sequences
from sskit.inputs.ragged_array import split
from sskit.preprocessing import TokenTransformer
from sskit.utils import RaggedArray

LENGTHS = [3, 1, 4, 2]
OFFSETS = np.cumsum([0, *LENGTHS])
FLAT = np.random.default_rng(0).integers(0, 5, size=(10, 3)).astype(float)
MATRICES = list(split(FLAT, OFFSETS))
WORDS = [["the", "dog", "barks"], ["stop"], ["a", "dog", "is", "it"], ["the", "end"]]
DICTS = [[{"w": word, "n": len(word)} for word in sentence] for sentence in WORDS]
PAIRS = [[["w=" + word, "c=" + word[0]] for word in sentence] for sentence in WORDS]

SCALER = StandardScaler(with_mean=False)


def flatten(sequences):
    return [token for sequence in sequences for token in sequence]


def array(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def test_rows_are_those_of_the_inner_transformer():
    forms = forms_of(MATRICES, sparse=False)
    del forms["float32"]  # as exact as that
    words, pairs = flatten(WORDS), flatten(PAIRS)
    strings, chars = FeatureHasher(16, input_type="string"), CountVectorizer(analyzer="char")
    for inner, X, flat in [
        *((StandardScaler(), X, FLAT) for X in forms.values()),
        (StandardScaler(), FLAT[:8].reshape(4, 2, 3), FLAT[:8]),
        (StandardScaler(), FLAT[:8].reshape(4, 2, 3).astype(object), FLAT[:8]),
        (SCALER, [sp.csr_array(m) for m in MATRICES], sp.csr_array(FLAT)),
        (DictVectorizer(), DICTS, flatten(DICTS)),
        (DictVectorizer(sparse=False), DICTS, flatten(DICTS)),
        (DictVectorizer(), np.array([d[:1] for d in DICTS], dtype=object), [d[0] for d in DICTS]),
        (make_pipeline(DictVectorizer(), SCALER), DICTS, flatten(DICTS)),
        (FeatureHasher(16, input_type="dict"), DICTS, flatten(DICTS)),
        (strings, PAIRS, pairs),
        (strings, [[[], ["a"]]], [[], ["a"]]),
        (FeatureHasher(16, input_type="pair"), [[[("w", 1), (w, 2)] for w in s] for s in WORDS],
         [[("w", 1), (w, 2)] for w in words]),
        (chars, WORDS, words),
        (chars, [np.array(s) for s in WORDS], words),
        (chars, RaggedArray(np.array(words), OFFSETS), words),
        (OneHotEncoder(), PAIRS, pairs),
        (OneHotEncoder(), RaggedArray(np.array(pairs), OFFSETS), pairs),
        (OneHotEncoder(), [[[1, "a"], [2, "b"]], [[1, "b"]]], [[1, "a"], [2, "b"], [1, "b"]]),
    ]:  # fmt: skip
        expected = clone(inner).fit_transform(flat)
        transformer = TokenTransformer(inner)
        found = transformer.fit_transform(X)
        assert isinstance(found, RaggedArray)
        lengths = [x.shape[0] if sp.issparse(x) else len(x) for x in X]
        assert found.lengths.tolist() == lengths
        assert sp.issparse(found.values) == sp.issparse(expected)
        np.testing.assert_allclose(array(found.values), array(expected))
        for again in (transformer.transform(X), TokenTransformer(inner).fit(X).transform(X)):
            np.testing.assert_allclose(array(again.values), array(expected))
        if sp.issparse(found.values):
            assert found.values.indices.dtype == found.values.indptr.dtype == np.int32
            assert stack_sequences(found) is found
        assert not {"vocabulary_", "n_features_in_"} & {*vars(inner)}


def test_data_frames_keep_names_and_types():
    frames = [pd.DataFrame({"word": words, "length": list(map(len, words))}) for words in WORDS]
    inner = make_column_transformer((OneHotEncoder(), ["word"]), (StandardScaler(), ["length"]))
    transformer = TokenTransformer(inner).fit(frames)
    names = transformer.get_feature_names_out()
    assert names[0] == "onehotencoder__word_a"
    assert transformer.n_features_in_ == 2
    assert transformer.transform(frames).values.shape == (10, len(names))


def test_nan_passes_only_to_those_who_allow_it():
    matrices = [matrix.copy() for matrix in MATRICES]
    matrices[2][1, 0] = np.nan
    assert np.isfinite(TokenTransformer(SimpleImputer()).fit_transform(matrices).values).all()
    with pytest.raises(ValueError, match=r"X\[2\] contains NaN at row 1, column 0"):
        TokenTransformer(PCA()).fit(matrices)


def test_pandas_output_of_the_inner_transformer():
    of_pandas = StandardScaler().set_output(transform="pandas")
    for inner, output in ((of_pandas, "default"), (StandardScaler(), "pandas")):
        with sklearn.config_context(transform_output=output):
            found = TokenTransformer(inner).fit_transform(MATRICES)
            assert isinstance(found, RaggedArray) and isinstance(found.values, np.ndarray)
            sparse = TokenTransformer(DictVectorizer()).fit(DICTS).transform(DICTS)
            assert sp.issparse(sparse.values)


def test_a_fit_forgets_the_last():
    transformer = TokenTransformer(StandardScaler()).fit(MATRICES)
    assert transformer.n_features_in_ == 3
    transformer.set_params(transformer=DictVectorizer()).fit(DICTS)
    assert not hasattr(transformer, "n_features_in_")
    new = TokenTransformer(DictVectorizer(), edges="w[0]")
    names = new.get_feature_names_out, new.get_edge_feature_names_out
    for call in (lambda: new.transform(DICTS), *names):
        with pytest.raises(NotFittedError):
            call()


FRAME, WIDE = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame(np.ones((2, 40))).add_prefix("a")


def test_bad_sequences():
    for inner, X, error, message in [
        (DictVectorizer(), [], ValueError, r"0 sample\(s\)"),
        (StandardScaler(), FLAT, ValueError, "X must be a list with one matrix"),
        (DictVectorizer(), [[{"a": 1}], {"a": 1}], TypeError, r"X\[1\] must be a sequence of tok"),
        (DictVectorizer(), [{"a": 1}], TypeError, r"X\[0\] must be a matrix .* got dict"),
        (DictVectorizer(), [[{"a": 1}], "a"], TypeError, r"X\[1\] must be a seq.* got str"),
        (DictVectorizer(), [[{"a": 1}], ["b"]], TypeError, r"X\[1\]\[0\] is a str but .* a dict"),
        (CountVectorizer(), [["a"], ["b", None]], TypeError, r"X\[1\]\[1\] is a NoneType"),
        (StandardScaler(), [FRAME, FLAT], ValueError, r"X\[1\] is not a data frame"),
        (StandardScaler(), [FRAME, FRAME[["a"]]], ValueError, r"X\[1\] .* 'a', 'b', unlike X\[0"),
        (StandardScaler(), [WIDE, WIDE.add_prefix("b")], ValueError, "'a4' and 35 more, unlike"),
        (CountVectorizer(), [["the", "dog"], "dogs bark"], TypeError, "got str; raw text has to"),
        (StandardScaler(), [FRAME[:0], FRAME[:0]], ValueError, r"X\[0\] is empty"),
        (StandardScaler(), [FLAT[:0], FLAT[:0]], ValueError, "empty"),
    ]:  # fmt: skip
        for method in ("fit", "fit_transform"):
            transformer = TokenTransformer(inner)
            with refused(transformer, error, message):
                getattr(transformer, method)(X)


@pytest.mark.realdata
def test_conll_attributes_have_the_published_size():
    from helpers.real_data import load_conll2000

    sentences = load_conll2000("train", attributes=True)
    found = TokenTransformer(DictVectorizer()).fit_transform(sentences.data)
    assert found.values.shape == (211_727, 335_674)
    assert found.values.nnz == 3_808_439
    assert found.values.max() == found.values.min() + 1 == 1


def test_labels_reach_the_inner_transformer():
    X, y = make_chains(20, random_state=0)
    X = [np.abs(x) for x in X]
    found = TokenTransformer(SelectKBest(chi2, k=3)).fit_transform(X, y)
    expected = SelectKBest(chi2, k=3).fit_transform(np.concatenate(X), np.concatenate(y))
    np.testing.assert_allclose(found.values, expected)
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), SequenceTagger(random_state=0))
    grid = {"tokentransformer__transformer__with_mean": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(stack_sequences(X), y)
    assert search.best_score_ > 0.7
    with pytest.raises(ValueError, match="y"):
        TokenTransformer(SelectKBest(k=1)).fit(MATRICES, [[0]])
    with pytest.raises(ValueError, match=r"X\[3\] has 2 rows but y\[3\] has 1 labels"):
        TokenTransformer(TargetEncoder()).fit(MATRICES, [[0] * 3, [1], [0] * 4, [1]])


def test_transformers_of_ones_own():
    class Plain(BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X + X.shape[1]

    found = TokenTransformer(Plain()).fit_transform(MATRICES)
    np.testing.assert_array_equal(found.values, FLAT + 3)
    assert not hasattr(TokenTransformer(Plain()), "get_feature_names_out")
    needed = "transformer must be an object with fit and transform"
    for error, message, *wrong in (
        (TypeError, needed, None, "passthrough", 5, LogisticRegression(), StandardScaler),
        (
            ValueError,
            r"returned shape \(9, 3\) for 10 tokens",
            FunctionTransformer(lambda X: X[1:]),
        ),
        (ValueError, r"returned shape \(30,\)", FunctionTransformer(np.ravel)),
    ):
        for inner in wrong:
            with pytest.raises(error, match=message):
                TokenTransformer(inner).fit_transform(MATRICES)
    tags, of_dicts = (get_tags(TokenTransformer(t)) for t in (SCALER, DictVectorizer()))
    assert not tags.input_tags.two_d_array and tags.input_tags.three_d_array
    assert tags.input_tags.sparse and of_dicts.input_tags.dict
    assert not hasattr(TokenTransformer(StandardScaler()), "set_output")


def rows(edges, X=DICTS, inner=None):
    """Features of edges by name, of each sequence."""
    transformer = TokenTransformer(inner or DictVectorizer(), edges=edges).fit(X)
    names = transformer.get_edge_feature_names_out()
    found = transformer.transform(X)
    assert isinstance(found, list)
    parts = [z.toarray() for _, z in found]
    again = clone(transformer).fit_transform(X)
    assert all(np.array_equal(part, z.toarray()) for part, (_, z) in zip(parts, again, strict=True))
    return [
        [{names[j]: row[j] for j in np.flatnonzero(row)} for row in part.tolist()] for part in parts
    ]


def test_strings_are_joined():
    pairs = [["the|dog", "dog|barks"], [], ["a|dog", "dog|is", "is|it"], ["the|end"]]
    for edges in ("w[-1]|w[0]", "+w[-1]|w[0]", ["w[-1]|w[0]"]):
        assert rows(edges) == [[{f"+w[-1]|w[0]={w}": 1.0} for w in sentence] for sentence in pairs]
    # brackets belong to the attribute but the last
    X = [[{"w[0]": "a"}, {"w[0]": "b"}]]
    assert rows("w[0][-1]|w[0][0]", X)[0] == [{"+w[0][-1]|w[0][0]=a|b": 1.0}]


def test_numbers_are_multiplied_and_missing_terms_leave_out():
    found = rows(["w[0]|n[-1]", "n[-1]|n[0]", "w[-2]", "w[+1]", "other[0]"])
    assert found[0] == [
        {"+w[0]|n[-1]=dog": 3.0, "+n[-1]|n[0]": 9.0, "+w[+1]=barks": 1.0},
        {"+w[0]|n[-1]=barks": 3.0, "+n[-1]|n[0]": 15.0, "+w[-2]=the": 1.0},
    ]
    # tokens of other kinds
    lists = [[["w=" + word, "x"] for word in sentence] for sentence in WORDS]
    found = rows(["w[0]", "x[0]"], lists, FeatureHasher(8, input_type="string"))
    assert found[0][0] == {"+w[0]=dog": 1.0, "+x[0]": 1.0}
    assert rows("[-1]", WORDS, CountVectorizer())[2][0] == {"+[-1]=a": 1.0}


def test_unseen_combinations_are_left_out():
    transformer = TokenTransformer(DictVectorizer(), edges="w[-1]|w[0]").fit(DICTS)
    for same in (transformer, pickle.loads(pickle.dumps(transformer))):
        (_, edges), (_, none), _ = same.transform([[{"w": "dog"}, {"w": "the"}], DICTS[1], []])
        assert edges.shape == (1, 6) and edges.nnz == 0 and none.shape == (0, 6)
        assert len(same.transform([[], []])) == 2


def test_bad_edge_templates():
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
    with pytest.raises(ValueError, match="edges is None"):
        TokenTransformer(DictVectorizer()).fit(DICTS).get_edge_feature_names_out()
