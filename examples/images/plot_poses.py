"""
Pose estimation by parts and springs: PartsModel
================================================

A detector has scored each joint of a body separately. It misses some joints, confuses left and
right, and finds joints in the clutter. A model of the positions of joints relative to each other
finds them together.
"""

# %%
# Stick figures, with maps of scores for each of 14 joints. The map of one joint:

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

from sskit import PartsModel
from sskit.datasets import make_poses
from sskit.display import PoseDisplay
from sskit.metrics import pdj_curve

poses = make_poses(120, random_state=0)
X_train, X_test = poses.data[:80], poses.data[80:]
y_train, y_test = poses.target[:80], poses.target[80:]

wrist = poses.joint_names.index("left wrist")
figure, ax = plt.subplots(figsize=(3, 3), layout="constrained")
ax.imshow(X_test[0][wrist], cmap="gray")
ax.scatter(*y_test[0][wrist], facecolors="none", edgecolors="tab:red", s=120, label="left wrist")
_ = ax.legend()

# %%
# The model converts scores to log odds: how much more frequent a score is at its joint than
# elsewhere. It learns the weight of each joint and the stiffness of each spring. The best of all
# poses is found exactly, by distance transforms, so the fit ends with a certificate.

model = PartsModel(poses.parents, n_types=2, torso=poses.torso, tol=0.05, random_state=0)
model.fit(X_train, y_train)
print(f"gap {model.dual_gap_:.3g}, certified: {model.certified_}")
print(f"{model.n_oracle_calls_} oracle calls")
print(f"joints within a fifth of a torso: {model.score(X_test, y_test):.0%}")

# %%
# Comparison with the highest score of each map:

highest = [
    np.column_stack(np.unravel_index(x.reshape(len(x), -1).argmax(axis=1), x.shape[1:]))[:, ::-1]
    for x in X_test
]
_ = PoseDisplay.from_predictions(
    y_test[:3],
    {"highest scores": highest[:3], "parts on springs": model.predict(X_test[:3])},
    poses.parents,
    images=[x.max(axis=0) for x in X_test[:3]],
)

# %%
# The log odds of scores: all low scores are equal evidence against the joint, and high ones are
# evidence for it. Above the last knot log odds are constant.

figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
for name in ("head top", "left wrist"):
    ax.plot(*model.score_curves_[poses.joint_names.index(name)].T, marker=".", label=name)
ax.set(xlabel="score", ylabel="log odds")
_ = ax.legend()

# %%
# The fraction of joints detected within each distance:

figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
for name, found in {"highest scores": highest, "parts on springs": model.predict(X_test)}.items():
    ax.plot(*pdj_curve(y_test, found, torso=poses.torso), label=name)
ax.set(xlabel="distance in torsos", ylabel="joints detected", ylim=(0, 1))
_ = ax.legend()

# %%
# Max-marginals show where a joint may be, given all maps. The left wrist again:

figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
axes[0].imshow(X_test[0][wrist], cmap="gray")
axes[0].set_title("score map")
axes[1].imshow(model.decision_function(X_test[:1])[0][wrist], cmap="gray")
axes[1].set_title("max-marginals")
for ax in axes:
    ax.scatter(*y_test[0][wrist], facecolors="none", edgecolors="tab:red", s=120)
plt.show()
