"""Loaders of photographs whose pixels are labelled."""

import numpy as np
from sklearn.utils import Bunch

from sskit.datasets._home import check_subset, find_file

_HORSES = "E. Borenstein, S. Ullman: Class-specific, top-down segmentation, ECCV 2002"
_MSRC = (
    "Microsoft Research Cambridge, object class recognition database, version 2; labels cleaned "
    "by T. Malisiewicz, A. Efros, BMVC 2007; split by J. Shotton et al., ECCV 2006"
)
# Too rare to be learned; what remains is known as MSRC-21.
_RARE = ("horse", "mountain")


def load_weizmann_horses(subset="train", *, data_home=None):
    """Load photographs of horses with masks: 147 to train on, 53 to test on.

    A part of Weizmann's 328; the split is ours, and keeps pictures that occur twice together. A
    quarter of the pixels is horse. Needs Pillow.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``weizmann_horse``, a folder with the lists ``train.txt`` and
        ``test.txt`` of names, ``images/NAME.jpg`` and ``masks/NAME.png``; see `get_data_home`.

    Returns
    -------
    horses : sklearn.utils.Bunch
        data : list of ndarrays (H_i, W_i, 3), RGB, uint8.
        target : list of ndarrays (H_i, W_i), 1 for horse and 0 for background, uint8.
        names : list of str, those of the files.
        target_names : ndarray (2,), the names of the labels.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    ValueError
        If there is no such subset, or a mask is not of the size of its image.

    Examples
    --------
    >>> from sskit.datasets import load_weizmann_horses
    >>> horses = load_weizmann_horses("test")  # doctest: +SKIP
    >>> len(horses.data), horses.target[0].shape == horses.data[0].shape[:2]  # doctest: +SKIP
    (53, True)
    """
    check_subset(subset)
    names, data, target = _read("weizmann_horse", subset, "masks", data_home, _HORSES)
    return Bunch(
        data=data,
        target=[(mask > 0).astype(np.uint8) for mask in target],
        names=names,
        target_names=np.array(["background", "horse"]),
        DESCR=f"Weizmann horses, {subset}: {_HORSES}.",
    )


def load_msrc(subset="train", *, rare=False, data_home=None):
    """Load the photographs of MSRC v2: 276 to train on, 59 to validate and 128 to test on.

    Most are of 320 x 213 pixels. A fifth of the pixels is void, label 0: they belong to no class
    and are left out of losses and scores, as ``ignore_label=0`` does. The test images are half
    of the official ones. Needs Pillow.

    Parameters
    ----------
    subset : {"train", "val", "test"}, default="train"
        Which part of the split of TextonBoost to load.
    rare : bool, default=False
        Whether horses and mountains, of which there are few, keep their labels 5 and 8. The
        literature makes them void and so has 21 classes.
    data_home : str, path-like or None, default=None
        Where to look for ``msrc``, a folder with ``classes.txt``, the lists ``train.txt``,
        ``val.txt`` and ``test.txt`` of names, ``images/NAME.jpg`` and ``labels/NAME.png``; see
        `get_data_home`.

    Returns
    -------
    photos : sklearn.utils.Bunch
        data : list of ndarrays (H_i, W_i, 3), RGB, uint8.
        target : list of ndarrays (H_i, W_i), labels 0 to 23, uint8.
        names : list of str, those of the files.
        target_names : ndarray (24,), the names of the labels, the first of them void.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    ValueError
        If there is no such subset, or a mask is not of the size of its image.

    Examples
    --------
    >>> from sskit.datasets import load_msrc
    >>> photos = load_msrc("val")  # doctest: +SKIP
    >>> len(photos.data), photos.target_names[:3].tolist()  # doctest: +SKIP
    (59, ['void', 'building', 'grass'])
    """
    check_subset(subset, ("train", "val", "test"))
    path = find_file("msrc/classes.txt", data_home, _MSRC)
    classes = np.array([line.split("\t")[1] for line in path.read_text("utf8").splitlines()])
    names, data, target = _read("msrc", subset, "labels", data_home, _MSRC)
    if not rare:
        kept = np.where(np.isin(classes, _RARE), 0, np.arange(len(classes))).astype(np.uint8)
        target = [kept[mask] for mask in target]
    return Bunch(
        data=data,
        target=target,
        names=names,
        target_names=classes,
        DESCR=f"MSRC v2, {subset}: {_MSRC}.",
    )


def _read(folder, subset, masks, data_home, source):
    """Return the names, images and masks of one part of a data set."""
    from PIL import Image

    path = find_file(f"{folder}/{subset}.txt", data_home, source)
    names = path.read_text("utf8").split()
    data, target = [], []
    for name in names:
        for pile, place in ((data, f"images/{name}.jpg"), (target, f"{masks}/{name}.png")):
            with Image.open(find_file(f"{folder}/{place}", data_home, source)) as picture:
                pile.append(np.array(picture))
        if data[-1].shape[:2] != target[-1].shape[:2]:
            raise ValueError(
                f"{folder}: the image {name} has shape {data[-1].shape} but its mask has "
                f"{target[-1].shape}"
            )
    return names, data, target
