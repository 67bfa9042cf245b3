"""SegmentationModel predicts the best labelling that cuts can find, of nodes and of pixels.

Weights of pairs keep to their bounds; masks are the labels of their nodes; what is wrong is named.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import crosses, grid_edges
from helpers.labellings import max_marginals, score_labellings
from helpers.refusals import refused
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sskit import SegmentationModel
from sskit.datasets import make_segmentation_images
from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import node_targets
from sskit.preprocessing import SuperpixelGraph, SuperpixelGraphs

NAMES = ("features", "edges", "edge_features")


def blobs(n, n_states=2, noise=1.0, shape=(6, 7)):
    """Noisy grids whose left and right parts, and the middle of three, have a state each."""
    rng = np.random.default_rng(0)
    edges, X, y = grid_edges(*shape), [], []
    for _ in range(n):
        cuts = np.sort(rng.integers(1, shape[1], size=n_states - 1))
        labels = np.searchsorted(cuts, np.arange(shape[1]), side="right")
        y.append(np.tile(rng.permutation(n_states)[labels], shape[0]))
        noisy = np.eye(n_states)[y[-1]] + noise * rng.normal(size=(len(y[-1]), n_states))
        features = np.hstack([noisy, np.ones((len(noisy), 1))])
        X.append((features, edges, rng.uniform(0.5, 1.5, size=(len(edges), 2))))
    return X, y


@pytest.mark.parametrize("pairwise", ["potts", "full"])
@pytest.mark.parametrize(
    ("n_states", "inference"), [(2, "graphcut"), (2, "expansion"), (3, "auto")]
)
def test_predicts_the_best_labelling_under_what_is_known(n_states, inference, pairwise):
    """That elimination does is in test_enumeration.py."""
    X, y = blobs(12, n_states, noise=0.7, shape=(2, 4))
    model = SegmentationModel(pairwise_form=pairwise, inference=inference, random_state=0)
    model.fit(X, y)
    possible = np.ones((8, n_states), dtype=bool)
    possible[[2, 5]] = np.eye(n_states, dtype=bool)[[0, 1]]
    known = [None, possible, [None, None, 0, None, None, {1}, None, None], *[None] * 9]
    found, scores = model.predict(X, known=known), model.decision_function(X, known=known)
    np.testing.assert_allclose(model.node_scores(X)[0], X[0][0] @ model.coef_.T, atol=1e-10)
    for i in range(3):
        mask = possible if i else np.ones_like(possible)
        labels, values = score_labellings(model, X[i])
        values[~mask[np.arange(8), labels].all(axis=1)] = -np.inf
        most = max_marginals(labels, values, n_states)
        assert (np.isneginf(scores[i]) == ~mask).all() and (scores[i] <= most + 1e-9).all()
        assert scores[i].argmax(axis=1).tolist() == found[i].tolist()
        if inference == "graphcut":
            assert found[i].tolist() == labels[values.argmax()].tolist()
            np.testing.assert_allclose(scores[i], most)


def graph_score(model, graph, labels):
    """The score of a labelling."""
    features, edges, edge_features = graph
    weights, (a, b) = np.tensordot(edge_features, model.pairwise_, 1), labels[edges].T
    pairs = weights * (a == b) if weights.ndim == 1 else weights[np.arange(len(a)), a, b]
    return (features @ model.coef_.T)[np.arange(len(labels)), labels].sum() + pairs.sum()


def test_tables_on_crosses_are_predicted_as_well_as_they_are_trained():
    """A centre and its four neighbours have to go to different labels at once."""
    for lam, seed in ((0.1, 0), (0.01, 0), (0.01, 1), (0.01, 2)):
        X, y = crosses(seed=seed)
        model = SegmentationModel(lam, pairwise_form="full", random_state=0).fit(X, y)
        X, losses = [(x, edges, np.ones((len(edges), 1))) for x, edges, *_ in X], []
        for graph, labels, truth in zip(X, model.predict(X), y, strict=True):
            missed = graph_score(model, graph, truth) - graph_score(model, graph, labels)
            losses.append(np.sum(labels != truth) - missed)
            assert missed < (2.5 if lam == 0.1 else 6)
            assert lam != 0.1 or np.sum(labels != truth) <= 12
        # P(w) is no less than what predictions and the truth make of it
        w = np.concatenate([model.coef_.ravel(), model.pairwise_[0][np.triu_indices(3)]])
        hinges = model.primal_objective_ - lam / 2 * w @ w
        assert hinges >= np.mean(np.maximum(losses, 0)) - 1e-9


@pytest.mark.parametrize("pairwise", ["potts", "full"])
@pytest.mark.parametrize("solver", ["bcfw", "fw"])
def test_learnt_weights_of_pairs_never_leave_their_bounds(solver, pairwise):
    """Neighbours that differ pull the weights below zero; prediction with such is no cut."""
    rng, edges = np.random.default_rng(0), grid_edges(1, 8)
    X = [(rng.normal(size=(8, 2)), edges, rng.uniform(size=(7, 3))) for _ in range(20)]
    y = [(np.arange(8) + i) % 2 for i in range(20)]
    model = SegmentationModel(pairwise_form=pairwise, solver=solver, random_state=0).fit(X, y)
    weights = model.pairwise_
    if pairwise == "full":
        assert weights[:, 0, 1].max() == 0.0
        weights = weights[:, [0, 1], [0, 1]]
    assert weights.min() == 0.0
    model.predict(X)
    if solver == "bcfw":
        free = clone(model).set_params(inference="elimination", tol=1e-4).fit(X, y)
        assert free.primal_objective_ < model.dual_objective_


def test_forms_of_graphs():
    """Graphs without features of edges, and objects, are in tests/inputs/test_graphs.py."""
    (X, y), array = blobs(16), np.empty(16, dtype=object)
    array[:] = X
    expected = SegmentationModel(tol=0.1, random_state=0).fit(X, y)
    for form in ([[x.tolist(), e.tolist(), z.tolist()] for x, e, z in X], as_objects(X), array):
        found = clone(expected).fit(form, y)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert all(map(np.array_equal, found.predict(form), expected.predict(X)))


def as_objects(X, areas=None):
    """Graphs as objects with attributes, perhaps with areas of nodes."""
    found = [SimpleNamespace(**dict(zip(NAMES, graph, strict=True))) for graph in X]
    for graph, area in zip(found, areas or (), strict=False):
        graph.areas = area
    return found


def test_one_graph_is_refused_as_it_is_among_others():
    X, y = blobs(6)
    model = SegmentationModel(random_state=0).fit(X, y)
    for k, value, pattern in (
        (2, -np.ones((71, 2)), "edge features must not be negative"),
        (0, np.full((42, 3), np.nan), "features of X.0. contain"),
        (1, np.full((71, 2), 42), "expected integers >= 0 and <= 41"),
    ):
        wrong, messages = (*X[0][:k], value, *X[0][k + 1 :]), set()
        for batch in ([wrong], [wrong, X[1]]):
            with pytest.raises(ValueError, match=pattern) as caught:
                model.predict(batch)
            messages.add(str(caught.value))
        assert len(messages) == 1
    model.pairwise_[0] = -1.0
    with pytest.raises(ValueError, match="pairwise_ prefers different labels"):
        model.predict(X[:1])


def pictures(n, ignore=None):
    """Graphs with segments of 2 x 3 pixels a node, and masks."""
    X, y = blobs(n)
    segments, masks = np.arange(42).reshape(6, 7).repeat(2, axis=0).repeat(3, axis=1), []
    for i, labels in enumerate(y):
        masks.append(np.array(["earth", "water"])[labels][segments])
        masks[-1][0, ::3] = "water" if i % 2 else "earth"  # minorities
        if ignore:
            masks[-1][:, :4] = ignore
    return [SuperpixelGraph(*graph, segments) for graph in X], masks, y


@pytest.mark.parametrize("ignore", [None, "void"])
def test_pixel_masks(ignore):
    graphs, masks, y = pictures(20, ignore)
    model = SegmentationModel(ignore_label=ignore, random_state=0).fit(graphs, masks)
    assert model.classes_.tolist() == ["earth", "water"]
    predicted = model.predict(graphs)
    assert predicted.dtype == object and predicted.shape == (20,)
    right = [(a == b)[b != ignore] for a, b in zip(predicted, masks, strict=True)]
    assert model.score(graphs, masks) == pytest.approx(np.concatenate(right).mean())
    labels = [np.array(["earth", "water"])[states] for states in y]
    for states in labels if ignore else ():  # nodes of which no pixel has a label
        states.reshape(6, 7)[:, 0] = ignore
    of_nodes = SegmentationModel(ignore_label=ignore, random_state=0).fit(graphs, labels)
    np.testing.assert_array_equal(of_nodes.coef_, model.coef_)
    for mask, states, graph in zip(predicted, of_nodes.predict(graphs), graphs, strict=True):
        assert states.shape == (42,) and np.array_equal(mask, graph.pixel_mask(states))


def test_masks_are_known_as_they_are_learned():
    graphs, masks, _ = pictures(20, "void")
    model = SegmentationModel(ignore_label="void", random_state=0).fit(graphs, masks)
    other = np.where(masks[0] == "void", "void", np.where(masks[0] == "earth", "water", "earth"))
    with_none = np.where(other == "void", None, other).astype(object)
    labels, labelled, _ = node_targets([other], check_graphs(graphs[:1]), "void")
    known = np.where(labelled, labels, None).tolist()
    assert None in known and {"earth", "water"} < {*known}
    expected = model.predict(graphs[:2], known=[known, None])
    assert (expected[0] != model.predict(graphs[:1])[0]).any()
    for given in (other, other.tolist(), with_none, with_none.tolist()):
        found = model.predict(graphs[:2], known=[given, None])
        np.testing.assert_array_equal(np.stack(found), np.stack(expected))
    # a stack of masks, also of labels that are numbers or booleans
    for convert in (lambda mask: (mask == "water") * 3, lambda mask: mask == "water"):
        model = SegmentationModel(random_state=0).fit(graphs, [convert(m) for m in masks])
        odd = np.array(["earth", "water"])[np.arange(42) % 2]
        blocks = np.stack([convert(graph.pixel_mask(odd)) for graph in graphs])
        np.testing.assert_array_equal(np.stack(model.predict(graphs, known=blocks)), blocks)
    wrong, X = convert(masks[0]).astype(int), blobs(1)[0]
    wrong[1, 2] = 7
    nodes = SegmentationModel(random_state=0).fit(X, [np.arange(42) % 2 == 0])
    for given, asked, data, message in [
        (wrong, model, graphs, r"^known\[0\]\[1\]\[2\] is 7, which is no label .* as False, True"),
        (wrong[1:], model, graphs, r"X\[0\] has segments of shape \(12, 21\) but known\[0\] has"),
        (wrong, nodes, X, r"^known\[0\] has labels of pixels, but X does not say by .*'segments'"),
    ]:
        with pytest.raises(ValueError, match=message):
            asked.predict(data[:1], known=[given])


def test_areas_weigh_nodes():
    """In training too: the objective of parts is that of all, in reading/test_summary.py."""
    X, y = blobs(20, noise=1.5)
    rng, truth = np.random.default_rng(0), np.concatenate(y)
    areas = [np.where(labels == 1, 5.0, 1.0) * rng.uniform(1, 2, 42) for labels in y]
    graphs, flat = as_objects(X, areas), np.concatenate(areas)
    plain, weighted = (
        SegmentationModel(node_weights=weights, random_state=0).fit(graphs, y)
        for weights in (None, "areas")
    )
    recall = [np.mean(np.concatenate(m.predict(X))[truth == 1]) for m in (plain, weighted)]
    assert recall[1] > recall[0] + 0.02
    right, half = np.concatenate(weighted.predict(X)) == truth, np.arange(840) < 420
    assert weighted.score(X, y) == pytest.approx(right.mean())
    expected = np.average(right[half], weights=flat[half])
    assert weighted.score(graphs, y, sample_weight=np.arange(20) < 10) == pytest.approx(expected)


def test_ignored_nodes_do_not_count():
    """In training: test_enumeration.py; labels of another kind: test_kinds_of_labels.py."""
    X, y = blobs(20)
    some = [np.where(np.arange(42) % 3 == 0, -1, labels) for labels in y]
    model = SegmentationModel(ignore_label=-1, random_state=0).fit(X, some)
    found, truth = np.concatenate(model.predict(X)), np.concatenate(some)
    assert model.score(X, some) == pytest.approx(np.mean(found[truth >= 0] == truth[truth >= 0]))
    with pytest.raises(ValueError, match="y has no labels but ignore_label=-1"):
        model.fit(X, [np.full(42, -1)] * 20)
    graphs, masks, _ = pictures(4)
    codes = [(mask == "water").astype(float) for mask in masks]
    void = [np.zeros(mask.shape, dtype=[("a", float)]) for mask in masks]
    with pytest.raises(TypeError, match="structured"):
        SegmentationModel(ignore_label=-1).fit(graphs, [void[0], *codes[1:]])
    with pytest.raises(ValueError, match="^ignore_label must be one label, got <class 'int'>"):
        SegmentationModel(ignore_label=int).fit(graphs, masks)
    with pytest.raises(TypeError, match=r"^y has labels of dtype \[.*but the model predicts"):
        SegmentationModel(tol=0.5).fit(graphs, codes).score(graphs, void)


def test_bad_data_are_named_and_leave_the_model():
    X, y = blobs(4)
    (x, edges, z), (graphs, masks, _), masked = X[2], pictures(2), as_objects(X)

    def third(*graph):
        return [*X[:2], graph, X[3]]

    model = SegmentationModel(random_state=0).fit(*blobs(6))
    for items, labels, message in [
        ([*X[:2], x, X[3]], y, r"X\[2\] must be a graph.*SuperpixelGraphs"),
        (third(x), y, r"X\[2\] must be a graph .*1 items"),
        (third(x, edges * 1.0, z), y, r"edges of X\[2\]"),
        (third(x, np.where(edges == 41, 40, edges), z), y, r"X\[2\] joins node 40 to"),
        (third(x, edges, z * np.inf), y, r"edge features of X\[2\] contains infinity"),
        (third(x[:, :1], edges, z), y, r"X\[2\] has 1 features but X\[0\] has 3"),
        (third(x, edges, z[:, :1]), y, r"X\[2\] has 1 edge features but X\[0\] has 2"),
        (third(x, edges, z - 1), y, r"edge features must not be negative.*X\[2\] has"),
        (third(x, edges, z * 1e200), y, r"^the edge features in X are too .*X\[2\]$"),
        (X, [*y[:3], y[3][:-1]], r"X\[3\] has 42 rows but y\[3\] has 41"),
        (X, None, "y must be a list"),
        (X, [np.zeros((2, 21))] * 4, r"X does not say .*'segments'"),
        (np.zeros((4, 6, 7)), y, r"SuperpixelGraphs makes .*\(4, 6, 7"),
        ([np.zeros((6, 7, 3))] * 4, y, r"X\[0\] must be .*SuperpixelGraphs"),
        (graphs, [np.zeros((12, 21, 3))] * 2, r"y\[0\] must be .* shape \(12, 21, 3"),
        (graphs, [masks[0], y[0]], r"y\[1\] must be a two-"),
        (graphs, [np.zeros((2, 21))] * 2, r"X\[0\] has segments of shape \(12, 21\) b"),
        (masked, y, "node_weights='areas' needs graphs with areas"),
    ]:
        model.set_params(node_weights="areas" if items is masked else None)
        with refused(model, (TypeError, ValueError), message):
            model.fit(items, labels)
    painter = SegmentationModel(random_state=0).fit(graphs, masks)
    cuts, bounds = SegmentationModel(inference="graphcut"), {"pairwise": (None, -1)}
    for call, given, message in (
        (cuts.fit, blobs(4, 3), "'graphcut' finds the best of two labels, but y has 3"),
        (SegmentationModel(bounds=bounds).fit, blobs(4, 3), "leave nothing of the model's own"),
        (model.predict, ([(np.ones((2, 3)), [[0, 1]], None)],), "expecting 2 edge features"),
        (model.score, (X, [k.astype(str) for k in y]), "dtype <U21, but the model predicts int"),
        (painter.predict, (X,), "X has no segments"),
        (painter.score, (graphs, y[:2]), "fitted to labels of pixels"),
        (model.score, (graphs, masks), "fitted to labels of nodes"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call(*given)


# ---- from images to masks ------------------------------------------------------------------

images, masks = make_segmentation_images(14, shape=(48, 64), n_classes=2, random_state=0)
# of many sizes
IMAGES = [image[: 48 - i, : 64 - 2 * i] for i, image in enumerate(images)]
MASKS = [np.array(["sea", "wood"])[mask][: 48 - i, : 64 - 2 * i] for i, mask in enumerate(masks)]


def test_images_in_masks_out():
    words = {"n_color_words": 8, "n_texture_words": 8}
    superpixels = SuperpixelGraphs(n_segments=60, neighborhood=0, random_state=0, **words)
    fitted = make_pipeline(superpixels, SegmentationModel(lam=0.1, random_state=0))
    fitted.fit(IMAGES[:10], MASKS[:10])
    found = fitted.predict(IMAGES[10:])
    assert [mask.shape for mask in found] == [image.shape[:2] for image in IMAGES[10:]]
    right = [(a == b).ravel() for a, b in zip(found, MASKS[10:], strict=True)]
    assert fitted.score(IMAGES[10:], MASKS[10:]) == pytest.approx(np.concatenate(right).mean())
    assert np.concatenate(right).mean() > 0.8
    # masks are known in a pipeline too
    other = np.where(found[0] == "sea", "wood", "sea")
    with config_context(enable_metadata_routing=True):
        fitted[-1].set_predict_request(known=True)
        known = fitted.predict(IMAGES[10:], known=[other, None, None, None])
    assert np.mean(known[0] == found[0]) < 0.1
    assert np.array_equal(known[1], found[1])
