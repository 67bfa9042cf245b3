"""Averages of the distributions of several models over labellings."""

import numpy as np
from scipy.special import logsumexp, softmax

from sskit._tag_schemes import find_spans, parse_tags
from sskit.models.calibration.scores import Calibration
from sskit.models.calibration.spans import (
    SpanLabels,
    SpanTable,
    choose_spans,
    find_probable_spans,
    find_steps,
)


class Mixture:
    """The average of the distributions of models over the labellings of given sequences.

    Parameters
    ----------
    members : list of Scores
        By each model.
    calibration : Calibration
        That of all.
    possible : ndarray of shape (N, K), bool, or None
        Labels that are possible, by what is known.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, members, calibration, possible, n_jobs):
        self.members = members
        self.calibration = calibration
        self.possible = possible
        self.n_jobs = n_jobs
        self.offsets = members[0].offsets
        self.found = [m.infer(calibration, possible, n_jobs=n_jobs) for m in members]
        self.log_z = np.array([found.log_z for found in self.found])
        prior = self.log_z
        if possible is not None:
            with np.errstate(invalid="ignore"):  # -inf less -inf: impossible all the same
                prior = prior - self._free_log_z()
        possible_here = prior > -np.inf
        # what is known tells which of the models is likely: Bayes' rule, from equal shares
        log_weight = np.where(possible_here, prior if possible is not None else 0.0, -np.inf)
        self._impossible = np.flatnonzero(~possible_here.any(axis=0))
        log_weight[:, self._impossible] = 0.0
        self.weight = softmax(log_weight, axis=0)

    def _free_log_z(self):
        """Return log Z of each model where nothing is known, (n_members, n)."""
        return np.array(
            [
                m.infer(self.calibration, marginals=False, n_jobs=self.n_jobs).log_z
                for m in self.members
            ]
        )

    def impossible(self):
        """Return the sequences that have no labelling."""
        return self._impossible

    @property
    def blocks(self):
        """The sequence of each token."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def marginals(self):
        """Return the probabilities of labels, (N, K)."""
        found = [
            member.by_label(found.marginals)
            for member, found in zip(self.members, self.found, strict=True)
        ]
        if len(found) == 1:
            return found[0]
        total, blocks = np.zeros(found[0].shape), self.blocks
        for weight, marginals in zip(self.weight, found, strict=True):
            share = weight[blocks][:, None]
            total += np.where(share > 0.0, share * marginals, 0.0)
        return total

    def probability_of(self, possible):
        """Return the probability of all labellings that agree with what is possible, (n,)."""
        if possible is None:
            return np.ones(len(self.offsets) - 1)
        total = np.zeros(len(self.offsets) - 1)
        for weight, member, log_z in zip(self.weight, self.members, self.log_z, strict=True):
            found = member.infer(self.calibration, possible, marginals=False, n_jobs=self.n_jobs)
            here = weight > 0.0
            total[here] += weight[here] * np.exp(np.minimum(found.log_z[here] - log_z[here], 0.0))
        return total

    def best_labelling(self, calibrated=True):
        """Return the most probable of the labellings that the models find best, (N,).

        Where labels have several states, these are the labels of the best states.

        Parameters
        ----------
        calibrated : bool, default=True
            Whether the models find the best ones by calibrated scores, or by their own.
        """
        one = self.members[0]
        own = Calibration.scaled(1.0, one.n_labels, len(one.tables))
        given = self.calibration if calibrated else own, self.possible
        proposed = [member.best(*given, n_jobs=self.n_jobs) for member in self.members]
        if len(proposed) == 1:
            return proposed[0]
        blocks = self.blocks
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        value = []
        for labels in proposed:
            scores = [m.labelling_scores(self.calibration, labels) for m in self.members]
            log_p = np.array(scores) - np.where(self.weight > 0.0, self.log_z, 0.0)
            if self.possible is not None:
                wrong = ~self.possible[np.arange(len(labels)), labels]
                log_p[:, np.bincount(blocks, wrong, minlength=log_p.shape[1]) > 0] = -np.inf
            value.append(logsumexp(log_p + log_weight, axis=0))
        return np.choose(np.argmax(value, axis=0)[blocks], proposed)

    def sample(self, n_samples, rng):
        """Return labellings drawn at random, (n_samples, N)."""
        uniform = rng.uniform(size=(n_samples, self.offsets[-1]))
        given = self.calibration, uniform, self.possible, self.n_jobs
        drawn = [member.sample(*given) for member in self.members]
        if len(drawn) == 1:
            return drawn[0]
        pick = rng.uniform(size=(n_samples, len(self.offsets) - 1))
        bounds = np.cumsum(self.weight, axis=0)[:-1]
        member = sum((pick >= bound).astype(np.intp) for bound in bounds)
        # the last one that counts, should sums be rounded
        last = len(drawn) - 1 - np.argmax(self.weight[::-1] > 0.0, axis=0)
        return np.choose(np.minimum(member, last)[:, self.blocks], drawn)

    def _chains(self, meaning):
        """Yield for each sequence with tokens its number, and by model what tells its spans.

        That is the weight of the model, probabilities as of `Scores.neighbours`, and `SpanLabels`.

        Parameters
        ----------
        meaning : SpanLabels
            What labels say of spans.

        Raises
        ------
        ValueError
            For trees, of which no spans are known.
        """
        if self.members[0].forest is not None:
            raise ValueError("spans are those of sequences: trees have none")
        given = [
            (m, m.arrays(self.calibration, self.possible), meaning.of_states(m.owner))
            for m in self.members
        ]
        for i in np.flatnonzero(np.diff(self.offsets)).tolist():
            yield (
                i,
                [
                    (weight, *member.neighbours(self.calibration, potentials, i), own)
                    for weight, (member, potentials, own) in zip(
                        self.weight[:, i], given, strict=True
                    )
                    if weight > 0.0
                ],
            )

    def spans(self, scheme, classes, labels, name_of):
        """Return the spans of labellings, with their probabilities, as a list of lists.

        Parameters
        ----------
        scheme : str
            What labels say of spans.
        classes : ndarray of shape (K,)
            The labels.
        labels : ndarray of shape (N,)
            Some of them.
        name_of : callable
            Returns what error messages call one of `labels`, by its place.
        """
        _, _, types, meaning = parse_labels(classes, scheme)
        numbers = {name: k for k, name in enumerate(types)}
        out = [[] for _ in self.offsets[1:]]
        prefix, kind, names = parse_tags(labels, scheme, name_of)
        start, stop, kind = find_spans(prefix, kind, self.offsets)
        first = np.searchsorted(start, self.offsets)
        for i, members in self._chains(meaning):
            own = slice(first[i], first[i + 1])
            places = np.stack([start[own], stop[own]]) - self.offsets[i]
            # no model knows other kinds
            known = {j: numbers.get(names[j], len(types)) for j in set(kind[own].tolist())}
            steps = [
                (weight, {j: find_steps(*given, k) for j, k in known.items()})
                for weight, *given in members
            ]
            for a, b, j in zip(*places.tolist(), kind[own].tolist(), strict=True):
                p = sum(weight * kinds[j].probability(a, b) for weight, kinds in steps)
                out[i].append((names[j], a, b, float(min(p, 1.0))))
        return out

    def best_spans(self, scheme, classes):
        """Return labels whose spans have the highest expected ratio of hits, (N,)."""
        prefix, kind, _, meaning = parse_labels(classes, scheme)
        place = {(int(p), int(k)): j for j, (p, k) in enumerate(zip(prefix, kind, strict=True))}
        outside = place.get((0, -1))
        tables, expected, chains, allowed = [], 0.0, [], self.marginals() > 0.0
        for i, members in self._chains(meaning):
            table, number = _average([(w, *find_probable_spans(*given)) for w, *given in members])
            own = allowed[self.offsets[i] : self.offsets[i + 1]]
            labels = [span_labels(scheme, place, *row, own) for row in zip(*table[:3], strict=True)]
            kept = [j for j, some in enumerate(labels) if some is not None]
            tables.append(SpanTable(*(column[kept] for column in table)))
            chains.append((i, [labels[j] for j in kept], own))
            expected += number
        skips = [
            np.zeros(len(own), dtype=bool) if outside is None else own[:, outside]
            for _, _, own in chains
        ]
        chosen = choose_spans(tables, [len(own) for _, _, own in chains], expected, skips)
        out = np.full(self.offsets[-1], -1 if outside is None else outside, dtype=np.intp)
        fallback = None
        for (i, labels, _), table, places in zip(chains, tables, chosen, strict=True):
            start, stop = self.offsets[i], self.offsets[i + 1]
            if places is None:
                # no spans fit what is known
                fallback = self.best_labelling() if fallback is None else fallback
                out[start:stop] = fallback[start:stop]
                continue
            for j in places:
                out[start + table.first[j] : start + table.stop[j]] = labels[j]
        return out


def span_labels(scheme, place, first, stop, kind, allowed):
    """Return the numbers of the labels of a span, None if there are none that are possible.

    Parameters
    ----------
    scheme : str
        What labels say of spans.
    place : dict
        The numbers of labels by codes of their prefix and kind.
    first, stop, kind : int
        The span.
    allowed : ndarray of shape (T, K), bool
        Labels that are possible.
    """
    codes = [2] * (stop - first)
    if scheme in ("bio", "iob1", "iob2"):
        codes[0] = 1
    else:
        codes[0], codes[-1] = 1, 3
        if len(codes) == 1:
            codes[0] = 4
    labels = [place.get((code, int(kind))) for code in codes]
    if scheme == "iob1" and (labels[0] is None or not allowed[first, labels[0]]):
        labels[0] = place.get((2, int(kind)))
    if None in labels or not allowed[np.arange(first, stop), labels].all():
        return None
    return labels


def parse_labels(classes, scheme):
    """Return the codes of prefixes and kinds of labels, the kinds, and the `SpanLabels`.

    Raises
    ------
    TypeError, ValueError
        If a label is not a string of the scheme.
    """
    prefix, kind, types = parse_tags(classes, scheme, lambda k: f"classes_[{k}]")
    # the rules of conlleval, as `sskit.metrics.spans` has them
    goes_on = np.isin(prefix, (1, 2))[:, None] & np.isin(prefix, (2, 3))
    return prefix, kind, types, SpanLabels(kind, goes_on & (kind[:, None] == kind))


def _average(members):
    """Return the average of tables of spans, (weight, table, expected number) each."""
    if len(members) == 1:
        return members[0][1:]
    total, expected = {}, 0.0
    for weight, table, number in members:
        expected += weight * number
        columns = (column.tolist() for column in table)
        for *span, p in zip(*columns, strict=True):
            total[tuple(span)] = total.get(tuple(span), 0.0) + weight * p
    spans = np.array([*total], dtype=np.intp).reshape(-1, 3)
    return SpanTable(*spans.T, np.array([*total.values()], dtype=float)), expected
