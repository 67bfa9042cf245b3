"""Dual variables in a file, from which a fit goes on that was lost."""

import os
import pickle
from dataclasses import replace
from pathlib import Path

from sskit import __version__

# What a fit that goes on may have otherwise: none of these changes what is learned from the data.
FREE = {"lam", "max_iter", "n_jobs", "random_state", "tol", "verbose", "warm_start"}
REFUSAL = "the checkpoint in {folder} is of other data, because {{}}; choose another folder"


class Checkpoint:
    """A file in a folder, which is replaced once there is another whole one.

    So there is none that lacks something, whenever the process ends.

    Parameters
    ----------
    folder : str or path
        Made if there is none.
    estimator : StructuredEstimator
        Whose fit it is.
    n_parts : int
        Number of parts of the data.
    """

    def __init__(self, folder, estimator, n_parts):
        self.folder = Path(folder)
        self.path = self.folder / "checkpoint"
        self.about = {
            "version": __version__,
            "estimator": type(estimator).__name__,
            "parts": n_parts,
        } | {
            name: repr(value)
            for name, value in sorted(estimator.get_params(deep=True).items())
            if name not in FREE
        }

    def load(self):
        """Return where parts were left.

        Returns
        -------
        starts : dict of int to WarmStart
            By the numbers of the parts; empty if there is no checkpoint.

        Raises
        ------
        ValueError
            If the checkpoint is of another version, model or number of parts.
        """
        if not self.path.exists():
            return {}
        with open(self.path, "rb") as file:
            about = pickle.load(file)
            for name in about | self.about:
                then, now = about.get(name), self.about.get(name)
                if then != now:
                    raise ValueError(
                        f"the checkpoint in {self.folder} was made with {name} {then}, not {now}; "
                        "choose another folder"
                    )
            starts = pickle.load(file)
        refusal = REFUSAL.format(folder=self.folder)
        return {number: replace(start, refusal=refusal) for number, start in starts.items()}

    def save(self, starts):
        """Make a new checkpoint in place of the last one.

        Parameters
        ----------
        starts : dict of int to WarmStart
            Where parts are, by their numbers.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / "unfinished"
        with open(unfinished, "wb") as file:
            pickle.dump(self.about, file)
            pickle.dump(starts, file)
        os.replace(unfinished, self.path)
