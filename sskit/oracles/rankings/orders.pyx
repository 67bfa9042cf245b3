"""Losses of a ranking of all rows: pairs in the wrong order, and average precision."""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.oracles.rankings.measure cimport Measure, Scored, scored, sort_down


cdef class OrderMeasure(Measure):
    """Losses of rankings, whose joint features are sums over pairs of rows of different grades.

    The code of a row says how many pairs with rows of lower grade are in the wrong order, less
    how many with rows of higher grade. psi is the code over the number of all pairs: the
    mean over the pairs that are wrong of the higher row less the lower one.
    """

    cdef vector[int64_t] of_grade       # (max(max_rows, 2),) numbers of rows
    cdef vector[int64_t] tree           # (max(max_rows, 2) + 1,) a Fenwick tree over the grades

    def __cinit__(self, Py_ssize_t max_rows, *args):
        self.of_grade.resize(max(max_rows, 2))
        self.tree.resize(max(max_rows, 2) + 1)

    # how many rows there are of each grade; returns the number of grades
    cdef Py_ssize_t count_grades(self, Py_ssize_t n, const int32_t* grade) noexcept nogil:
        cdef Py_ssize_t t, g, n_grades = 0
        for t in range(n):
            n_grades = max(n_grades, <Py_ssize_t>grade[t] + 1)
        for g in range(n_grades):
            self.of_grade[g] = 0
        for t in range(n):
            self.of_grade[grade[t]] += 1
        return n_grades

    # pairs of rows of different grades
    cdef int64_t count_pairs(self, Py_ssize_t n, const int32_t* grade) noexcept nogil:
        cdef Py_ssize_t g, n_grades = self.count_grades(n, grade)
        cdef int64_t below = 0, pairs = 0
        for g in range(n_grades):
            pairs += below * self.of_grade[g]
            below += self.of_grade[g]
        return pairs

    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, int32_t* index,
        double* value
    ) noexcept nogil:
        cdef Py_ssize_t t, count = 0
        cdef double pairs = self.count_pairs(n, grade)
        for t in range(n):
            if code[t]:
                index[count] = <int32_t>t
                value[count] = code[t] / pairs
                count += 1
        return count

    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t, g, n_grades = self.count_grades(n, grade)
        cdef int64_t total = 0
        # of_grade[g] becomes the number of rows of lower grades
        for g in range(n_grades):
            total += self.of_grade[g]
            self.of_grade[g] = total - self.of_grade[g]
        total = 0
        for t in range(n):
            g = grade[t]
            if code[t] > self.of_grade[g]:
                return False
            if -<int64_t>code[t] > (n - self.of_grade[g + 1] if g + 1 < n_grades else 0):
                return False
            total += code[t]
        return total == 0


cdef class SwappedPairs(OrderMeasure):
    """Share of the pairs in the wrong order: with two grades one less the ROC area.

    A pair is counted as wrong where that is the more violating, for each pair by itself
    (Joachims 2005, algorithm 3, for two grades, for which the pairs that are found make a
    ranking; Joachims 2006, section 4, for more grades). O(n log n): one sweep over the rows by
    score counts, in a Fenwick tree over the grades, how many of lower grade come close from
    below, another how many of higher grade do from above.
    """

    def __cinit__(self, *args):
        self.graded = True

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil:
        cdef int64_t pairs = self.count_pairs(n, grade), below, wrong = 0, inserted = 0, found
        cdef Py_ssize_t t, g, q, n_grades = self.count_grades(n, grade)
        cdef Scored* rows = self.high.data()
        cdef double s
        for t in range(n):
            code[t] = 0
            rows[t] = scored(score[t], <int32_t>t)
        if not pairs:
            return 0.0
        sort_down(rows, n)
        below = 0
        for g in range(n_grades):
            self.tree[g + 1] = 0
            below += self.of_grade[g]
            self.of_grade[g] = below - self.of_grade[g]  # rows of lower grades
        # a pair is in order if the lower score plus the weight is at most the higher one; both
        # sweeps ask that in the same words, so that they count the same pairs
        q = n - 1
        for t in range(n - 1, -1, -1):
            s, g = rows[t].score, grade[rows[t].row]
            while q >= 0 and rows[q].score + loss_weight <= s:
                self.insert(grade[rows[q].row], n_grades)
                q -= 1
            found = self.of_grade[g] - self.inserted_below(g)
            code[rows[t].row] += <int32_t>found
            wrong += found
        for g in range(n_grades):
            self.tree[g + 1] = 0
        q = n - 1
        for t in range(n - 1, -1, -1):
            s, g = rows[t].score + loss_weight, grade[rows[t].row]
            while q >= 0 and rows[q].score < s:
                self.insert(grade[rows[q].row], n_grades)
                inserted += 1
                q -= 1
            code[rows[t].row] -= <int32_t>(inserted - self.inserted_below(g + 1))
        return (<double>wrong) / pairs

    cdef void insert(self, Py_ssize_t g, Py_ssize_t n_grades) noexcept nogil:
        g += 1
        while g <= n_grades:
            self.tree[g] += 1
            g += g & -g

    # how many were inserted of grades 0 to g - 1
    cdef int64_t inserted_below(self, Py_ssize_t g) noexcept nogil:
        cdef int64_t total = 0
        while g > 0:
            total += self.tree[g]
            g -= g & -g
        return total

    cpdef Measure fork(self, Py_ssize_t max_rows):
        return SwappedPairs(max_rows)


cdef class AveragePrecision(OrderMeasure):
    """One less average precision (Yue, Finley, Radlinski and Joachims 2007).

    Rows of equal grade stay in the order of their scores, and the best place of a row of grade 0
    among those of grade 1 does not depend on the others (section 4.2). These places
    rise from one row of grade 0 to the next (their lemma 2): so the best place of the middle
    one halves the places that are left for those on either side, and all takes O(n log n)
    instead of O(n^2).
    """

    cdef vector[int32_t] place     # (n_low,) number of rows of grade 1 before each of grade 0

    def __cinit__(self, Py_ssize_t max_rows):
        self.place.resize(max_rows + 1)

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t k, j = 0
        cdef double precision = 0.0
        self.split(n, grade, score)
        for k in range(n):
            code[k] = 0
        if not self.n_high or not self.n_low:
            return 0.0
        self.choose(0, self.n_low, 0, self.n_high, loss_weight)
        for k in range(self.n_high):
            while j < self.n_low and self.place[j] <= k:
                j += 1
            code[self.high[k].row] = <int32_t>j
            precision += (k + 1.0) / (k + 1.0 + j)
        for j in range(self.n_low):
            code[self.low[j].row] = self.place[j] - <int32_t>self.n_high
        return max(0.0, 1.0 - precision / self.n_high)

    # places of the rows first .. last - 1 of grade 0, none below `least` or above `most`
    cdef void choose(
        self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t least, Py_ssize_t most,
        double loss_weight
    ) noexcept nogil:
        cdef Py_ssize_t j, k, best
        cdef double value, largest, score
        while first < last:
            j = (first + last) // 2
            score = self.low[j].score
            value = largest = 0.0
            best = most
            # by what the objective changes if the row is before the k-th of grade 1, too
            # (their equation for delta_j, times the number of rows of grade 1)
            for k in range(most, least, -1):
                value += loss_weight * k / ((k + j) * (k + j + 1.0))
                value += (score - self.high[k - 1].score) / self.n_low
                if value > largest:
                    largest, best = value, k - 1
            self.place[j] = <int32_t>best
            self.choose(first, j, least, best, loss_weight)
            first, least = j + 1, best

    cpdef Measure fork(self, Py_ssize_t max_rows):
        return AveragePrecision(max_rows)
