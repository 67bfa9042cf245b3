"""Standard data sets of the literature, read from the folder ``SSKIT_DATA``.

Nothing is downloaded: the files must exist. Each loader returns a Bunch with ``data`` and
``target``, and names the source of the data.
"""

import gzip
import os
import re
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Bunch, check_random_state

from sskit.datasets import load_conll
from sskit.datasets._poses import into_grid, skeleton
from sskit.utils import RaggedArray

HOME = Path(os.environ.get("SSKIT_DATA", "data"))


def load_ocr_letters(folds=range(10), *, constant=False):
    """Words of 16 x 8 pixels a letter, with their folds (R. Kassel; Taskar et al. 2003).

    The literature trains on fold 0 ("OCR-small", 626 words) or on folds 1 to 9 ("OCR-large").
    """
    with np.load(HOME / "ocr/ocr_letters.npz") as archive:
        pixels, labels = archive["pixels"], archive["labels"].astype(np.int64)
        offsets, fold = archive["offsets"], archive["folds"].astype(np.int64)
    if constant:
        pixels = np.column_stack([pixels, np.ones(len(pixels))])
    rows = np.flatnonzero(np.isin(fold, list(folds)))
    spans = [slice(offsets[i], offsets[i + 1]) for i in rows]
    return Bunch(
        # Copies: a view would keep the pixels of all folds alive.
        data=[pixels[span].copy() for span in spans],
        target=[labels[span].copy() for span in spans],
        folds=fold[rows],
    )


def load_conll2000(subset="train", *, attributes=False):
    """Sentences of pairs (word, tag) and chunk tags (Tjong Kim Sang, Buchholz 2000).

    With ``attributes`` tokens are dicts of those of the CRFsuite tutorial (Okazaki 2007): words and
    tags around a token, their pairs and triples, named ``w[-1]|w[0]``. What sticks out of the
    sentence is left out. They are 335,674 columns with 3,808,439 ones on the training set.
    """
    data, target = _read_columns("conll2000", subset, " ")
    return Bunch(data=[*map(_attributes, data)] if attributes else data, target=target)


def load_wsj_pos(subset="train"):
    """Words of newspaper text and one of 45 tags for each (Marcus et al. 1993, by way of NLTK)."""
    tokens, target = _read_columns("wsj_pos", subset, "\t")
    return Bunch(data=[[word for (word,) in sentence] for sentence in tokens], target=target)


def load_usaddress(subset="train"):
    """American addresses: dicts of attributes of their tokens, and the parts (datamade, usaddress).

    Of "train", "test_labeled" (hard) or "test_osm" (easy). The attributes are those of the parser
    `usaddress`, which trains CRFsuite on them: of the token itself, and of both neighbours in dicts
    called "previous" and "next".
    """
    X, target = load_conll(HOME / "usaddress" / f"{subset}.txt.gz", columns=["word", "part"])
    addresses = ([token["word"] for token in tokens] for tokens in X)
    return Bunch(data=[*map(_address_attributes, addresses)], target=target)


def load_usps(subset="train"):
    """Digits of 16 x 16 grey values from -1 to 1 (LeCun et al. 1990)."""
    with np.load(HOME / "usps/usps.npz") as archive:
        # Stored as integers, 2000 times the distance from the darkest grey.
        data, target = archive[f"X_{subset}"] / 1000.0 - 1, archive[f"y_{subset}"]
    return Bunch(data=data, target=target.astype(np.int64))


def load_yeast(subset="train"):
    """Functions of genes: 103 features, 14 labels (Elisseeff, Weston 2001)."""
    with np.load(HOME / "yeast/yeast.npz") as archive:
        return Bunch(data=archive[f"X_{subset}"].astype(float), target=_sets(archive, subset))


def load_bibtex(subset="train"):
    """Tags of bibliographic entries: 1,836 binary features, 159 labels (Katakis et al. 2008)."""
    with np.load(HOME / "bibtex/bibtex.npz") as archive:
        return Bunch(data=_csr(archive, f"X_{subset}"), target=_sets(archive, subset))


def load_rcv1_topics(subset="train", *, sample=1):
    """Topics of news articles: 47,236 tf-idf features, 101 labels (Lewis et al. 2004).

    Samples 1, 3, 4 and 5 of RCV1-v2. In the files that circulate the labels of the test parts stand
    in the wrong columns; those read here have been repaired, and their rows have norm 1.
    """
    with np.load(HOME / f"rcv1_topics/rcv1_subset{sample}.npz") as archive:
        return Bunch(data=_csr(archive, f"X_{subset}"), target=_sets(archive, subset))


def load_imclef07a(subset="train"):
    """Codes of X-ray images: 80 features, 96 labels on a tree (Dimitrovski et al. 2011)."""
    return _load_tree("imclef07a", subset)


def load_enron(subset="train"):
    """Categories of e-mails: 1,001 binary features, 56 labels on a tree (Klimt, Yang 2004)."""
    return _load_tree("enron_corr", subset)


def load_delicious(subset="train"):
    """Tags of web pages: 500 binary features, 983 labels (Tsoumakas et al. 2008)."""
    with np.load(HOME / "delicious/delicious.npz") as archive:
        starts = archive[f"Y_{subset}_indptr"]
        target = np.zeros(archive[f"Y_{subset}_shape"], dtype=np.int64)
        rows = np.repeat(np.arange(len(target)), np.diff(starts))
        target[rows, archive[f"Y_{subset}_indices"]] = 1
        return Bunch(data=_csr(archive, f"X_{subset}"), target=target)


def load_weizmann_horses(subset="train"):
    """Photographs and masks, 1 for horse (Borenstein, Ullman 2002); the split is ours."""
    data, target = _read_photos("weizmann_horse", subset, "masks")
    return Bunch(data=data, target=[(mask > 0).astype(np.uint8) for mask in target])


def load_msrc(subset="train"):
    """Photographs and masks of 21 classes, 0 for void (Shotton et al. 2006).

    Of "train", "val" or "test". The labels are cleaned (Malisiewicz, Efros 2007); horses and
    mountains, which are rare, are void.
    """
    lines = (HOME / "msrc/classes.txt").read_text("utf8").splitlines()
    names = np.array([line.split("\t")[1] for line in lines])
    kept = np.where(np.isin(names, ("horse", "mountain")), 0, np.arange(len(names)))
    data, target = _read_photos("msrc", subset, "labels")
    return Bunch(data=data, target=[kept.astype(np.uint8)[mask] for mask in target])


def load_lsp(subset="train", shape=(48, 48)):
    """Joints of the Leeds Sports Poses, scaled into score maps (Johnson, Everingham 2010)."""
    half = slice(0, 1000) if subset == "train" else slice(1000, 2000)
    with np.load(HOME / "lsp/lsp_joints.npz") as archive:
        xy = archive["xy"][half].astype(np.float64)
    return Bunch(target=list(into_grid(xy, shape)), **skeleton())


def make_glyph_sentences(
    n_samples=100,
    *,
    n_characters=1000,
    n_features=85,
    noise=2.0,
    text=None,
    prototypes=None,
    random_state=None,
):
    """Simulate the recognition of written text with very many characters.

    A glyph is the normal prototype of its character plus normal noise, and a constant 1. The text
    is given, or made: a character is followed, with probability 0.7, by one of five that are its
    own, else by any, the k-th most frequent with probability in proportion to 1 / k.
    """
    rng = check_random_state(random_state)
    if text is None:
        characters = np.arange(n_characters)
        offsets = np.r_[0, np.cumsum(rng.randint(10, 31, size=n_samples))]
        flat = _write(n_characters, offsets, rng)
    else:
        sentences = [np.array(list(sentence)) for sentence in text]
        offsets = np.r_[0, np.cumsum([len(sentence) for sentence in sentences])]
        characters, flat = np.unique(np.concatenate(sentences), return_inverse=True)
    if prototypes is None:
        prototypes = rng.normal(size=(len(characters), n_features))
    glyphs = prototypes[flat]
    glyphs = glyphs + noise * rng.normal(size=glyphs.shape)
    glyphs = np.column_stack([glyphs, np.ones(len(glyphs))])
    labels = characters[flat]
    return tuple([x.copy() for x in RaggedArray(rows, offsets)] for rows in (glyphs, labels))


def _write(n_characters, offsets, rng):
    """Return the characters of sentences, one after the other."""
    fraction = 1.0 / np.arange(1, n_characters + 1)
    flat = rng.choice(n_characters, size=offsets[-1], p=fraction / fraction.sum())
    followers = rng.randint(n_characters, size=(n_characters, 5))
    follows = rng.uniform(size=offsets[-1]) < 0.7
    follows[offsets[:-1]] = False
    choice = rng.randint(5, size=offsets[-1])
    for t in np.flatnonzero(follows):  # each depends on the one before
        flat[t] = followers[flat[t - 1], choice[t]]
    return flat.astype(np.int64)


def _read_columns(folder, subset, separator):
    """Read sentences of one token a line; the last column is the label."""
    with gzip.open(HOME / folder / f"{subset}.txt.gz", "rt", encoding="utf8") as file:
        text = file.read().strip()
    data, target = [], []
    for sentence in text.split("\n\n"):
        columns = list(zip(*(line.split(separator) for line in sentence.split("\n")), strict=True))
        data.append(list(zip(*columns[:-1], strict=True)))
        target.append(list(columns[-1]))
    return data, target


# Name and places of every attribute, relative to the token.
_TEMPLATE = [
    (letter, "|".join(f"{letter}[{k}]" for k in places), places)
    for letter, length, first, last in [
        ("w", 1, -2, 2),
        ("w", 2, -1, 0),
        ("p", 1, -2, 2),
        ("p", 2, -2, 1),
        ("p", 3, -2, 0),
    ]
    for start in range(first, last + 1)
    for places in [range(start, start + length)]
]


def _attributes(sentence):
    """Return one dict of attributes per token of a sentence of pairs (word, tag)."""
    columns = dict(zip("wp", zip(*sentence, strict=True), strict=True))
    n_tokens = len(sentence)
    tokens = [{} for _ in range(n_tokens)]
    for letter, name, places in _TEMPLATE:
        column = columns[letter]
        grams = zip(*(column[k:] for k in range(len(places))), strict=False)
        for start, gram in enumerate(grams):
            t = start - places[0]
            if 0 <= t < n_tokens:
                tokens[t][name] = "|".join(gram)
    tokens[0]["__BOS__"] = tokens[-1]["__EOS__"] = 1
    return tokens


# How directions and kinds of streets are written most, in lower case and without full stops.
_DIRECTIONS, _STREETS = (
    frozenset(words.split())
    for words in (
        "n s e w ne nw se sw north south east west northeast northwest southeast southwest",
        "alley aly ave avenue av bend blvd boulevard bridge brg broadway bypass byp canyon cir "
        "circle court ct cove cv creek crescent cres crossing xing drive dr expressway expy fort "
        "ft freeway fwy garden gdn glen grove grv heights hts highway hwy hill hills hollow island "
        "isle junction jct lake landing lndg lane ln loop manor meadow mill mount mountain mtn "
        "park parkway pkwy pass path pike pine place pl plaza plz point pt ridge rdg river road rd "
        "route rte row run spring square sq street st station sta terrace ter trace trail trl "
        "turnpike tpke valley view village vista walk way",
    )
)


def _address_attributes(address):
    """Return one dict of attributes per token of an address, with those of its neighbours."""
    alone = [_token_attributes(token) for token in address]
    alone[0]["address.start"] = alone[-1]["address.end"] = True
    tokens = [dict(token) for token in alone]
    for t in range(1, len(tokens)):
        tokens[t]["previous"], tokens[t - 1]["next"] = alone[t - 1], alone[t]
    return tokens


def _token_attributes(token):
    """Return the attributes of a token of an address, whatever is around it."""
    clean = token if token in ("&", "#", "\u00bd") else re.sub(r"^\W+|[^.\w]+$", "", token)
    word = clean.lower().replace(".", "")
    number, some = word.isdigit(), any(letter.isdigit() for letter in clean)
    return {
        "abbrev": clean.endswith("."),
        "digits": "all_digits" if clean.isdigit() else "some_digits" if some else "no_digits",
        "word": False if number else word,
        "trailing.zeros": word[len(word.rstrip("0")) :] if number else False,
        "length": f"{'d' if number else 'w'}:{len(word)}",
        "endsinpunc": token[-1] if re.match(r".+[^.\w]", token) else False,
        "directional": word in _DIRECTIONS,
        "street_name": word in _STREETS,
        "has.vowels": bool(set(word[1:]) & set("aeiou")),
    }


def _sets(archive, subset):
    return archive[f"Y_{subset}"].astype(np.int64)


def _load_tree(name, subset):
    """Read sets of labels on a tree; all ancestors of a label that is set are."""
    with np.load(HOME / name / f"{name}.npz") as archive:
        return Bunch(
            data=archive[f"X_{subset}"].astype(np.float64),
            target=_sets(archive, subset),
            parents=archive["parent"].astype(np.int64),
        )


def _csr(archive, name):
    """Return a matrix that is stored as its three arrays and its shape."""
    return csr_array(
        (
            archive[f"{name}_data"].astype(np.float64),
            # of 32 bits, or not all of scikit-learn takes the matrix
            archive[f"{name}_indices"].astype(np.int32),
            archive[f"{name}_indptr"].astype(np.int32),
        ),
        shape=tuple(archive[f"{name}_shape"].tolist()),
    )


def _read_photos(folder, subset, masks):
    """Return the images and masks of one part of a data set."""
    from PIL import Image

    def read(name):
        with Image.open(HOME / folder / name) as picture:
            return np.array(picture)

    names = (HOME / folder / f"{subset}.txt").read_text("utf8").split()
    images = [read(f"images/{name}.jpg") for name in names]
    return images, [read(f"{masks}/{name}.png") for name in names]
