"""SuperpixelGraphs against its definition, and as a transformer among scikit-learn's tools."""

import operator
import pickle

import joblib
import numpy as np
import pytest
from helpers.images import CountingGrid
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks, get_tags

from sskit.preprocessing import SuperpixelGraph, SuperpixelGraphs, region_adjacency

SIZES = [(24, 30), (20, 36), (30, 22), (25, 25)]
SMALL = {"n_segments": 12, "n_color_words": 6, "n_texture_words": 5, "position_grid": 2}


def make_image(seed, size):
    """Return a uint8 image of two noisy halves."""
    rng = np.random.RandomState(seed)
    image = rng.normal(90, 20, size=(*size, 3))
    image[:, size[1] // 2 :] += [60, 0, 30]
    return image.clip(0, 255).astype(np.uint8)


IMAGES = [make_image(seed, size) for seed, size in enumerate(SIZES)]


def make(**changes):
    return SuperpixelGraphs(**{**SMALL, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def fitted():
    return make().fit(IMAGES)


@pytest.fixture(scope="module")
def graphs(fitted):
    return fitted.transform(IMAGES)


def assert_same_graphs(a, b):
    for left, right in zip(a, b, strict=True):
        for x, y in zip((*left, left.segments), (*right, right.segments), strict=True):
            np.testing.assert_array_equal(x, y)


def test_shapes_and_ranges(fitted, graphs):
    assert isinstance(graphs, np.ndarray) and graphs.shape == (4,)
    for graph, size in zip(graphs, SIZES, strict=True):
        assert isinstance(graph, SuperpixelGraph) and graph.shape == size
        assert 6 <= len(graph.features) <= 24
        assert graph.features.dtype == graph.edge_features.dtype == np.float32
        np.testing.assert_array_equal(graph.edges, region_adjacency(graph.segments))
        assert (graph.features[:, 0] == 1).all() and (graph.edge_features[:, 0] == 1).all()
        # what lets a Potts model with weights >= 0 be cut
        assert graph.edge_features.min() >= 0 and graph.edge_features.max() <= 1
        assert graph.features.min() >= 0 and graph.features.max() <= 1
        # roots of histograms: the squares of each of the nine sum to one
        np.testing.assert_allclose((graph.features[:, 1:] ** 2).sum(axis=1), 9, rtol=1e-5)
    assert fitted.color_words_.shape == (6, 3) and fitted.texture_words_.shape == (5, 128)
    (plain,) = make(power=1).fit(IMAGES).transform(IMAGES[:1])
    np.testing.assert_allclose(plain.features, graphs[0].features ** 2, atol=1e-6)
    np.testing.assert_array_equal(plain.edge_features, graphs[0].edge_features)
    # the defaults are those of the literature
    image = np.random.RandomState(0).uniform(size=(120, 120, 3))
    (graph,) = SuperpixelGraphs(random_state=0).fit_transform([image])
    assert graph.features.shape[1] == 1969 and graph.edge_features.shape[1] == 100


def test_histograms_are_those_of_pixels(fitted, graphs):
    """Recompute the colour histograms of one image by loops over its superpixels."""
    from skimage.color import rgb2lab

    graph = graphs[1]
    lab = rgb2lab(IMAGES[1] / 255)
    words = np.linalg.norm(lab[:, :, None] - fitted.color_words_, axis=-1).argmin(axis=-1)
    near, neighbors = [{v} for v in range(len(graph.areas))], [set() for _ in graph.areas]
    for a, b in graph.edges:
        neighbors[a].add(b)
        neighbors[b].add(a)
    names = fitted.get_feature_names_out().tolist()
    edge_names = fitted.get_edge_feature_names_out().tolist()
    for order in range(3):
        inside = [np.isin(graph.segments, list(group)) for group in near]
        counts = np.array([np.bincount(words[pixels], minlength=6) for pixels in inside])
        histograms = counts / counts.sum(axis=1, keepdims=True)
        first = names.index(f"color_0_near{order}")
        assert names[first + 5] == f"color_5_near{order}"
        found = graph.features[:, first : first + 6]
        np.testing.assert_allclose(found, np.sqrt(histograms), atol=1e-3)
        p, q = histograms[graph.edges[:, 0]], histograms[graph.edges[:, 1]]
        chi2 = ((p - q) ** 2 / np.where(p + q > 0, p + q, 1.0)).sum(axis=1) / 2
        column = edge_names.index(f"color_near{order}_eta4")
        np.testing.assert_allclose(graph.edge_features[:, column], np.exp(-4 * chi2), atol=1e-3)
        near = [group.union(*(neighbors[node] for node in group)) for group in near]


def test_parts_can_be_left_out():
    for changes, n_features, n_edge_features in [
        ({}, 1 + 3 * 15, 1 + 9 * 11),
        ({"n_color_words": 0}, 1 + 3 * 9, 1 + 6 * 11),
        ({"n_texture_words": 0}, 1 + 3 * 10, 1 + 6 * 11),
        ({"position_grid": 0}, 1 + 3 * 11, 1 + 6 * 11),
        ({"neighborhood": 0}, 1 + 15, 1 + 3 * 11),
        ({"neighborhood": 1}, 1 + 30, 1 + 6 * 11),
        ({"n_color_words": 0, "n_texture_words": 0, "position_grid": 0}, 1, 1),
    ]:
        superpixels = make(**changes).fit(IMAGES[:2])
        (graph,) = superpixels.transform(IMAGES[2:3])
        for found, names, n in (
            (graph.features, superpixels.get_feature_names_out(), n_features),
            (graph.edge_features, superpixels.get_edge_feature_names_out(), n_edge_features),
        ):
            assert found.shape[1] == len(names) == len(set(names)) == n


def test_seed_decides(fitted, graphs):
    # and unseen images do not change the words
    assert_same_graphs(fitted.transform(IMAGES[2:]), graphs[2:])
    with joblib.parallel_config("threading"):
        # more workers than there are images and than joblib can count
        assert_same_graphs(make(n_jobs=10**30).fit_transform(IMAGES), graphs)
    again = make(random_state=np.random.RandomState(0)).fit(IMAGES)
    np.testing.assert_array_equal(again.color_words_, fitted.color_words_)
    other = make(random_state=1).fit(IMAGES)
    assert not np.array_equal(other.color_words_, fitted.color_words_)
    # Leaving colours out does not change which textures are sampled.
    alone = make(n_color_words=0).fit(IMAGES)
    np.testing.assert_array_equal(alone.texture_words_, fitted.texture_words_)
    assert not get_tags(fitted).input_tags.two_d_array
    assert_same_graphs(pickle.loads(pickle.dumps(fitted)).transform(IMAGES), graphs)
    with config_context(transform_output="pandas"):
        assert_same_graphs(fitted.transform(IMAGES), graphs)


def test_segmenter(tmp_path):
    log = tmp_path / "log"
    graph = make(segmenter=CountingGrid(10, log)).fit_transform(IMAGES[:1])[0]
    assert graph.areas.tolist() == [100] * 6 + [40] * 3
    assert len(graph.edges) == 12 and log.read_text() == "x"
    shape = r"must return integers of shape \(24, 30\) for X\[0\], got int64 of shape \(2, 2\)"
    for segmenter, error, message in [
        ("slic", TypeError, "'segmenter' .* must be a callable or None. Got 'slic'"),
        (lambda image: np.zeros((2, 2), int), ValueError, shape),
        (lambda image: image[..., 0], ValueError, r"for X\[0\], got float32"),
    ]:
        with pytest.raises(error, match=message):
            make(segmenter=segmenter).fit_transform(IMAGES)
    # Python 3.10 has no notes: an exception of its own
    with pytest.raises((IndexError, RuntimeError)) as caught:
        make(segmenter=lambda image: image[10**6]).fit_transform(IMAGES)
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert "raised by the segmenter for X[0]" in told


def test_before_and_after_fits_that_fail(fitted):
    new, words = make(), fitted.color_words_
    names = new.get_feature_names_out, new.get_edge_feature_names_out
    for call in (*names, lambda: new.transform(IMAGES)):
        with pytest.raises(NotFittedError):
            call()
    for superpixels in (new, fitted):
        with pytest.raises(ValueError, match=r"X\[1\] must be an image"):
            superpixels.fit([GOOD, GOOD[:0]])
    assert not hasattr(new, "color_words_") and fitted.color_words_ is words


GOOD = np.zeros((4, 4, 3))


def test_forms_of_images():
    """Bytes, words, floats, grey ones, arrays of images: the same picture, the same graph."""
    image = IMAGES[0]
    floats, objects = image / 255, np.empty(1, dtype=object)
    objects[0], before = image, (image.copy(), floats.copy())
    expected = make().fit_transform([image])
    for same in (
        [floats],
        [(image / np.float32(255)).astype(np.float32)],
        [image.astype(np.uint16) * 257],
        image[None],
        (image,),
        objects,
        [image[:, ::-1][:, ::-1]],
    ):
        found = make().fit_transform(same)
        np.testing.assert_array_equal(found[0].segments, expected[0].segments)
        np.testing.assert_allclose(found[0].features, expected[0].features, atol=0.02)
    grey = image[None, ..., 0]
    assert_same_graphs(make().fit_transform(grey), make().fit_transform([np.dstack([*grey] * 3)]))
    assert all(map(np.array_equal, (image, floats), before))


def test_small_and_flat_images():
    for size in [(1, 1), (1, 7), (5, 2)]:
        graph = make().fit_transform([make_image(0, size)])[0]
        assert graph.areas.sum() == size[0] * size[1] and np.isfinite(graph.features).all()
    superpixels = make().fit([np.zeros((20, 20), np.uint8), np.ones((20, 20))])
    assert superpixels.color_words_.shape == (2, 3)
    assert superpixels.texture_words_.shape == (1, 128)
    graph = superpixels.transform([np.full((20, 20), 0.9)])[0]
    assert graph.features.shape[1] == len(superpixels.get_feature_names_out()) == 1 + 3 * 7


SEGMENTS = np.array([[0, 0, 1], [0, 2, 1]])
EDGES = np.array([[0, 1], [0, 2], [1, 2]])


def make_graph(**changes):
    features = np.arange(6, dtype=np.float32).reshape(3, 2)
    parts = {"features": features, "edges": EDGES, "edge_features": np.ones((3, 1))}
    return SuperpixelGraph(**parts | {"segments": SEGMENTS} | changes)


def test_is_a_triple_and_one_object_and_holds_what_it_was_given(tmp_path):
    np.save(tmp_path / "features.npy", np.ones((3, 2), dtype=np.float32))
    features = np.load(tmp_path / "features.npy", mmap_mode="r")  # stays on disk
    assert np.shares_memory(make_graph(features=features).features, features)
    features, edge_features = np.zeros((3, 2), dtype=np.float32), np.zeros((3, 4))
    graph = make_graph(features=features, edge_features=edge_features)
    assert all(map(operator.is_, graph, (features, graph.edges, edge_features)))
    assert graph.edges.dtype == graph.segments.dtype == np.int32
    assert graph.areas.tolist() == [3, 2, 1] and graph.areas.dtype == np.int64
    assert "3 nodes, 3 edges, image of 2 x 3 pixels" in repr(graph)
    assert make_graph(features=[[1], [2], [3]]).features.dtype == np.float64
    assert np.array([graph, graph], dtype=object).shape == (2,)
    assert_same_graphs([pickle.loads(pickle.dumps(graph))], [graph])
    lone = SuperpixelGraph([[1.0]], np.empty((0, 2), int), np.empty((0, 3)), [[0, 0]])
    assert lone.edges.shape == (0, 2) and lone.pixel_mask(["a"]).tolist() == [["a", "a"]]


def test_labels_of_any_kind():
    for mask, expected in [
        ([[True, True, False], [False, True, False]], [True, False, True]),
        ([["b", "b", "a"], ["c", "c", "a"]], ["b", "a", "c"]),
    ]:
        labels = make_graph().node_labels(np.array(mask), "void")
        assert labels.tolist() == expected and labels.dtype == np.array(mask).dtype
    scores = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(make_graph().pixel_mask(scores)[1, 1], [4, 5])


@st.composite
def cut_masks(draw):
    """Return segments without gaps and a mask of the same size."""
    height, width = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    numbers = st.lists(st.integers(0, 4), min_size=height * width, max_size=height * width)
    segments = np.unique(draw(numbers), return_inverse=True)[1].reshape(height, width)
    return segments, np.array(draw(numbers)).reshape(height, width)


@given(cut_masks())
def test_majority_is_that_of_a_loop(data):
    segments, mask = data
    n_nodes, none = segments.max() + 1, (np.empty((0, 2), int), np.empty((0, 1)))
    graph = SuperpixelGraph(np.ones((n_nodes, 1)), *none, segments)
    for ignore_label in (None, 0, 9):
        expected = []
        for node in range(n_nodes):
            votes = [v for v in mask[segments == node].tolist() if v != ignore_label]
            expected.append(min(votes, key=lambda v: (-votes.count(v), v)) if votes else 0)
        assert graph.node_labels(mask, ignore_label).tolist() == expected
    # No other labelling of the superpixels has more pixels right.
    best = (graph.pixel_mask(graph.node_labels(mask)) == mask).sum()
    for label in range(5):
        assert best >= (mask == label).sum()


def test_bad_parts():
    for message, name, *wrong in [
        ("features must be a matrix", "features", np.ones(3)),
        ("features must hold numbers", "features", [["a"]] * 3),
        (r"segments\[1, 1\] is 2", "features", np.ones((2, 2))),
        ("segments leave node 3 without a pixel", "features", np.ones((4, 2))),
        (r"edges must be integers .*, got shape \(3, 1\)", "edges", EDGES[:, :1]),
        ("there are 2 edges but 3 rows of edge_features", "edges", EDGES[:2]),
        ("edges must be integers .* and dtype float64", "edges", EDGES.astype(float)),
        (r"edges\[[01], [01]\] is (3|-1)", "edges", EDGES + 1, EDGES - 1),
        (r"edges\[1\] joins node 2 to itself", "edges", [[0, 1], [2, 2], [0, 2]]),
        ("edge_features must be a matrix", "edge_features", np.ones(3)),
        ("segments must be integers of shape", "segments", SEGMENTS.ravel()),
        (r"segments\[0, 0\] is -1", "segments", SEGMENTS - 1),
    ]:
        for value in wrong:
            with pytest.raises(ValueError, match=message):
                make_graph(**{name: value})
    with pytest.raises(ValueError, match=r"mask has shape \(3, 2\) but the image has \(2, 3\)"):
        make_graph().node_labels(SEGMENTS.T)
    for labels in (0, [0, 1], np.zeros((2, 3))):
        with pytest.raises(ValueError, match="labels must have one entry per node, 3"):
            make_graph().pixel_mask(labels)


CHECKS = (
    "estimator_cloneable estimator_repr estimator_tags_renamed get_params_invariance mixin_order "
    "no_attributes_set_in_init parameters_default_constructible set_params valid_tag_types"
)  # those with data give matrices, not images


def test_what_is_wrong_is_named(fitted):
    for name in CHECKS.split():
        getattr(estimator_checks, f"check_{name}")("SuperpixelGraphs", SuperpixelGraphs())
    of_shape = r"X\[1\] must be an image of shape \(H, W\)"
    for error, message, *wrong in (
        (ValueError, r"0 sample\(s\)", [], np.empty((0, 4, 4))),
        (TypeError, "X must be a list with one image .* got (NoneType|str|generator)", None,
         "horse.png", (image for image in IMAGES)),
        (ValueError, r"one image .* got ndarray of shape \(4, 4\)", np.zeros((4, 4))),
        (ValueError, r"X has shape \(4, 4, 3\), that of one image: put it into a list", GOOD),
        (ValueError, r"X\[1\] is no array", [GOOD, [[0.1, 0.2], [0.3]]]),
        (ValueError, of_shape + r".* got shape \((3,|0, 4|4, 4, 2|4, 4, 4)\)", [GOOD, GOOD[0, 0]],
         [GOOD, np.zeros((0, 4))], [GOOD, GOOD[..., :2]], [GOOD, np.zeros((4, 4, 4))]),
        (ValueError, of_shape + ".* dtype (int64|bool|<U5|object)", [GOOD, GOOD.astype(int)],
         [GOOD, GOOD > 0], [GOOD, "a.png"], [GOOD, None]),
        (ValueError, of_shape + ".* with values from (nan|inf|255|-0.5) to", [GOOD, GOOD + np.nan],
         [GOOD, GOOD + np.inf], [GOOD, GOOD + 255.0], [GOOD, GOOD - 0.5]),
    ):  # fmt: skip
        for X in wrong:
            for call in (make().fit, fitted.transform):
                with pytest.raises(error, match=message):
                    call(X)
    for parameter, values, message in (
        ("n_segments", [0, 150.0, True], r"int in the range \[1, 16777216\]"),
        ("n_color_words", [-1], r"int in the range \[0, "),
        ("n_texture_words", [None], r"int in the range \[0, "),
        ("position_grid", [-1, "4", 10**9], r"int in the range \[0, 1024\]"),
        ("neighborhood", [-1], r"int in the range \[0, "),
        ("n_jobs", [0.5, True], "an int .* or None"),
        ("power", [0, 1.1], r"float in the range \(0.0, 1.0\]"),
    ):
        for value in values:
            changed = pickle.loads(pickle.dumps(fitted)).set_params(**{parameter: value})
            for call in (clone(changed).fit, changed.transform):
                with pytest.raises(ValueError, match=f"{parameter}.*{message}.*Got {value!r} inst"):
                    call(IMAGES)
