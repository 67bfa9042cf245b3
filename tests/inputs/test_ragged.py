"""The ragged array is a list to scikit-learn, and validation names what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import long_indices
from helpers.ragged_checks import forms_of
from sklearn.model_selection import train_test_split
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from sskit.inputs.ragged import stack_labels, stack_sequences
from sskit.inputs.ragged_array import split
from sskit.utils import RaggedArray


def dense(lengths, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 3, size=(length, p)).astype(float) for length in lengths]


def same(a, b):
    a, b = (x.toarray() if sp.issparse(x) else x for x in (a, b))
    np.testing.assert_array_equal(a, b)


def all_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        same(one, other)


KINDS = {"dense": lambda x: x, "csr": sp.csr_array, "labels": lambda x: x[:, 0].astype(int)}


def ragged(lengths, kind):
    pieces = dense(lengths)
    array = RaggedArray(KINDS[kind](np.concatenate(pieces)), np.cumsum([0, *lengths]))
    return [piece[:, 0] if kind == "labels" else piece for piece in pieces], array


@pytest.mark.parametrize("kind", KINDS)
def test_is_a_list(kind):
    pieces, array = ragged([2, 1, 4, 3], kind)
    assert len(array) == 4 and array.shape == (4,) and array.ndim == 1
    assert array.lengths.tolist() == [2, 1, 4, 3]
    assert _num_samples(array) == 4
    assert indexable(array, pieces)[0] is array
    all_same(array, pieces)
    all_same((array[i] for i in range(4)), pieces)
    all_same((array[np.int64(i - 4)] for i in range(4)), pieces)
    for key in (
        slice(1, 3), slice(None, None, -2), slice(3, 1), slice(None), [2, 0, 2], [],
        np.array([-1, 1]), np.array([True, False, True, False]), [False, False, False, True],
        (np.array([3, 0]), Ellipsis), (slice(0, 2), Ellipsis),
    ):  # fmt: skip
        plain = key[0] if isinstance(key, tuple) else key
        found = array[key]
        assert isinstance(found, RaggedArray)
        all_same(found, [pieces[i] for i in np.arange(4)[plain]])
    for key in (
        4, -5, [0, 4], [-5], [True, False], [0.5], "a", None, [[0]], (0, 1), (0, 1, 2), True,
    ):  # fmt: skip
        with pytest.raises(IndexError):
            array[key]
    again = pickle.loads(pickle.dumps(array))
    assert repr(again) == repr(array) and len(repr(array)) < 100
    all_same(again, pieces)
    train, _, which, _ = train_test_split(array, np.arange(4), random_state=0)
    all_same(train, [pieces[i] for i in which])
    objects = np.asarray(array)
    assert objects.shape == (4,)
    same(objects[1], pieces[1])
    with pytest.raises(TypeError, match="array of objects"):
        np.asarray(array, dtype=float)


def test_is_read_only_and_shares_memory():
    offsets = np.array([0, 2], dtype=np.int64)
    array = RaggedArray(np.zeros((2, 1)), offsets)
    for name in ("values", "offsets", "lengths", "shape"):
        with pytest.raises(AttributeError):
            setattr(array, name, None)
    with pytest.raises(ValueError, match="read-only"):
        array.offsets[0] = 1
    offsets[1] = 7
    assert array.offsets[1] == 2
    for kind in ("dense", "csr"):
        _, array = ragged([2, 3], kind)
        for part in (array[1], array[:1].values):
            memory = part.data if kind == "csr" else part
            assert np.shares_memory(memory, getattr(array.values, "data", array.values))
        assert stack_sequences(array) is array
    # empty sequences and no sequences are held
    array = RaggedArray(np.zeros((2, 1)), [0, 0, 2])
    assert array[0].shape == (0, 1) and len(array[:0]) == 0
    assert array[[0]].values.shape == (0, 1)
    for message, values, *wrong in [
        (r"start with 0, never fall and end with 3, .* got \[", np.ones((3, 1)), [0, 2], [1, 3],
         [0, 2, 1, 3]),
        ("must be integers", np.ones((3, 1)), [], [0.0, 3.0], [[0, 3]]),
        ("3 dimensions", np.zeros((3, 1, 1)), [0, 3]),
        ("0 dimensions", np.float64(3), [0, 3]),
    ]:  # fmt: skip
        for offsets in wrong:
            with pytest.raises(ValueError, match=message):
                RaggedArray(values, offsets)


def test_forms_of_dense_sequences():
    pieces = dense([2, 1, 4])
    forms = forms_of(pieces, sparse=False)
    del forms["float32"]  # stays what it is
    for X in (
        *forms.values(),
        split(np.concatenate(pieces), [0, 2, 3, 7]),
        [tuple(map(tuple, piece)) for piece in pieces],
        [piece.astype(object) for piece in pieces],
        [piece.repeat(2, axis=1)[:, ::2] for piece in pieces],
        [pd.DataFrame({0: p[:, 0].astype(int), 1: p[:, 1], 2: p[:, 2]}) for p in pieces],
        [pieces[0].astype(int), pieces[1].tolist(), pd.DataFrame(pieces[2])],
        RaggedArray(np.asfortranarray(np.concatenate(pieces).astype(np.uint8)), [0, 2, 3, 7]),
    ):
        stacked = stack_sequences(X)
        assert stacked.values.dtype == np.float64 and stacked.values.flags.c_contiguous
        assert stacked.offsets.tolist() == [0, 2, 3, 7]
        same(stacked.values, np.concatenate(pieces))
    cube = np.arange(24.0).reshape(2, 3, 4)
    assert np.shares_memory(stack_sequences(cube).values, cube)
    for X in (cube, cube.astype(object), cube.astype(np.uint8)):
        stacked = stack_sequences(X)
        assert stacked.offsets.tolist() == [0, 3, 6]
        same(stacked.values, cube.reshape(6, 4))
    copies = [piece.copy() for piece in pieces]
    stack_sequences(copies).values[:] = -1
    all_same(copies, pieces)


def test_forms_of_sparse_sequences():
    pieces = dense([2, 1, 4])
    for X in (
        *([form(piece) for piece in pieces] for form in
          (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array)),
        [sp.csr_array(piece.astype(np.int8)) for piece in pieces],
        [pieces[0], sp.csr_array(pieces[1]), pieces[2].tolist()],
        list(stack_sequences([sp.csr_array(piece) for piece in pieces])),
    ):  # fmt: skip
        found = stack_sequences(X).values
        assert sp.issparse(found) and found.format == "csr" and found.dtype == np.float64
        assert found.indices.dtype == found.indptr.dtype == np.int32
        assert found.has_canonical_format
        same(found, np.concatenate(pieces))
    same(stack_sequences([sp.csr_array([[True, False]])]).values, np.array([[1.0, 0.0]]))
    # duplicates are summed in a copy
    piece = sp.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    for X in ([piece], RaggedArray(piece, [0, 1])):
        stacked = stack_sequences(X).values
        same(stacked, np.array([[1.0, 2.0]]))
        assert stacked.nnz == 2
    assert piece.nnz == 3 and piece.indices.tolist() == [1, 0, 1]
    # wide indices are read where they lie, and kept if they have to be
    piece = long_indices(np.eye(3))
    assert stack_sequences([piece, piece]).values.indices.dtype == np.int32
    assert stack_sequences(RaggedArray(piece, [0, 1, 3])).values is piece
    piece = sp.csr_array(([1.0], ([0], [2**40])), shape=(1, 2**41))
    stacked = stack_sequences([piece, piece]).values
    assert stacked.indices.dtype == stacked.indptr.dtype == np.int64
    assert stacked.indices.tolist() == [2**40] * 2


OK = np.zeros((2, 5))
NAN = np.where(np.arange(10).reshape(2, 5) == 8, np.nan, 0.0)
INF = sp.csr_array(np.array([[0, 0, 0, 0, 1], [0, 0, 2, 0, -np.inf]]))


def test_number_of_features_and_broken_matrices():
    assert len(stack_sequences([OK], n_features=5)) == 1
    message = "^data has 5 features, but Tagger is expecting 4 features as input"
    with pytest.raises(ValueError, match=message):
        stack_sequences([OK], name="data", n_features=4, estimator_name="Tagger")
    assert np.isnan(stack_sequences([NAN], allow_nan=True).values).sum() == 1
    stack_sequences([np.full((2, 2), 1e308)])
    far = -(2**31)  # its difference to what is before overflows
    for indices, indptr in (
        ([0, 9], [0, 1, 2]),
        ([0, -1], [0, 1, 2]),
        ([0, 1], [0, 2, 1]),
        ([1, 0], [0, 2, far]),
    ):
        piece = sp.csr_array(([1.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, 5))
        piece.indices[:], piece.indptr[:] = indices, indptr
        for X in ([sp.csr_array(OK), piece], RaggedArray(piece, [0, 2])):
            with pytest.raises(ValueError, match=r"X(\[1\])? is a broken CSR matrix"):
                stack_sequences(X)
    for kind, break_it in (
        (sp.csc_array, lambda piece: piece.indptr.__setitem__(-1, far)),
        (sp.coo_array, lambda piece: piece.row.__setitem__(0, -3)),
        (sp.lil_array, lambda piece: piece.rows.__setitem__(1, [9])),
        (sp.lil_array, lambda piece: piece.data.__setitem__(1, [1.0, 2.0])),
    ):
        piece = kind(np.eye(2, 5))
        break_it(piece)
        with pytest.raises(ValueError, match=rf"X\[0\] is a broken {piece.format.upper()} matrix"):
            stack_sequences([piece])
        with pytest.raises(ValueError, match=f"^values is a broken {piece.format.upper()} matrix"):
            RaggedArray(piece, [0, 2])


STORED = {"f4 f4 f4": "f4", "f2 f2 f2": "f2", "f2 f4 f2": "f4"}
STORED |= dict.fromkeys(["f4 f8 f4", "f4 i1 f4", ">f4 >f4 >f4", "f4 >f4 f4", "? ? ?"], "f8")


@pytest.mark.parametrize("dtypes", STORED)
def test_short_floats_stay_short(dtypes):
    pieces, expected = [np.rint(piece) for piece in dense([2, 1, 4])], STORED[dtypes]
    dtypes = list(map(np.dtype, dtypes.split()))
    given = [piece.astype(dtype) for piece, dtype in zip(pieces, dtypes, strict=True)]
    stacked = stack_sequences(given).values
    assert stacked.dtype == expected and stacked.dtype.isnative
    same(stacked, np.concatenate([piece.astype(float) for piece in given]))
    if "f2" not in dtypes and all(dtype.isnative for dtype in dtypes):
        stacked = stack_sequences([given[0], *map(sp.csr_array, given[1:])]).values
        assert stacked.dtype == expected
        same(stacked, np.concatenate([piece.astype(float) for piece in given]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_slices_of_one_array_are_read_where_they_lie(dtype, tmp_path):
    X = np.arange(21.0).reshape(7, 3).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    for whole in (X, np.load(tmp_path / "X.npy", mmap_mode="r")):
        pieces = [whole[:2], whole[2:3], whole[3:]]
        given = [pieces, RaggedArray(whole, [0, 2, 3, 7]), whole.reshape(1, 7, 3)]
        for form, expected in [*((form, X) for form in given), (pieces[1:], X[2:])]:
            stacked = stack_sequences(form).values
            assert np.shares_memory(stacked, whole)
            np.testing.assert_array_equal(stacked, expected)
        for given in (pieces[::-1], [*pieces[:2], X[3:].copy()], pieces[::2]):
            stacked = stack_sequences(given).values
            assert not np.shares_memory(stacked, whole) and stacked.dtype == dtype
            np.testing.assert_array_equal(stacked, np.concatenate(given))


def test_what_is_not_finite_is_found_in_all_types():
    for dtype in ["f8", "f4", "f2"]:
        X = np.full((300_000, 4), 6e4, dtype=dtype)  # their sum overflows in float16
        assert stack_sequences(RaggedArray(X, [0, len(X)])).values is X
        for wrong, what in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
            X[299_999, 2] = wrong
            message = rf"X\[1\] contains {what} at row 199999, column 2"
            with pytest.raises(ValueError, match=message):
                stack_sequences(RaggedArray(X, [0, 100_000, len(X)]))


NO_NUMBERS = [OK.astype(str), OK.astype(str).astype(object), [[1, "a"]], [[1, object()]]]
NO_NUMBERS += [OK.astype("M8[s]"), pd.DataFrame({"a": [1, pd.NA]})]


def test_bad_sequences():
    for error, message, *wrong in [
        (ValueError, r"Found array with 0 sample\(s\)", [], (), np.empty(0, dtype=object),
         np.empty((0, 3, 2)), RaggedArray(OK[:0], [0])),
        (ValueError, "X must be a list .* got ndarray", OK, np.zeros(3), np.zeros((1, 1, 1, 1))),
        (ValueError, r"X must be a list with one matrix of shape \(T_i, p\) per sequence", OK,
         pd.DataFrame(OK), sp.csr_array(OK), sp.csc_matrix(OK)),
        (ValueError, r"a single sequence is given as a list of one, \[X\]", sp.csr_array(OK)),
        (TypeError, r"X must be a list .* got (NoneType|int|type)$", None, 5, np.ndarray),
        (TypeError, "X must be a list .* got str; raw text has to be split into sent", "text"),
        (TypeError, r"X must be a list .* got dict; .* list\(X.values\(\)\)", {"a": OK}),
        (TypeError, "X(|.0.) must be .* got (map|generator); .* once: make a list of it",
         map(list, [OK]), (x for x in [OK]), [(x for x in OK)]),
        (ValueError, "; a single sequence .* many is first divided", pd.DataFrame(OK)),
        (ValueError, r"X\[1\] must hold numbers, .* X\[1\]\[0, 0\] is 'a'; .*to_dict\('rec",
         [pd.DataFrame(OK), pd.DataFrame({"w": ["a", "b"]})]),
        (ValueError, r"X\[1\] must be a matrix of .* of shape \((1, 2, 5|5,)\)", [OK, OK[0]],
         [OK, OK[None]]),
        (ValueError, r"X\[1\] is empty", [OK, OK[:0]], [OK, []], [OK, sp.csr_array((0, 5))],
         RaggedArray(OK, [0, 2, 2])),
        (ValueError, r"X\[0\] is empty", np.zeros((2, 0, 3))),
        (ValueError, "X has 0 features", [OK[:, :0]]),
        (ValueError, r"X\[1\] has 4 features but X\[0\] has 5", [OK, OK[:, :4]],
         [OK, sp.csr_array(OK[:, :4])]),
        (ValueError, r"X\[1\] contains NaN at row 1, column 3", [OK, NAN], np.array([OK, NAN])),
        (ValueError, r"X\[1\] contains NaN at row 0, column 3", RaggedArray(NAN, [0, 1, 2])),
        (ValueError, r"X\[1\] contains infinity at row 1, column 4", [OK, INF]),
        (ValueError, r"X\[1\]\[0, 0\] is None", [OK, [[None] * 5]]),
        (ValueError, r"X\[1\] must hold numbers", *([OK, x] for x in NO_NUMBERS)),
        (ValueError, r"X\[1\] must ", [OK, OK * 1j], [OK, sp.csr_array(OK * 1j)]),
        (ValueError, r"X\[1\] is no array: its items have different", [OK, [[1, 2], [3]]]),
        (ValueError, r"X\[0\] must be a matrix .*TokenVectorizer .* TokenTransformer",
         [[{"w": "a"}]], [["a", "b"]]),
        (TypeError, r"X\[0\] must be a matrix .* got dict; .*; a single", [{"w": 1}]),
        (TypeError, r"X\[0\] must be a matrix .* got str; raw text .* 'the'}$", ["abc"]),
        (TypeError, r"X\[1\] must be a matrix .* got NoneType; leave out", [OK, None]),
        (TypeError, r"X\[0\] must be a matrix of numbers, .* got int", [1, 2]),
        (ValueError, "the values of X must be a matrix", RaggedArray(np.arange(3), [0, 3])),
    ]:  # fmt: skip
        for X in wrong:
            with pytest.raises(error, match=message):
                stack_sequences(X)


LABELS = {
    "U": [
        [["a", "bcd"], ["e"]], [("a", "bcd"), ["e"]], [np.array(["a", "bcd"]), np.array(["e"])],
        [np.array(["a", "bcd"], dtype=object), ["e"]], [[np.str_("a"), "bcd"], ["e"]],
        [pd.Series(["a", "b"]), pd.Series(["c"])],
    ],
    "S": [[[b"a", b"b"], [b"c"]]],
    "i": [
        [[1, 2], [3]], [[np.int8(1), 2], np.array([3])], [[True, 2], [3]],
        [np.array([1, 2], dtype=np.uint8), np.array([3], dtype=np.int8)],
        [pd.Series([1, 2]), pd.Series([3])], pd.Series([[1, 2], [3]]),
        RaggedArray(np.array([1, 2, 3]), [0, 2, 3]),
    ],
    "b": [[[True, False], [True]], [np.array([True, False]), np.array([True])]],
    "f": [[[1.0, 2.0], [3]]],
    "O": [
        [[("a", 1), ("b", 2)], [("a", 1)]], [[2**70, 1], [2]],
        [np.array([2**63], dtype=np.uint64).repeat(2), np.array([-1])],
    ],
}  # fmt: skip


def test_stack_labels():
    for kind, given_labels in LABELS.items():
        for y in given_labels:
            flat = stack_labels(y, [2, 1])
            assert flat.dtype.kind == kind and flat.shape == (3,)
            assert list(flat) == [label for item in y for label in item]
    y = np.array([["a", "b"], ["c", "d"]])
    for labels in (y, y.astype(object), y.tolist()):
        assert stack_labels(labels, [2, 2]).tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"rows\[0\] has 2 rows but tags\[0\] has 1 labels"):
        stack_labels([[1]], [2], name="tags", x_name="rows")


def test_bad_labels():
    a, b = ["a", "b"], np.array([1, 2])
    for error, message, *wrong in [
        (TypeError, "y must be a list .* got (NoneType|str)", None, "ab"),
        (ValueError, "X has 2 samples but y has 1", [[1, 2]]),
        (ValueError, "X has 2 samples but y has 3", [[1, 2], [1], [1]]),
        (ValueError, r"X\[1\] has 1 rows but y\[1\] has 2 labels", [[1, 2], [1, 2]]),
        (ValueError, r"X\[1\] has 1 rows but y\[1\] has 0 labels", [[1, 2], []]),
        (TypeError, r"y\[0\] must be a sequence of labels, got set$", [{1, 2}, {1}]),
        (TypeError, r"y\[0\] .* got int; .* single sequence are given as a list of one$", [0, 1]),
        (TypeError, r"y\[1\] .* got str; .* of one, and labels in a string have to", [a, "c"]),
        (TypeError, r"y\[0\] .* got map; an iterator", [map(str, a), a]),
        (TypeError, r"y\[1\] .* NoneType; leave out samples that have none", [a, None]),
        (ValueError, "y must be a list with one sequence of labels", b, np.zeros((2, 2, 2)),
         pd.DataFrame({"a": [1, 2]})),
        (ValueError, r"y\[0\] must be .* one-dimensional", [np.zeros((2, 1)), np.zeros((1, 1))]),
        (TypeError, r"y\[0\]\[0\] is .*, of type list: one label", [[[1], [2]], [[1]]]),
        (ValueError, r"y\[0\]\[1\] is (None|<NA>)", [["a", None], ["b"]], [["a", pd.NA], ["b"]]),
        (ValueError, r"y\[1\]\[0\] is nan", [a, [np.nan]], [[1, 2], [np.nan]], [b, NAN[1, 3:4]]),
        (ValueError, r"y\[0\]\[1\] is 0.5: .* continuous", [[1.0, 0.5], [1]]),
        (ValueError, r"y\[1\]\[0\] is 0.25: .* continuous", [b, np.array([0.25])]),
        (ValueError, r"y\[1\]\[0\] is inf", [[1, 2], [np.inf]]),
        (TypeError, r"y\[0\]\[0\] is 'a' but y\[1\]\[0\] is 1", [a, [1]]),
        (TypeError, r"y\[0\]\[0\] is 'a' but y\[0\]\[1\] is b'b'", [["a", b"b"], ["a"]]),
        ((TypeError, ValueError), "label", [[1j, 2], [1]], [np.array([1j, 2]), np.array([1j])]),
    ]:  # fmt: skip
        for y in wrong:
            with pytest.raises(error, match=message):
                stack_labels(y, [2, 1])
