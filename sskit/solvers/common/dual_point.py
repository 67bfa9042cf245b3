"""Dual points that outlive the run which found them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DualPoint:
    """From where a run can go on, in another process, at another lam, with more data.

    Attributes
    ----------
    lam : float
        Regularisation strength at which it was found.
    block_weight : ndarray of shape (n_blocks,)
        Weights c_i of the blocks.
    largest_loss : ndarray of shape (n_blocks,)
        Hinges of the blocks at w = 0.
    blocks : dict
        Mixes and stored planes.
    average : tuple or None
        The average of the iterates.
    """

    lam: float
    block_weight: np.ndarray
    largest_loss: np.ndarray
    blocks: dict
    average: tuple | None

    def shares(self, block_weight, lam):
        r"""Return the share of their weights that the planes of each block keep.

        Block i adds :math:`\tfrac{c_i}{\lambda} B_i q_i` to v. With :math:`\rho_i =
        \tfrac{c_i}{\lambda} / \tfrac{c_i'}{\lambda'} \le 1` the mix :math:`\rho_i q_i`, whose
        remaining weight is on the truth (psi = 0, loss = 0), adds the same: proposition 1 of
        Osokin et al. 2016, which is :math:`c' = c`, block by block. Where :math:`\rho_i > 1` no
        mix does, and it stays as it is. So v stays if lam becomes smaller, if blocks are appended
        at constant :math:`n \lambda`, or if a block weighs more; else it shrinks.

        Parameters
        ----------
        block_weight : ndarray of shape (n_blocks,)
            New weights of the blocks; those beyond the old ones are of blocks at the truth.
        lam : float
            New regularisation strength.

        Returns
        -------
        shares : ndarray of shape (n_blocks,)
            At most 1.
        """
        new = np.asarray(block_weight)
        old = np.zeros(len(new))
        old[: len(self.block_weight)] = self.block_weight
        enough, available = old * lam, new * self.lam
        return np.divide(enough, available, out=np.ones(len(new)), where=enough < available)

    def restore(self, run):
        """Let a new run go on from here.

        Parameters
        ----------
        run : DualRun
            Of a problem that is the old one, perhaps with blocks appended.

        Raises
        ------
        ValueError
            If the problem has fewer blocks.
        """
        if run.problem.n_blocks < len(self.block_weight):
            raise ValueError(
                f"the dual point has {len(self.block_weight)} blocks but the problem has "
                f"{run.problem.n_blocks}"
            )
        block_weight, lam = run.problem.block_weight, run.regularizer.lam
        unchanged = lam == self.lam and np.array_equal(block_weight, self.block_weight)
        run.restore(
            self.blocks, self.average if unchanged else None, self.shares(block_weight, lam)
        )
