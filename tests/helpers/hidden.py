"""Structures with hidden parts, all of whose labellings can be tried."""

import numpy as np

from sskit.models import StructuredModel


class Styles(StructuredModel):
    """Classes of which each has styles: a labelling is (class, style), of which y is the class."""

    def __init__(self, n_classes=3, n_styles=2, n_features=4):
        self.n_classes = n_classes
        self.n_styles = n_styles
        self.n_features = n_features

    @property
    def n_weights(self):
        return self.n_classes * self.n_styles * self.n_features

    def labellings(self, x=None):
        return [(k, s) for k in range(self.n_classes) for s in range(self.n_styles)]

    def joint_feature(self, x, y):
        phi = np.zeros((self.n_classes, self.n_styles, self.n_features))
        phi[y] = x
        return phi.ravel()

    def loss(self, y_true, y):
        return float(y[0] != y_true)

    def scores(self, x, w):
        return w.reshape(self.n_classes, self.n_styles, -1) @ x

    def argmax(self, x, w, y_true=None):
        scores = self.scores(x, w)
        if y_true is not None:
            scores += (np.arange(self.n_classes) != y_true)[:, None]
        return divmod(int(scores.argmax()), self.n_styles)

    def complete(self, x, y, w):
        return y, int(self.scores(x, w)[y].argmax())


class Started(Styles):
    """Draws what it begins with, and tells what can be seen."""

    def start(self, X, Y, random_state):
        return [(y, int(random_state.randint(self.n_styles))) for y in Y]

    def observed(self, y):
        return y[0]


class Careless(Started):
    """Neither the best labelling nor the best completion: the better of two that it evaluates."""

    exact = False

    def argmax(self, x, w, y_true=None):
        best = super().argmax(x, w, y_true)
        return (best[0], 0) if x[0] > 0.3 else best

    def complete(self, x, y, w):
        return (y, 1) if x[1] > 0.5 else super().complete(x, y, w)


class Hidden:
    """`Styles` as pystruct has it: labels of both parts are numbers, 2 class + style."""

    def __init__(self, n_classes=3, n_features=4):
        self.n_classes = n_classes
        self.size_joint_feature = 2 * n_classes * n_features

    def __repr__(self):
        return "Hidden()"

    def _styles(self):
        return Styles(self.n_classes, 2, self.size_joint_feature // 2 // self.n_classes)

    def joint_feature(self, x, h):
        return self._styles().joint_feature(x, divmod(int(h), 2))

    def inference(self, x, w):
        return int(np.dot(self._styles().argmax(x, w), (2, 1)))

    def loss_augmented_inference(self, x, h, w):
        return int(np.dot(self._styles().argmax(x, w, self.label_from_latent(h)), (2, 1)))

    def loss(self, h, h_hat):
        return self.base_loss(self.label_from_latent(h), self.label_from_latent(h_hat))

    def base_loss(self, y, y_hat):
        return float(y != y_hat)

    def latent(self, x, y, w):
        return int(np.dot(self._styles().complete(x, y, w), (2, 1)))

    def init_latent(self, X, Y):
        return [2 * y + int(np.random.randint(2)) for y in Y]

    def label_from_latent(self, h):
        return int(h) // 2


def make_styles(n=50, seed=0, noise=1.0):
    """Rows of three classes with two styles each."""
    rng = np.random.default_rng(seed)
    y, h = rng.integers(3, size=n), rng.integers(2, size=n)
    X = rng.normal(size=(3, 2, 4))[y, h] + rng.normal(scale=noise, size=(n, 4))
    return list(X), y.tolist()
