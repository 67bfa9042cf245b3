"""Checkpoints: dual variables in a file, from which a lost fit continues."""

import os
import pickle
from dataclasses import replace
from pathlib import Path

from sskit import __version__


class Checkpoint:
    """A file in a folder, which is replaced only by another complete one.

    So it is complete at any time, even if the process ends while writing.

    Parameters
    ----------
    folder : str or path
        Made if there is none.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.path = self.folder / "checkpoint"

    def load(self):
        """Return the warm starts of parts.

        Returns
        -------
        starts : dict of int to WarmStart
            By the numbers of the parts; empty if there is no checkpoint.

        Raises
        ------
        ValueError
            If the checkpoint is of another version.
        """
        if not self.path.exists():
            return {}
        with open(self.path, "rb") as file:
            version = pickle.load(file)
            if version != __version__:
                raise ValueError(
                    f"the checkpoint in {self.folder} was made with version {version}, not "
                    f"{__version__}; choose another folder"
                )
            starts = pickle.load(file)
        refusal = (
            f"the checkpoint in {self.folder} is of other data or another model, because {{}}; "
            "choose another folder"
        )
        return {number: replace(start, refusal=refusal) for number, start in starts.items()}

    def save(self, starts):
        """Make a new checkpoint in place of the last one.

        Parameters
        ----------
        starts : dict of int to WarmStart
            The present state of parts, by their numbers.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / "unfinished"
        with open(unfinished, "wb") as file:
            pickle.dump(__version__, file)
            pickle.dump(starts, file)
        os.replace(unfinished, self.path)
