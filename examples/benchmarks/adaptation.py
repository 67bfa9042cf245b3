"""A prior for another domain, and streams in parts against one fit.

The first table: parts of speech of newspaper sentences, and of the same newspaper as it would be
transcribed from speech: lower case, no punctuation, numbers in digits replaced by a word. A tagger
of some thousand written sentences is used for transcripts, of which 50 or 500 are tagged. The
script compares the tagger itself, a fit to the transcripts alone, one to both together, and one to
the transcripts with the first tagger as its prior.

The second table: `partial_fit` over a stream of parts, in the order of the files, against one fit.
Memory is that of the largest step, or of the fit, besides its data.

The data are found in $SSKIT_DATA: wsj_pos, conll2000.

    python adaptation.py
    python adaptation.py --streams
"""

import argparse
import tracemalloc
from functools import partial

import numpy as np
from _cases import attributes, words
from _common import conll, processor_time
from _data import load_wsj_pos
from sklearn.feature_extraction import DictVectorizer

from sskit import SequenceTagger
from sskit.preprocessing import TokenTransformer

# Sentences that are kept for transcripts.
KEPT = 600
N_PARTS = (10, 50)


def transcript(sentence, tags):
    """Return words and tags of a sentence as it would be transcribed."""
    said = [
        ("number" if word[0].isdigit() else word.lower(), tag)
        for word, tag in zip(sentence, tags, strict=True)
        if any(letter.isalnum() for letter in word)
    ]
    return [word for word, _ in said], np.array([tag for _, tag in said])


def domains():
    """Return pairs (sentences, tags): written ones, transcripts, and transcripts to test on."""
    train, test = load_wsj_pos("train"), load_wsj_pos("test")
    written = train.data[:-KEPT], train.target[:-KEPT]
    spoken = zip(train.data[-KEPT:], train.target[-KEPT:], strict=True)
    tested = zip(test.data, test.target, strict=True)
    pairs = [
        [transcript(*pair) for pair in some if len(transcript(*pair)[0])]
        for some in (spoken, tested)
    ]
    return written, *(tuple(map(list, zip(*some, strict=True))) for some in pairs)


def adaptation():
    """Print the table of another domain."""
    (written, tags), (spoken, spoken_tags), (tested, tested_tags) = domains()
    vectorizer = TokenTransformer(DictVectorizer())
    vectorizer.fit([attributes(sentence) for sentence in [*written, *spoken]])
    X, X_spoken, X_test = (
        vectorizer.transform([attributes(sentence) for sentence in some])
        for some in (written, spoken, tested)
    )
    source = SequenceTagger(random_state=0).fit(X, tags)
    print(f"written sentences: {len(tags)}, token accuracy on transcripts in %")
    print(f"as it is: {100 * source.score(X_test, tested_tags):.2f}")
    print(f"{'transcripts':>11}{'alone':>8}{'pooled':>8}{'prior':>8}{'seconds pooled, prior':>24}")
    for n in (50, 500):
        few, few_tags = X_spoken[:n], spoken_tags[:n]
        alone = SequenceTagger(random_state=0).fit(few, few_tags)
        both = [*X, *few], [*tags, *few_tags]
        pooled, slow = processor_time(partial(SequenceTagger(random_state=0).fit, *both))
        adapted = SequenceTagger(prior=source, random_state=0)
        adapted, quick = processor_time(partial(adapted.fit, few, few_tags))
        scores = (100 * model.score(X_test, tested_tags) for model in (alone, pooled, adapted))
        print(f"{n:11}" + "".join(f"{s:8.2f}" for s in scores) + f"{slow:15.1f}{quick:9.1f}")


def cost(function, *args, **kwargs):
    """Return the processor time of a call, and the most memory that it took, in megabytes."""
    tracemalloc.start()
    _, seconds = processor_time(partial(function, *args, **kwargs))
    most = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return seconds, most


def streams():
    """Print the table of streams."""
    print(f"{'data':12}{'parts':>6}{'accuracy':>10}{'seconds':>9}{'MB':>8}")
    for name, load in (("WSJ POS", words), ("CoNLL-2000", conll)):
        X, y, X_test, y_test = load()[-4:]
        classes = np.unique(np.concatenate(y))
        model = SequenceTagger(random_state=0)
        seconds, most = cost(model.fit, X, y)
        print(f"{name:12}{1:6}{100 * model.score(X_test, y_test):10.2f}{seconds:9.1f}{most:8.0f}")
        for n_parts in N_PARTS:
            cuts = np.linspace(0, len(y), n_parts + 1).astype(int)
            model, total, most = SequenceTagger(random_state=0), 0.0, 0.0
            for start, stop in zip(cuts, cuts[1:], strict=False):
                part = X[start:stop], y[start:stop]
                seconds, memory = cost(model.partial_fit, *part, classes=classes)
                total, most = total + seconds, max(most, memory)
            score = 100 * model.score(X_test, y_test)
            print(f"{name:12}{n_parts:6}{score:10.2f}{total:9.1f}{most:8.0f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", action="store_true", help="the second table")
    (streams if parser.parse_args().streams else adaptation)()
