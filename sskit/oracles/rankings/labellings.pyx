"""Losses of a labelling of all rows: F_beta, and precision among the k highest."""

from libc.math cimport ceil, pow
from libc.stdint cimport int32_t

from sskit.oracles.rankings.measure cimport Measure


cdef class LabellingMeasure(Measure):
    """Losses that depend on how many rows of each grade are labelled wrong.

    The code has a 1 for each such row. Of all labellings with the same numbers that is the most
    violating one whose wrong rows are the lowest of grade 1 and the highest of grade 0.
    """

    # the labelling with so many rows of grade 1 right and of grade 0 wrong
    cdef void write(
        self, Py_ssize_t n, Py_ssize_t right, Py_ssize_t wrong, int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(n):
            code[t] = 0
        for t in range(right, self.n_high):
            code[self.high[t].row] = 1
        for t in range(wrong):
            code[self.low[t].row] = 1


cdef class FBeta(LabellingMeasure):
    """One less F_beta (Joachims 2005, algorithm 2).

    With a rows of grade 1 found and b of grade 0 taken for such, of P in all, F is
    (1 + beta^2) a / (a + b + beta^2 P). psi is 1 / P for rows that are missed and
    -(P / N)^balance / P for those taken wrongly, of N: any such factor of the rows of one grade
    leaves the sign of the score the best label, and the maximum a bound of the loss. For each a
    the objective is concave in b: a binary search over what one row more is worth finds the best
    b, so that all takes O(n log n) instead of O(n^2).

    Parameters
    ----------
    max_rows : int
        Number of rows of the largest set.
    beta : float
        Weight of recall against precision, positive.
    balance : float
        0 for the published joint features; 1 makes both grades count the same as a whole.
    """

    cdef readonly double beta
    cdef readonly double balance

    def __cinit__(self, Py_ssize_t max_rows, double beta, double balance):
        self.beta = beta
        self.balance = balance
        self.shifts = True

    # what a row of grade 0 counts in psi, of one of grade 1
    cdef double ratio(self, Py_ssize_t n_high, Py_ssize_t n_low) noexcept nogil:
        if n_high == 0 or n_low == 0:
            return 1.0
        return pow((<double>n_high) / n_low, self.balance)

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil:
        cdef double factor = 1.0 + self.beta * self.beta, value, best = 0.0, base, total
        cdef double worth, ratio
        cdef Py_ssize_t a, b, first, last, right, wrong = 0
        self.split(n, grade, score)
        right = self.n_high
        if not self.n_high:
            self.write(n, right, wrong, code)
            return 0.0
        self.add_up()
        total = self.high_sum[self.n_high]
        ratio = self.ratio(self.n_high, self.n_low)
        for a in range(self.n_high, -1, -1):
            base = a + (factor - 1.0) * self.n_high
            first, last = 0, self.n_low
            while first < last:
                b = (first + last) // 2
                worth = ratio * self.low[b].score / self.n_high
                if a:
                    worth += loss_weight * factor * a / ((base + b) * (base + b + 1.0))
                if worth > 0.0:
                    first = b + 1
                else:
                    last = b
            value = (self.high_sum[a] - total + ratio * self.low_sum[first]) / self.n_high
            value += loss_weight * (1.0 - (factor * a / (base + first) if a else 0.0))
            if value > best:
                best, right, wrong = value, a, first
        self.write(n, right, wrong, code)
        if not right:
            return 1.0
        return 1.0 - factor * right / (right + wrong + (factor - 1.0) * self.n_high)

    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, int32_t* index,
        double* value
    ) noexcept nogil:
        cdef Py_ssize_t t, n_high = 0, count = 0
        cdef double ratio
        for t in range(n):
            n_high += grade[t] != 0
        ratio = self.ratio(n_high, n - n_high)
        for t in range(n):
            if code[t]:
                index[count] = <int32_t>t
                value[count] = (1.0 if grade[t] else -ratio) / n_high
                count += 1
        return count

    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t, n_high = 0, n_wrong = 0
        for t in range(n):
            if not 0 <= code[t] <= 1:
                return False
            n_high += grade[t] != 0
            n_wrong += code[t]
        return n_high > 0 or n_wrong == 0

    cpdef Measure fork(self, Py_ssize_t max_rows):
        return FBeta(max_rows, self.beta, self.balance)


cdef class PrecisionAtK(LabellingMeasure):
    """Share of the k places at the top that were lost (Joachims 2005; Kar et al. 2015).

    Labellings have k rows of grade 1. If m rows of grade 1 are missed, f of grade 0 are taken,
    and s = min(m, f), then s places were lost of K = min(k, P): the loss is s / K, which is
    one less precision, or recall, but for a factor. psi is s / (m K) for each row that is
    missed and -s / (f K) for each taken wrongly: s times the difference of their means, the
    surrogate "avg" of Kar et al. With k = P, the precision/recall break-even point, it is that of
    Joachims.

    Parameters
    ----------
    max_rows : int
        Number of rows of the largest set.
    k : int
        Number of places; 0 is the share, or the number of rows of grade 1.
    share : float
        Number of places over the number of rows, rounded up; 0 is the number of rows of grade 1.
    """

    cdef readonly Py_ssize_t k
    cdef readonly double share

    def __cinit__(self, Py_ssize_t max_rows, Py_ssize_t k, double share):
        self.k = k
        self.share = share

    # number of places for n rows
    cdef Py_ssize_t places(self, Py_ssize_t n, Py_ssize_t n_high) noexcept nogil:
        if self.k:
            return min(self.k, n)
        if self.share > 0.0:
            return min(max(<Py_ssize_t>1, <Py_ssize_t>ceil(self.share * n)), n)
        return n_high

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t a, k, m, f, s, right, wrong = 0, lost = 0, largest
        cdef double value, best = 0.0
        self.split(n, grade, score)
        right, k = self.n_high, self.places(n, self.n_high)
        largest = min(k, self.n_high)
        if not self.n_high or not self.n_low:
            self.write(n, right, wrong, code)
            return 0.0
        self.add_up()
        for a in range(largest, max(<Py_ssize_t>0, k - self.n_low) - 1, -1):
            m, f = self.n_high - a, k - a
            s = min(m, f)
            if not s:
                continue
            value = self.low_sum[f] / f - (self.high_sum[self.n_high] - self.high_sum[a]) / m
            value = s * (loss_weight + value) / largest
            if value > best:
                best, right, wrong, lost = value, a, f, s
        self.write(n, right, wrong, code)
        return (<double>lost) / largest

    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, int32_t* index,
        double* value
    ) noexcept nogil:
        cdef Py_ssize_t t, n_high = 0, m = 0, f = 0, count = 0
        cdef double s
        for t in range(n):
            n_high += grade[t] != 0
            m += code[t] != 0 and grade[t] != 0
            f += code[t] != 0 and grade[t] == 0
        if not (m and f):
            return 0
        s = (<double>min(m, f)) / min(self.places(n, n_high), n_high)
        for t in range(n):
            if code[t]:
                index[count] = <int32_t>t
                value[count] = s / m if grade[t] else -s / f
                count += 1
        return count

    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t, n_high = 0, m = 0, f = 0
        for t in range(n):
            if not 0 <= code[t] <= 1:
                return False
            n_high += grade[t] != 0
            m += code[t] != 0 and grade[t] != 0
            f += code[t] != 0 and grade[t] == 0
        return (m == 0 and f == 0) or (
            m > 0 and f > 0 and m - f == n_high - self.places(n, n_high)
        )

    cpdef Measure fork(self, Py_ssize_t max_rows):
        return PrecisionAtK(max_rows, self.k, self.share)
