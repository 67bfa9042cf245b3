"""Fingerprints of problems: whether a saved dual point belongs to a problem."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Fingerprint:
    """Identity of a problem: problems with equal fingerprints have the same dual points.

    Two problems with equal entries here have the same planes, block by block. The weights of
    the blocks, lam and bounds are not part of it: a dual point can be changed with them.

    Attributes
    ----------
    whole : dict of str to object
        What belongs to the whole problem, by its public name.
    blocks : dict of str to ndarray of shape (n_blocks,)
        Digests (or values) of what belongs to a block, by its public name, such
        as "X" for its features.
    """

    whole: dict
    blocks: dict

    def difference(self, earlier):
        """Return why this problem is not an earlier one with blocks appended; None if it is.

        Parameters
        ----------
        earlier : Fingerprint
            Of the earlier problem.

        Returns
        -------
        sentence : str or None
            The first difference; None if there is none.
        """
        for name in earlier.whole | self.whole:
            value, new = earlier.whole.get(name), self.whole.get(name)
            if new != value:
                return f"{name} changed" + (
                    f" from {value} to {new}" if isinstance(value, (int, str, list)) else ""
                )
        for name, digests in earlier.blocks.items():
            new = self.blocks.get(name)
            if new is None:
                return f"{name} changed"
            if len(new) < len(digests):
                return f"X has {len(new)} samples but had {len(digests)}"
            wrong = np.flatnonzero(new[: len(digests)] != digests)
            if len(wrong):
                return f"{name}[{wrong[0]}] changed"
        return None
