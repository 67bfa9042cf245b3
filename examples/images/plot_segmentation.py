"""
Semantic segmentation of images: SegmentationModel
==================================================

A superpixel may resemble water in the middle of a forest: a pond, or a part of a lake? Two models
label the same superpixels. One labels each separately. The other has learned, from pairs of
similar and different neighbours, how much neighbours should have equal labels, and finds its best
labelling by graph cuts.
"""

# %%
# The data: views of land from above, with four labels, and spots that have the label of their
# surroundings.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from sskit import SegmentationModel
from sskit.datasets import make_segmentation_images
from sskit.display import SegmentationDisplay
from sskit.preprocessing import SuperpixelGraphs

X, y = make_segmentation_images(60, random_state=0)
X_train, X_test, y_train, y_test = X[:40], X[40:], y[:40], y[40:]

# %%
# From images to graphs: superpixels, histograms of their colours and textures, and similarities of
# neighbours. Both models have the same features, but the weights of pairs of the first are bounded
# to zero, so it labels each superpixel separately.

superpixels = SuperpixelGraphs(
    n_segments=200,
    n_color_words=32,
    n_texture_words=32,
    position_grid=0,
    neighborhood=0,
    random_state=0,
)
unary = make_pipeline(
    superpixels, SegmentationModel(lam=0.1, bounds={"pairwise": (0, 0)}, random_state=0)
)
pairwise = make_pipeline(superpixels, SegmentationModel(lam=0.1, random_state=0))
unary.fit(X_train, y_train)
pairwise.fit(X_train, y_train)

# %%
# The display draws both predictions for test images.

SegmentationDisplay.from_estimator(
    {"superpixels alone": unary, "with neighbours": pairwise},
    X_test[:3],
    y_test[:3],
    display_labels=["water", "forest", "field", "sand"],
    colors=["tab:blue", "tab:green", "gold", "tab:red"],
)
plt.show()

# %%
# The fraction of right pixels in all test images. No labelling of these superpixels can be better
# than the last number.

graphs = pairwise[0].transform(X_test)
pairs = zip(graphs, y_test, strict=True)
best = [graph.pixel_mask(graph.node_labels(mask)) for graph, mask in pairs]
print(f"superpixels alone  {unary.score(X_test, y_test):.3f}")
print(f"with neighbours    {pairwise.score(X_test, y_test):.3f}")
print(f"best possible      {np.mean(np.array(best) == np.array(y_test)):.3f}")
