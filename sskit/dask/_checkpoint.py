"""Checkpoints: dual variables in a file, from which a lost fit continues."""

import os
import pickle
from dataclasses import replace

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from sskit import __version__


class Checkpoint:
    """A file in a folder, which is replaced only by another complete one.

    So it is complete at any time, even if the process ends while writing.

    Parameters
    ----------
    folder : str or path
        Made if there is none; or an address of a file system that fsspec knows, such as "s3://..".

    Raises
    ------
    ValueError
        If there is no such file system.
    ImportError
        If it needs another package.
    """

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        try:
            self.files, place = url_to_fs(self.folder)
        except (ValueError, ImportError) as error:
            raise type(error)(f"checkpoint={self.folder!r}: {error}") from error
        self.path = f"{place}/checkpoint"

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
        if not self.files.exists(self.path):
            return {}
        with self.files.open(self.path, "rb") as file:
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
        self.files.makedirs(os.path.dirname(self.path), exist_ok=True)
        unfinished = f"{self.path}.unfinished"
        with self.files.open(unfinished, "wb") as file:
            pickle.dump(__version__, file)
            pickle.dump(starts, file)
        if isinstance(self.files, LocalFileSystem):
            # on Windows too in place of the last one, which `mv` would copy over
            os.replace(unfinished, self.path)
        else:
            self.files.mv(unfinished, self.path)
