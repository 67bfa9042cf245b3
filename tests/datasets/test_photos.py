"""Labelled photographs are read as they lie on disk; the real ones have the known sizes."""

import os
import shutil

import numpy as np
import pytest

from sskit.datasets import load_msrc, load_weizmann_horses

needs_files = [
    pytest.mark.realdata,
    pytest.mark.skipif(not os.environ.get("SSKIT_DATA"), reason="SSKIT_DATA is not set"),
]


def realdata(test):
    for mark in needs_files:
        test = mark(test)
    return test


IMAGE = np.random.RandomState(0).randint(256, size=(6, 9, 3)).astype(np.uint8)
MASK = np.arange(54, dtype=np.uint8).reshape(6, 9) % 4


def save(path, array, **options):
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path, **options)


@pytest.fixture
def home(tmp_path):
    """Return a folder that holds a tiny version of both data sets."""
    for folder, masks in (("weizmann_horse", "masks"), ("msrc", "labels")):
        for name in ("b", "a"):
            save(tmp_path / folder / "images" / f"{name}.jpg", IMAGE, quality=100)
            mask = MASK if folder == "msrc" else MASK > 1
            save(tmp_path / folder / masks / f"{name}.png", mask)
        (tmp_path / folder / "train.txt").write_text("b\na\n")
        (tmp_path / folder / "test.txt").write_text("a\n")
        (tmp_path / folder / "val.txt").write_text("b\n")
    classes = ["void", "horse", "grass", "mountain"]
    lines = [f"{number}\t{name}\n" for number, name in enumerate(classes)]
    (tmp_path / "msrc" / "classes.txt").write_text("".join(lines))
    return tmp_path


def test_horses_from_files(home):
    horses = load_weizmann_horses("train", data_home=home)
    assert horses.names == ["b", "a"]
    assert [image.shape for image in horses.data] == [(6, 9, 3)] * 2
    assert horses.data[0].dtype == horses.target[0].dtype == np.uint8
    for mask in horses.target:
        np.testing.assert_array_equal(mask, MASK > 1)
    assert horses.target_names.tolist() == ["background", "horse"]
    assert "Borenstein" in horses.DESCR
    horses.data[0][:] = 0  # the caller's own
    assert load_weizmann_horses("test", data_home=home).names == ["a"]


def test_msrc_from_files(home):
    photos = load_msrc("val", data_home=home)
    assert photos.names == ["b"]
    assert photos.target_names.tolist() == ["void", "horse", "grass", "mountain"]
    np.testing.assert_array_equal(photos.target[0], np.where(MASK == 2, 2, 0))
    assert photos.target[0].dtype == np.uint8
    np.testing.assert_array_equal(load_msrc("val", rare=True, data_home=home).target[0], MASK)


@pytest.mark.parametrize("load", [load_weizmann_horses, load_msrc])
def test_bad_subset(load, home):
    with pytest.raises(ValueError, match=r"subset must be 'train'(, 'val')? or 'test', got 'all'"):
        load("all", data_home=home)
    with pytest.raises(ValueError, match="subset must be .* got None"):
        load(None, data_home=home)


@pytest.mark.parametrize("load", [load_weizmann_horses, load_msrc])
def test_missing_files(load, home, tmp_path_factory):
    with pytest.raises(FileNotFoundError, match=r"\.txt was not found in .*SSKIT_DATA"):
        load(data_home=tmp_path_factory.mktemp("empty"))
    for folder in ("weizmann_horse", "msrc"):
        shutil.move(home / folder / "images" / "a.jpg", home / folder / "images" / "c.jpg")
    with pytest.raises(FileNotFoundError, match=r"images/a\.jpg was not found"):
        load(data_home=home)


@pytest.mark.parametrize("load", [load_weizmann_horses, load_msrc])
def test_mask_of_another_size(load, home):
    for folder in ("weizmann_horse", "msrc"):
        save(home / folder / "images" / "a.jpg", IMAGE[:5])
    with pytest.raises(ValueError, match=r"image a has shape \(5, 9, 3\) but its mask has \(6, 9"):
        load(data_home=home)


@realdata
@pytest.mark.parametrize(("subset", "size", "share"), [("train", 147, 0.222), ("test", 53, 0.254)])
def test_horses(subset, size, share):
    horses = load_weizmann_horses(subset)
    assert len(horses.data) == len(horses.target) == len(set(horses.names)) == size
    pixels = np.concatenate([mask.ravel() for mask in horses.target])
    assert set(np.unique(pixels)) == {0, 1}
    assert pixels.mean() == pytest.approx(share, abs=0.001)


@realdata
@pytest.mark.parametrize(("subset", "size"), [("train", 276), ("val", 59), ("test", 128)])
def test_msrc(subset, size):
    photos = load_msrc(subset)
    assert len(photos.data) == len(photos.target) == size
    found = np.unique(np.concatenate([mask.ravel() for mask in photos.target])).tolist()
    assert found == [k for k in range(24) if k not in (5, 8)]
    assert photos.target_names[[0, 5, 8, 23]].tolist() == ["void", "horse", "mountain", "boat"]
