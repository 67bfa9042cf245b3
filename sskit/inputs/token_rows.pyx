"""Rows of tokens as users of CRFsuite have them: dicts of attributes, or lists of strings.

The objects are read in one pass. A string is looked up in the table of its attribute. Keys of dicts
mostly come in the same order as in the dict before, so an attribute is first compared with the
successor of the one before it. Attribute and string are joined to a name only once.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from numbers import Number

import numpy as np

from sskit._numbers import LARGEST as LARGEST_NUMBER
from sskit._numbers import shown
from sskit._cures import TOKEN
from sskit.inputs.ragged_array import make_csr

cimport cython
from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject, PyObject_Hash
from cpython.unicode cimport PyUnicode_Compare
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp
from libcpp cimport bool as cbool
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    int PyUnicode_KIND(object)
    const void* PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t place)
    int PyDict_Next(object token, Py_ssize_t* place, PyObject** key, PyObject** value)

cdef Py_ssize_t LARGEST = 2**31 - 1
DEEPEST = 32
cdef str LEVELS = ":"
ctypedef pair[int32_t, double] entry_t


cdef struct Slot:
    PyObject* string  # which the attribute keeps
    uint32_t hashed  # the lower half of its hash
    int32_t column


cdef struct Start:
    uint64_t first, second  # how a string begins
    PyObject* string
    int32_t column


cdef inline bint are_same(str a, str b) noexcept:
    """Return whether strings are equal."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(a)
    cdef int kind = PyUnicode_KIND(a)
    if PyUnicode_GET_LENGTH(b) != n or PyUnicode_KIND(b) != kind:
        return False
    return memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), n * kind) == 0


cdef cbool comes_before(const Start& a, const Start& b) noexcept:
    """Return whether a string comes before another one."""
    if a.first != b.first:
        return a.first < b.first
    if a.second != b.second:
        return a.second < b.second
    return PyUnicode_Compare(<str>a.string, <str>b.string) < 0


cdef Start start_of(str text, int32_t column) noexcept:
    """Return the first characters of a string as two numbers: these never fall as strings rise."""
    cdef Py_ssize_t j, n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef uint64_t[2] keys = [0, 0]
    cdef Py_UCS4 letter
    for j in range(min(n, 16)):
        letter = min(PyUnicode_READ(kind, data, j), <Py_UCS4>255)
        keys[j >> 3] |= <uint64_t>letter << (56 - 8 * (j & 7))
        if letter == 255:  # what follows such a letter is not read
            break
    return Start(keys[0], keys[1], <PyObject*>text, column)


@cython.final
cdef class Attribute:
    """An attribute, at its place in nested dicts, with its strings and the attributes within it.

    Readers in several threads fill one table and hold pointers into it: entries are therefore
    neither replaced nor removed.

    Attributes
    ----------
    key : str
        What it is called in dicts.
    name : str
        With the names of those around it.
    prefix : str
        What precedes its strings in names of features.
    column : int
        That of its numbers; -1 if it is not known, or there is none.
    strings : list of str
        Those that have a column, as they came; beside them their columns.
    inner : dict of str to Attribute
        Those within.
    first, after : Attribute or None
        The first of those within, and the one after this one, in the dict that was read last.
    """

    cdef str key, name, prefix
    cdef Py_ssize_t column
    cdef list strings
    cdef vector[int32_t] columns
    cdef vector[Slot] slots
    cdef dict inner
    cdef PyObject* first
    cdef PyObject* after

    def __cinit__(self, str key, str name, str prefix):
        self.key, self.name, self.prefix = key, name, prefix
        self.column = -1
        self.strings, self.inner = [], {}
        self.first = self.after = NULL
        self.slots.resize(8, Slot(NULL, 0, 0))

    cdef inline bint is_called(self, key) noexcept:
        """Return whether a key of a dict is its name; mostly both are the same object."""
        return self.key is key or (PyUnicode_CheckExact(key) and are_same(self.key, <str>key))

    cdef inline Slot* slot(self, str value, uint32_t hashed) noexcept:
        """Return where a string is in the table, or would be."""
        cdef size_t last = self.slots.size() - 1, j = hashed & last
        cdef Slot* slot = &self.slots[j]
        while slot.string is not NULL and slot.string is not <PyObject*>value:
            if slot.hashed == hashed and are_same(<str>slot.string, value):
                break
            j = (j + 1) & last
            slot = &self.slots[j]
        return slot

    cdef int keep(self, str value, uint32_t hashed, int32_t column) except -1:
        """Put a new string in the table."""
        cdef vector[Slot] more
        cdef Slot slot
        if 3 * self.columns.size() >= 2 * self.slots.size():
            # or MemoryError, and all is as before
            more.resize(2 * self.slots.size(), Slot(NULL, 0, 0))
            more.swap(self.slots)
            for slot in more:
                if slot.string is not NULL:
                    self.slot(<str>slot.string, slot.hashed)[0] = slot
        self.strings.append(value)
        self.columns.push_back(column)
        self.slot(value, hashed)[0] = Slot(<PyObject*>value, hashed, column)
        return 0


@cython.final
cdef class TokenColumns:
    """Columns of features by the attributes and strings that name them.

    Parameters
    ----------
    names : list of str, dict of str to int, or None
        Names in the order of their columns, or columns 0 to n - 1 by name; not copied. None gives
        all that is new the next column.
    separator : str
        Between an attribute and its string.
    """

    cdef readonly object names
    cdef readonly str separator
    cdef dict columns
    cdef bint grows
    cdef Py_ssize_t n
    cdef Attribute root

    def __cinit__(self, names, str separator):
        self.names, self.separator, self.grows = names, separator, names is None
        self.n = 0 if self.grows else len(names)
        self.root = Attribute("", "", "")

    @property
    def vocabulary(self):
        """Columns by name."""
        self.make_ready()
        return self.columns

    def make_ready(self):
        """Make the columns by name, else made the first time that they are needed."""
        if self.columns is None:
            if type(self.names) is dict:
                columns = self.names
            else:
                names = self.names or ()
                columns = {name: column for column, name in enumerate(names)}
            if self.columns is None:  # another thread may have made it, and may be reading it
                self.columns = columns

    cdef Py_ssize_t find(self, str name) except -2:
        """Return the column of a name, the next one if all get one, or -1."""
        cdef PyObject* entry
        cdef Py_ssize_t column
        if self.grows:
            if self.n == LARGEST:
                raise ValueError(f"there are more than {LARGEST} features")
            self.n += 1
            return self.n - 1
        if self.columns is None:
            self.make_ready()
        entry = PyDict_GetItemWithError(self.columns, name)
        if entry is NULL:
            return -1
        column = <object>entry
        if not 0 <= column < self.n:
            raise ValueError(f"vocabulary_ has the column {column} for {name!r}, of {self.n}")
        return column

    cdef Py_ssize_t of_string(self, Attribute attribute, str value) except -2:
        """Return the column of a string of an attribute, or -1."""
        cdef uint32_t hashed = <uint32_t>PyObject_Hash(value)
        cdef Slot* slot = attribute.slot(value, hashed)
        if slot.string is not NULL:
            return slot.column
        cdef Py_ssize_t column = self.find(None if self.grows else attribute.prefix + value)
        # strings outside the vocabulary would fill memory without limit
        if column >= 0:
            attribute.keep(value, hashed, <int32_t>column)
        return column

    cdef Py_ssize_t of_number(self, Attribute attribute) except -2:
        """Return the column of the numbers of an attribute, or -1."""
        if attribute.column < 0:
            attribute.column = self.find(attribute.name)
        return attribute.column

    @cython.boundscheck(True)
    @cython.wraparound(True)
    cdef sorted_names(self):
        """Return the names of all features, sorted, and the place of each column among them."""
        cdef list waiting = [self.root], groups = [], names = []
        cdef Attribute attribute
        cdef vector[Start] starts
        cdef vector[int32_t] order
        cdef Py_ssize_t j, k
        cdef bint rise = True
        order.reserve(self.n)
        while waiting:
            attribute = waiting.pop()
            waiting.extend(attribute.inner.values())
            groups.append((attribute.prefix, False, attribute))
            if attribute.column >= 0:
                groups.append((attribute.name, True, attribute))
        groups.sort(key=lambda group: group[:2])
        for prefix, is_number, attribute in groups:
            if is_number:
                names.append(attribute.name)
                order.push_back(<int32_t>attribute.column)
                continue
            starts.clear()
            for j in range(len(attribute.strings)):
                text = attribute.strings[j]
                starts.push_back(start_of(text, attribute.columns[j]))
            sort(starts.begin(), starts.end(), comes_before)
            for j in range(<Py_ssize_t>starts.size()):
                names.append(<str>prefix + <str>starts[j].string)
                order.push_back(starts[j].column)
        for j in range(1, len(names)):
            if PyUnicode_Compare(<str>names[j - 1], <str>names[j]) >= 0:
                rise = False
                break
        places = np.empty(self.n, dtype=np.int32)
        cdef int32_t[::1] place = places
        if rise:
            for j in range(self.n):
                place[order[j]] = <int32_t>j
            return names, places
        # a name may begin like an attribute, and be made in two ways
        distinct = sorted(set(names))
        number_of = {name: k for k, name in enumerate(distinct)}
        for j in range(self.n):
            place[order[j]] = number_of[names[j]]
        return distinct, places


@cython.final
cdef class TokenReader:
    """The entries of tokens, read one after the other.

    Parameters
    ----------
    columns : TokenColumns
        Where they are.
    dtype : dtype
        Of the numbers, which says how large they may be.
    deepest : int
        How deep dicts in dicts may be; 0 allows neither dicts in dicts nor lists of strings.
    """

    cdef TokenColumns columns
    cdef object dtype
    cdef double limit
    cdef int deepest
    cdef vector[int32_t] entries  # columns; ~column where it has another value than one
    cdef vector[double] numbers  # these values
    cdef vector[int64_t] ends
    cdef Py_ssize_t i, t
    cdef list path

    def __cinit__(self, TokenColumns columns, dtype, int deepest):
        self.columns, self.deepest, self.dtype = columns, deepest, dtype
        self.limit = LARGEST_NUMBER if dtype is np.float64 else np.finfo(dtype).max
        self.path = []
        self.ends.push_back(0)

    cdef int read(self, list sentences) except -1:
        """Read the tokens of all sentences."""
        cdef list sentence
        for self.i, sentence in enumerate(sentences):
            if sentence is None:  # which Cython takes for a list, and reads beyond its end
                raise TypeError(f"X[{self.i}] is None, expected a list of tokens")
            for self.t, token in enumerate(sentence):
                self.read_token(token)
                self.ends.push_back(<int64_t>self.entries.size())
        return 0

    cdef int read_token(self, token) except -1:
        """Read a token."""
        if isinstance(token, dict):
            self.read_dict(self.columns.root, <dict>token)
        elif self.deepest and isinstance(token, (list, tuple, set, frozenset)):
            for name in token:
                if not isinstance(name, str):
                    raise self.error(TypeError, f"has {described(name)}, expected strings")
                self.add_string(self.columns.root, name)
        elif isinstance(token, Mapping):
            self.read_dict(self.columns.root, dict(token))
        else:
            raise self.error(
                TypeError, f"is {described(token)}: a token is {TOKEN}, or a list of strings"
            )
        return 0

    cdef bint read_dict(self, Attribute outer, dict token) except -1:
        """Read attributes; return whether one of them has a column."""
        cdef PyObject* attribute
        cdef PyObject* key
        cdef PyObject* value
        cdef PyObject** next = &outer.first  # the attribute that should come now
        cdef Py_ssize_t place = 0, n = len(token)
        cdef bint some = False
        if len(self.path) > self.deepest:
            raise self.error(ValueError, f"has dicts in dicts more than {self.deepest} deep")
        while PyDict_Next(token, &place, &key, &value):
            attribute = next[0]
            if attribute is NULL or not (<Attribute>attribute).is_called(<object>key):
                # From here on Python code may run, of a key, of a value or of other threads: it may
                # remove both from the token, and add attributes to the table
                name, item = <object>key, <object>value
                attribute = PyDict_GetItemWithError(outer.inner, name)
                if attribute is NULL:
                    some |= self.read_new(outer, name, item)
                    self.check_size(token, n)
                    continue
            next[0] = attribute
            next = &(<Attribute>attribute).after
            some = True
            if PyUnicode_CheckExact(<object>value):
                self.add(self.columns.of_string(<Attribute>attribute, <str>value))
                continue
            item = <object>value
            self.read_value(<Attribute>attribute, item)
            self.check_size(token, n)
        return some

    cdef int check_size(self, dict token, Py_ssize_t n) except -1:
        """Raise RuntimeError if a token has grown or shrunk."""
        if len(token) != n:
            raise RuntimeError("a dict of X has changed while it was read")
        return 0

    cdef bint read_new(self, Attribute outer, key, value) except -1:
        """Read an attribute that was not met before; return whether it has a column."""
        cdef Attribute attribute
        cdef bint some
        if not isinstance(key, str):
            raise self.error(
                TypeError, f"has the attribute {described(key)}: names must be strings"
            )
        name = key = plain(key)
        attribute = outer.inner.get(key)  # no dict may find a string of a subclass
        if attribute is not None:
            self.read_value(attribute, value)
            return True
        if outer is not self.columns.root:
            name = outer.name + LEVELS + name
        attribute = Attribute(key, name, name + self.columns.separator)
        some = self.read_value(attribute, value) or self.columns.grows
        if some:
            # another thread may have added the attribute first, and uses it
            outer.inner.setdefault(key, attribute)
        return some

    cdef bint read_value(self, Attribute attribute, value) except -1:
        """Read what an attribute is; return whether it has a column, or one within."""
        cdef bint some = False
        if PyUnicode_CheckExact(value):
            return self.add_string(attribute, value)
        if value is True:
            return self.add(self.columns.of_number(attribute))
        if value is False:
            return self.add_number(attribute, 0.0)
        kind = type(value)
        if kind is float or kind is int:
            return self.read_number(attribute, value)
        if isinstance(value, dict):
            self.path.append(attribute.key)
            some = self.read_dict(attribute, <dict>value)
            self.path.pop()
            return some
        if isinstance(value, str):
            return self.add_string(attribute, value)
        if isinstance(value, (Number, np.bool_)):
            return self.read_number(attribute, value)
        if isinstance(value, Mapping):
            return self.read_value(attribute, dict(value))
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return self.read_value(attribute, value[()])  # as NumPy and PyTorch give single numbers
        self.path.append(attribute.key)
        if value is None:
            raise self.error(ValueError, "is None: leave out what is missing")
        if isinstance(value, (bytes, bytearray, memoryview, Iterator)) or (
            not isinstance(value, Iterable)
        ):
            raise self.error(
                TypeError,
                f"is {described(value)}, expected a string, a number, a boolean, or a list or a "
                "dict of such",
            )
        for item in value:
            if not isinstance(item, str):
                raise self.error(TypeError, f"has {described(item)}, expected strings in it")
            some |= self.add_string(attribute, item)
        self.path.pop()
        return some

    cdef bint read_number(self, Attribute attribute, value) except -1:
        """Read a number; return whether it has a column."""
        cdef double number = 0.0
        try:
            number = value
        except OverflowError:
            number = np.inf
        except (TypeError, ValueError):
            self.path.append(attribute.key)
            raise self.error(TypeError, f"is {described(value)}, which is no real number")
        if not -self.limit <= number <= self.limit:
            self.path.append(attribute.key)
            why = "leave out what is missing" if number != number else "it is too large"
            raise self.error(ValueError, f"is {described(value)}: {why}")
        return self.add_number(attribute, number)

    cdef bint add_string(self, Attribute attribute, value) except -1:
        """Add a string; return whether it has a column."""
        return self.add(self.columns.of_string(attribute, plain(value)))

    cdef bint add_number(self, Attribute attribute, double number) except -1:
        """Add a number; return whether it has a column."""
        cdef Py_ssize_t column = self.columns.of_number(attribute)
        if column < 0:
            return False
        if number != 0.0:
            self.entries.push_back(~<int32_t>column)
            self.numbers.push_back(number)
        return True

    cdef inline bint add(self, Py_ssize_t column) except -1:
        """Add a one, if it has a column; return whether it has."""
        if column < 0:
            return False
        self.entries.push_back(<int32_t>column)
        return True

    cdef error(self, kind, why):
        """Return an error that names the present place."""
        place = "".join(f"[{key!r:.80}]" for key in self.path)
        return kind(f"X[{self.i}][{self.t}]{place} {why}")

    cdef Py_ssize_t write(
        self, const int32_t* place, double* values, int32_t* columns, int64_t* pointers
    ) except -1:
        """Write the entries of all tokens as a CSR matrix in canonical format; return their number.

        `place` is as of `rows`, or NULL; there is room for all entries that were read.
        """
        cdef Py_ssize_t row, j, n = 0, k = 0
        cdef vector[entry_t] row_entries
        cdef int32_t column
        cdef double number
        pointers[0] = 0
        for row in range(<Py_ssize_t>self.ends.size() - 1):
            row_entries.clear()
            for j in range(self.ends[row], self.ends[row + 1]):
                column, number = self.entries[j], 1.0
                if column < 0:
                    column, number = ~column, self.numbers[k]
                    k += 1
                if place != NULL:
                    column = place[column]
                row_entries.push_back(entry_t(column, number))
            sort(row_entries.begin(), row_entries.end())
            for j in range(<Py_ssize_t>row_entries.size()):
                if n > pointers[row] and columns[n - 1] == row_entries[j].first:
                    values[n - 1] += row_entries[j].second
                else:
                    columns[n], values[n] = row_entries[j].first, row_entries[j].second
                    n += 1
            pointers[row + 1] = n
        return n

    cdef rows(self, places, Py_ssize_t n_columns):
        """Return a CSR array in canonical format, without entries that are zero.

        Parameters
        ----------
        places : ndarray of shape (n,), int32, or None
            The new column of each; None leaves all as they are.
        n_columns : int
            Number of columns afterwards.
        """
        cdef Py_ssize_t n, n_rows = self.ends.size() - 1
        cdef const int32_t[::1] place = None
        cdef const int32_t* first = NULL
        data, indices = np.empty(self.entries.size()), np.empty(self.entries.size(), dtype=np.int32)
        indptr = np.empty(n_rows + 1, dtype=np.int64)
        cdef double[::1] values = data
        cdef int32_t[::1] columns = indices
        cdef int64_t[::1] pointers = indptr
        if places is not None:
            place = places
            first = &place[0] if place.shape[0] else NULL
        n = self.write(
            first, &values[0] if len(data) else NULL, &columns[0] if len(data) else NULL,
            &pointers[0]
        )
        if n < len(data):
            data, indices = data[:n].copy(), indices[:n].copy()
        if self.dtype is not np.float64:
            data = data.astype(self.dtype)
        if n > LARGEST:
            indices = indices.astype(np.int64)
        else:
            indptr = indptr.astype(np.int32)
        return make_csr(data, indices, indptr, (n_rows, n_columns))


cdef str plain(text):
    """Return a string of any class as one of Python's own."""
    return <str>text if type(text) is str else str.__str__(str(text))


cdef str described(value):
    """Return a value for error messages."""
    if value is None or isinstance(value, (Number, np.bool_)):
        return shown(value)
    return f"{shown(value)} of the type {type(value).__name__}"


def fit_rows(list sentences, Py_ssize_t min_count, dtype, bint both, str separator="="):
    """Find the features of tokens, and read them.

    Parameters
    ----------
    sentences : list of list
        Of tokens.
    min_count : int
        In how many tokens a feature must be other than zero.
    dtype : dtype
        Of the numbers.
    both : bool
        Whether rows are wanted too.
    separator : str, default="="
        What stands between an attribute and its string.

    Returns
    -------
    names : list of str
        The features, sorted.
    rows : CSR array of shape (n_tokens, n_features), or None
        In canonical format; None if they are not wanted.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute that is not as it should be, or all, if none are frequent enough.
    """
    cdef TokenColumns columns = TokenColumns(None, separator)
    cdef TokenReader reader = TokenReader(columns, dtype, DEEPEST)
    reader.read(sentences)
    names, places = columns.sorted_names()
    rows = reader.rows(places, len(names)) if both or min_count > 1 else None
    if min_count > 1:
        frequent = np.bincount(rows.indices, minlength=len(names)) >= min_count
        names, rows = list(compress(names, frequent.tolist())), rows[:, frequent]
    return names, rows if both else None


def read_rows(TokenColumns columns, list sentences, dtype, int deepest):
    """Read tokens by features that are known.

    Parameters
    ----------
    columns : TokenColumns
        Of the features.
    sentences : list of list
        Of tokens.
    dtype : dtype
        Of the numbers.
    deepest : int
        As of `TokenReader`.

    Returns
    -------
    rows : CSR array of shape (n_tokens, n_features)
        In canonical format.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute that is not as it should be.
    """
    cdef TokenReader reader = TokenReader(columns, dtype, deepest)
    reader.read(sentences)
    return reader.rows(None, columns.n)


cdef Py_ssize_t read_sentence(
    columns, list sentences, vector[double]* values, vector[int32_t]* indices,
    vector[int64_t]* pointers
) except -1:
    cdef TokenReader reader = TokenReader(columns, np.float64, DEEPEST)
    cdef Py_ssize_t n
    reader.read(sentences)
    n = reader.entries.size()
    values.resize(n + 1)
    indices.resize(n + 1)
    pointers.resize(reader.ends.size())
    n = reader.write(NULL, values.data(), indices.data(), pointers.data())
    return (<TokenColumns>columns).n
