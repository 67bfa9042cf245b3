"""What worker processes import."""

import numpy as np


class CountingGrid:
    """A segmenter that cuts into squares, in a numbering of its own, and notes every call."""

    def __init__(self, side, log):
        self.side = side
        self.log = log

    def __call__(self, image):
        assert image.dtype == np.float32
        assert image.min() >= 0
        assert image.max() <= 1
        with open(self.log, "a") as file:
            file.write("x")
        rows, columns = (np.arange(size) // self.side for size in image.shape[:2])
        return 100 * rows[:, None] + columns - 3
