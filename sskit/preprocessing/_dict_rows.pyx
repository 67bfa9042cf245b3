"""Rows of dicts by the vocabulary of a DictVectorizer, for dicts of strings and numbers."""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cdef int32_t LARGEST = 2**31 - 1


def dict_rows(vectorizer, list sequences):
    """Return what a DictVectorizer makes of the tokens of sequences, to the last bit.

    Parameters
    ----------
    vectorizer : object
        Fitted.
    sequences : list
        Of sequences of tokens.

    Returns
    -------
    rows : CSR array of shape (n_tokens, n_features), or None
        In canonical format. None if something is unusual: another transformer or dtype, tokens that
        are no dicts, values that are neither strings nor plain numbers, two of a token that fall on
        the same feature, no tokens. The vectorizer itself then says what comes of it.
    """
    if type(vectorizer) is not DictVectorizer or vectorizer.dtype is not np.float64:
        return None
    vocabulary, separator = vectorizer.vocabulary_, vectorizer.separator
    if not vectorizer.sparse or type(vocabulary) is not dict or type(separator) is not str:
        return None
    if not 0 < len(vocabulary) <= LARGEST:
        return None
    cdef vector[pair[int32_t, double]] entries
    cdef vector[int32_t] ends
    cdef dict prefixes = {}
    ends.push_back(0)
    for sequence in sequences:
        if type(sequence) is not list:
            return None
        for token in <list>sequence:
            if type(token) is not dict:
                return None
            if not add_token(token, vocabulary, separator, prefixes, entries):
                return None
            if not sort_row(entries, ends.back()):
                return None
            ends.push_back(<int32_t>entries.size())
    return None if ends.size() == 1 else to_csr(entries, ends, len(vocabulary))


cdef bint add_token(dict token, dict vocabulary, str separator, dict prefixes,
                    vector[pair[int32_t, double]]& entries):
    """Append the entries of a token; return whether nothing of it is unusual."""
    cdef Py_ssize_t column, n = len(vocabulary)
    cdef double value
    for name, given in token.items():
        kind = type(given)
        if kind is str:
            prefix = prefixes.get(name)
            if prefix is None:
                if type(name) is not str:
                    return False
                prefix = prefixes[name] = <str>name + separator
            feature, value = <str>prefix + <str>given, 1.0
        elif kind is float or kind is bool or (kind is int and -LARGEST < given < LARGEST):
            feature, value = name, given
        else:
            return False
        place = vocabulary.get(feature)
        if place is None:
            continue
        if type(place) is not int:
            return False
        column = place
        if not 0 <= column < n or <Py_ssize_t>entries.size() >= LARGEST:
            return False
        entries.push_back(pair[int32_t, double](<int32_t>column, value))
    return True


cdef bint sort_row(vector[pair[int32_t, double]]& entries, Py_ssize_t first):
    """Sort the last entries by their columns; return whether all of these differ."""
    cdef Py_ssize_t j
    sort(entries.begin() + first, entries.end())
    for j in range(first + 1, <Py_ssize_t>entries.size()):
        if entries[j - 1].first == entries[j].first:
            return False
    return True


cdef to_csr(vector[pair[int32_t, double]]& entries, vector[int32_t]& ends, n_features):
    """Return a CSR array of entries, row after row."""
    cdef Py_ssize_t j, n = entries.size(), n_rows = ends.size() - 1
    data, indices = np.empty(n), np.empty(n, dtype=np.int32)
    indptr = np.empty(n_rows + 1, dtype=np.int32)
    cdef double[::1] values = data
    cdef int32_t[::1] columns = indices, pointers = indptr
    for j in range(n):
        columns[j], values[j] = entries[j].first, entries[j].second
    memcpy(&pointers[0], ends.data(), ends.size() * sizeof(int32_t))
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_features))
