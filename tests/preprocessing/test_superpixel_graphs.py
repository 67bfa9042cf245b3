"""SuperpixelGraphs against its definition, and as a transformer among scikit-learn's tools."""

import os
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
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks, get_tags

from sskit.inputs.masks import as_rgb
from sskit.preprocessing import SuperpixelGraph, SuperpixelGraphs

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
        assert graph.features.shape[1] == 1 + 3 * (6 + 5 + 4)
        assert graph.edge_features.shape == (len(graph.edges), 1 + 9 * 11)
        assert graph.features.dtype == graph.edge_features.dtype == np.float32
        assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
        assert (graph.features[:, 0] == 1).all() and (graph.edge_features[:, 0] == 1).all()
        # what lets a Potts model with weights >= 0 be cut
        assert graph.edge_features.min() >= 0 and graph.edge_features.max() <= 1
        assert graph.features.min() >= 0 and graph.features.max() <= 1
        # roots of histograms: the squares of each of the nine sum to one
        np.testing.assert_allclose((graph.features[:, 1:] ** 2).sum(axis=1), 9, rtol=1e-5)
    assert fitted.color_words_.shape == (6, 3) and fitted.texture_words_.shape == (5, 128)
    plain = make(power=1).fit_transform(IMAGES)
    np.testing.assert_allclose(plain[0].features, graphs[0].features ** 2, atol=1e-6)
    np.testing.assert_array_equal(plain[0].edge_features, graphs[0].edge_features)
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
        ({"n_color_words": 0}, 1 + 3 * 9, 1 + 6 * 11),
        ({"n_texture_words": 0}, 1 + 3 * 10, 1 + 6 * 11),
        ({"position_grid": 0}, 1 + 3 * 11, 1 + 6 * 11),
        ({"neighborhood": 0}, 1 + 15, 1 + 3 * 11),
        ({"neighborhood": 1}, 1 + 30, 1 + 6 * 11),
        ({"n_color_words": 0, "n_texture_words": 0, "position_grid": 0}, 1, 1),
    ]:
        superpixels = make(**changes).fit(IMAGES[:2])
        graph = superpixels.transform(IMAGES[:1])[0]
        names = superpixels.get_feature_names_out()
        edge_names = superpixels.get_edge_feature_names_out()
        assert graph.features.shape[1] == len(names) == len(set(names)) == n_features
        assert graph.edge_features.shape[1] == len(edge_names) == len(set(edge_names))
        assert len(edge_names) == n_edge_features


def test_seed_decides(fitted, graphs):
    # and unseen images do not change the words
    assert_same_graphs(fitted.transform(IMAGES[2:]), graphs[2:])
    assert fitted.transform([make_image(9, (40, 11))])[0].features.shape[1] == 46
    with joblib.parallel_config("threading"):
        # more workers than there are images and than joblib can count
        for n_jobs in (2, 10**30):
            assert_same_graphs(make(n_jobs=n_jobs).fit_transform(IMAGES), graphs)
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
    assert graph.areas.tolist() == [100, 100, 100, 100, 100, 100, 40, 40, 40]
    assert len(graph.edges) == 12
    assert log.read_text() == "x"
    shape = r"must return integers of shape \(24, 30\) for X\[0\], got int64 of shape \(2, 2\)"
    for segmenter, error, message in [
        ("slic", TypeError, "'segmenter' .* must be a callable or None. Got 'slic'"),
        (lambda image: np.zeros((2, 2), int), ValueError, shape),
        (lambda image: image[..., 0], ValueError, r"for X\[0\], got float32"),
    ]:
        with pytest.raises(error, match=message):
            make(segmenter=segmenter).fit_transform(IMAGES)


def test_before_and_after_fits_that_fail(fitted):
    rgb = as_rgb(np.array([[0, 255], [51, 102]], dtype=np.uint8))
    assert rgb.dtype == np.float32
    np.testing.assert_allclose(rgb[..., 2], [[0, 1], [0.2, 0.4]])
    floats = np.full((2, 2, 3), 0.5, dtype=np.float32)
    assert not np.shares_memory(as_rgb(floats), floats)
    new = make()
    names = new.get_feature_names_out, new.get_edge_feature_names_out
    for call in (*names, lambda: new.transform(IMAGES)):
        with pytest.raises(NotFittedError):
            call()
    words = fitted.color_words_
    for superpixels in (new, fitted):
        with pytest.raises(ValueError, match=r"X\[1\] must be an image"):
            superpixels.fit([GOOD, GOOD[:0]])
    assert not hasattr(new, "color_words_") and fitted.color_words_ is words


GOOD = np.zeros((4, 4, 3))


@pytest.mark.realdata
@pytest.mark.skipif(not os.environ.get("SSKIT_DATA"), reason="SSKIT_DATA is not set")
def test_horses_are_told_from_the_background():
    from helpers.real_data import load_weizmann_horses

    train, test = load_weizmann_horses("train"), load_weizmann_horses("test")
    superpixels = SuperpixelGraphs(n_color_words=64, n_texture_words=64, random_state=0)
    learnt, graphs = superpixels.fit_transform(train.data), superpixels.transform(test.data)
    labels = [graph.node_labels(mask) for graph, mask in zip(learnt, train.target, strict=True)]
    rows = np.vstack([graph.features for graph in learnt])
    inner = LogisticRegression().fit(rows, np.concatenate(labels))
    column = superpixels.get_edge_feature_names_out().tolist().index("color_near0_eta4")
    possible, found, alike, equal = [], [], [], []
    for graph, mask in zip(graphs, test.target, strict=True):
        labels = graph.node_labels(mask)
        possible.append((graph.pixel_mask(labels) == mask).ravel())
        found.append((graph.pixel_mask(inner.predict(graph.features)) == mask).ravel())
        alike.append(graph.edge_features[:, column])
        equal.append(labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]])
    # superpixels of 150 pieces can do so much, and no more
    assert np.concatenate(possible).mean() > 0.955
    background = np.mean(np.concatenate([mask.ravel() == 0 for mask in test.target]))
    assert background < 0.75 and np.concatenate(found).mean() > 0.9
    # Neighbours that are alike in colour more often have the same label.
    alike, equal = np.concatenate(alike), np.concatenate(equal)
    assert alike[equal].mean() > alike[~equal].mean() + 0.05


def test_forms_of_images():
    """Bytes, words, floats, grey ones, arrays of images: the same picture, the same graph."""
    image, kept = IMAGES[0], [image.copy() for image in IMAGES]
    expected = make().fit_transform([image])
    for same in (
        [image / 255],
        [(image / np.float32(255)).astype(np.float32)],
        [image.astype(np.uint16) * 257],
        image[None],
        (image,),
        [image[:, ::-1][:, ::-1]],
    ):
        found = make().fit_transform(same)
        np.testing.assert_array_equal(found[0].segments, expected[0].segments)
        np.testing.assert_allclose(found[0].features, expected[0].features, atol=0.02)
    objects = np.empty(1, dtype=object)
    objects[0] = image
    assert_same_graphs(make().fit_transform(objects), expected)
    grey = [image[..., 0] for image in IMAGES[:2]]
    found = make().fit_transform(grey)
    assert_same_graphs(found, make().fit_transform([np.dstack([g, g, g]) for g in grey]))
    assert make().fit_transform(np.stack([g[:20, :20] for g in grey])).shape == (2,)
    floats = image / 255
    before = floats.copy()
    make().fit_transform([floats, *IMAGES[1:2]])
    assert all(map(np.array_equal, [floats, *IMAGES], [before, *kept]))


def test_small_and_flat_images():
    for size in [(1, 1), (1, 7), (5, 2)]:
        graph = make().fit_transform([make_image(0, size)])[0]
        assert graph.areas.sum() == size[0] * size[1]
        assert np.isfinite(graph.features).all()
        assert len(graph.edges) == len(graph.edge_features)
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


def test_holds_what_it_was_given():
    features = np.zeros((3, 2), dtype=np.float32)
    edge_features = np.zeros((3, 4))
    graph = make_graph(features=features, edge_features=edge_features)
    assert graph.features is features and graph.edge_features is edge_features
    assert graph.edges.dtype == graph.segments.dtype == np.int32
    assert graph.areas.tolist() == [3, 2, 1] and graph.areas.dtype == np.int64
    assert graph.shape == (2, 3)
    assert "3 nodes, 3 edges, image of 2 x 3 pixels" in repr(graph)
    assert make_graph(features=[[1], [2], [3]]).features.dtype == np.float64


def test_is_a_triple_and_one_object(tmp_path):
    path = tmp_path / "features.npy"
    np.save(path, np.ones((3, 2), dtype=np.float32))
    features = np.load(path, mmap_mode="r")  # stays on disk
    assert np.shares_memory(make_graph(features=features).features, features)
    graph = make_graph()
    features, edges, edge_features = graph
    assert features is graph.features and edges is graph.edges
    assert edge_features is graph.edge_features
    assert np.array([graph, graph], dtype=object).shape == (2,)
    again = pickle.loads(pickle.dumps(graph))
    for a, b in zip(again, graph, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(again.segments, SEGMENTS)
    lone = SuperpixelGraph([[1.0]], np.empty((0, 2), int), np.empty((0, 3)), [[0, 0]])
    assert lone.edges.shape == (0, 2) and lone.pixel_mask(["a"]).tolist() == [["a", "a"]]


def test_majority():
    for mask, ignore_label, expected in [
        ([[5, 5, 7], [7, 7, 7]], None, [5, 7, 7]),
        ([[5, 5, 7], [7, 7, 5]], None, [5, 5, 7]),  # a tie goes to the smaller
        ([[5, 0, 7], [0, 0, 0]], 0, [5, 7, 0]),  # the ignored have no vote
        ([[5, 0, 0], [0, 0, 0]], 0, [5, 0, 0]),
        ([[5, 5, 7], [7, 7, 7]], 99, [5, 7, 7]),
        ([[True, True, False], [False, True, False]], None, [True, False, True]),
        ([["b", "b", "a"], ["c", "c", "a"]], "void", ["b", "a", "c"]),
    ]:
        labels = make_graph().node_labels(np.array(mask), ignore_label)
        assert labels.tolist() == expected and labels.dtype == np.array(mask).dtype
    labels = np.array(["sea", "sky", "sand"])
    graph = make_graph()
    assert graph.node_labels(graph.pixel_mask(labels)).tolist() == labels.tolist()
    scores = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(graph.pixel_mask(scores)[1, 1], [4, 5])


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
    for ignore_label in (None, 0):
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
    for changes, message in [
        ({"features": np.ones(3)}, "features must be a matrix"),
        ({"features": [["a"]] * 3}, "features must hold numbers"),
        ({"features": np.ones((2, 2))}, r"segments\[1, 1\] is 2"),
        ({"features": np.ones((4, 2))}, "segments leave node 3 without a pixel"),
        ({"edges": EDGES[:, :1]}, r"edges must be integers .*, got shape \(3, 1\)"),
        ({"edges": EDGES[:2]}, "there are 2 edges but 3 rows of edge_features"),
        ({"edges": EDGES.astype(float)}, "edges must be integers .* and dtype float64"),
        ({"edges": EDGES + 1}, r"edges\[1, 1\] is 3"),
        ({"edges": EDGES - 1}, r"edges\[0, 0\] is -1"),
        ({"edges": [[0, 1], [2, 2], [0, 2]]}, r"edges\[1\] joins node 2 to itself"),
        ({"edge_features": np.ones(3)}, "edge_features must be a matrix"),
        ({"segments": SEGMENTS.ravel()}, "segments must be integers of shape"),
        ({"segments": SEGMENTS - 1}, r"segments\[0, 0\] is -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_graph(**changes)
    with pytest.raises(ValueError, match=r"mask has shape \(3, 2\) but the image has \(2, 3\)"):
        make_graph().node_labels(SEGMENTS.T)
    for labels in (0, [0, 1], np.zeros((2, 3))):
        with pytest.raises(ValueError, match="labels must have one entry per node, 3"):
            make_graph().pixel_mask(labels)


def test_what_is_wrong_is_named(fitted):
    for name in (
        "estimator_cloneable", "estimator_repr", "estimator_tags_renamed", "get_params_invariance",
        "mixin_order", "no_attributes_set_in_init", "parameters_default_constructible",
        "set_params", "valid_tag_types",
    ):  # fmt: skip
        # those with data give matrices, not images
        getattr(estimator_checks, f"check_{name}")("SuperpixelGraphs", SuperpixelGraphs())
    of_shape = r"X\[1\] must be an image of shape \(H, W\)"
    for error, message, *wrong in (
        (ValueError, r"0 sample\(s\)", [], np.empty((0, 4, 4))),
        (TypeError, "X must be a list with one image .* got (NoneType|str|generator)", None,
         "horse.png", (image for image in IMAGES)),
        (ValueError, r"one image .* got ndarray of shape \(4, 4\)", np.zeros((4, 4))),
        (ValueError, r"X has shape \(4, 4, 3\), that of one image: put it into a list", GOOD),
        (ValueError, r"X\[3\] must be an image .* \(4, 4, 2\)", [*[GOOD] * 3, GOOD[..., :2]]),
        (ValueError, r"X\[0\] must be .* got shape \(4, 4, 1\)", np.zeros((2, 4, 4, 1))),
        (ValueError, of_shape, [GOOD, np.zeros((4, 4, 4))]),
        (ValueError, of_shape + r".* got shape \(3,\)", [GOOD, GOOD[0, 0]]),
        (ValueError, of_shape + r".* got shape \(0, 4\)", [GOOD, np.zeros((0, 4))]),
        (ValueError, r"X\[1\] is no array", [GOOD, [[0.1, 0.2], [0.3]]]),
        (ValueError, of_shape + ".* dtype (int64|bool|<U5|object)", [GOOD, GOOD.astype(int)],
         [GOOD, GOOD > 0], [GOOD, "a.png"], [GOOD, None]),
        (ValueError, of_shape + ".* with values from nan", [GOOD, GOOD + np.nan]),
        (ValueError, of_shape + ".* with values from inf", [GOOD, GOOD + np.inf]),
        (ValueError, of_shape + ".* with values from 255 to 255$", [GOOD, GOOD + 255.0]),
        (ValueError, of_shape + ".* with values from -0.5 to -0.5", [GOOD, GOOD - 0.5]),
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
