"""Dual variables in a folder, from which a fit goes on that was lost."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import joblib

from sskit import __version__

# What a fit that goes on may have otherwise: none of these changes what is learned from the data.
FREE = {"lam", "max_iter", "n_jobs", "random_state", "tol", "verbose", "warm_start"}
REFUSAL = "the checkpoint in {folder} is of other data, because {{}}; choose another folder"


class Checkpoint:
    """A folder of checkpoints, of which the newest whole one counts.

    Each is a folder that gets its name once everything is in it, so that there is none that lacks
    something, whenever the process ends.

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
        self.about = {
            "version": __version__,
            "estimator": type(estimator).__name__,
            "parts": n_parts,
        } | {
            name: repr(value)
            for name, value in sorted(estimator.get_params(deep=True).items())
            if name not in FREE
        }

    def newest(self):
        """Return the folder of the newest checkpoint, or None."""
        found = sorted(self.folder.glob("checkpoint-*"))
        return found[-1] if found else None

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
        newest = self.newest()
        if newest is None:
            return {}
        about = json.loads((newest / "about.json").read_text())
        for name in about | self.about:
            then, now = about.get(name), self.about.get(name)
            if then != now:
                raise ValueError(
                    f"the checkpoint in {self.folder} was made with {name} {then}, not {now}; "
                    "choose another folder"
                )
        return {
            int(path.stem.partition("-")[2]): replace(
                joblib.load(path), refusal=REFUSAL.format(folder=self.folder)
            )
            for path in sorted(newest.glob("part-*"))
        }

    def save(self, ends):
        """Make a new checkpoint in place of the last one.

        Parameters
        ----------
        ends : iterable of tuple (int, WarmStart)
            Numbers of parts, and where they are; asked for one by one.
        """
        last = self.newest()
        count = int(last.name.partition("-")[2]) + 1 if last else 1
        unfinished = self.folder / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for number, end in ends:
            joblib.dump(end, unfinished / f"part-{number:06d}")
        (unfinished / "about.json").write_text(json.dumps(self.about))
        os.rename(unfinished, self.folder / f"checkpoint-{count:09d}")
        if last is not None:
            shutil.rmtree(last)
