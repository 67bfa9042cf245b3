# Types of what Python sees of the compiled module.

import numpy as np

from sskit.models.features import FeatureRows, SequenceGrams

class FeatureMap:
    n_blocks: int
    n_weights: int
    max_statistics: int
    longest: int
    n_columns: int
    stride: int
    node_base: int
    is_single: bool
    head_rows: int
    head_columns: int
    head_weights: int
    edge_columns: int
    edge_stride: int
    edge_weights: int
    edge_pairs: bool
    tail_rows: int
    tail_columns: int
    tail_stride: int
    tail_base: int
    tail_weights: int
    features: FeatureRows
    edge_features: FeatureRows | None
    grams: SequenceGrams | None
    space: object
    def __init__(
        self,
        features: FeatureRows,
        offsets: np.ndarray,
        n_columns: int,
        *,
        head: tuple[int, int] = (0, 0),
        mask: np.ndarray | None = None,
        first_mask: np.ndarray | None = None,
        last_mask: np.ndarray | None = None,
        edges: FeatureRows | None = None,
        edge_offsets: np.ndarray | None = None,
        edge_columns: int | None = None,
        tail: tuple[int, int] = (0, 0),
        triples: bool = False,
        space: object | None = None,
    ) -> None: ...
    @property
    def offsets(self) -> np.ndarray: ...
    def prepare(
        self, grams: SequenceGrams | None = None, row_sqnorm: np.ndarray | None = None
    ) -> None: ...
    def make_grams(self, most: float | None = None) -> SequenceGrams: ...
    def fork(self) -> FeatureMap: ...
    def at_rows(self, numbers: np.ndarray, offsets: np.ndarray, space: object) -> FeatureMap: ...
    def digests(self) -> tuple[dict[str, object], dict[str, np.ndarray]]: ...

def padded_columns(columns: int) -> int: ...
def weights_alone(n_blocks: int, n_weights: int) -> FeatureMap: ...
