"""Searches that move lam of the lambda-oracle (Choi, Meshi, Srebro 2016, 4.1 to 4.3)."""

from libc.math cimport INFINITY, exp, log, sqrt

from sskit.models.slack.search cimport SlackSearch

# An interval of lam is empty if its ends are closer than this, relatively.
cdef double EMPTY = 1e-9
# While an end of the interval is not known, lam moves by this factor ..
cdef double STRIDE = 8.0
# .. and no further than from one of these to the other.
cdef double LEAST = 1e-15
cdef double MOST = 1e15
# Sarawagi and Gupta's search covers this factor on both sides of where it begins ..
cdef double REACH = 1e3
# .. and ends when log lam is known as well as this.
cdef double FINE = 1e-4
cdef double GOLDEN = 0.6180339887498949


cdef class BinarySearch(SlackSearch):
    """Minimises the bound U(lam) = K(lam)^2 / (4 lam), which is convex (their lemma 1).

    The sign of its slope, that of lam g - h at the label found, says where to go on. The search
    ends when the labels at both ends of the interval are the only ones that the lambda-oracle
    can still give, or when the bound proves that nothing better exists (their appendix D).

    Parameters
    ----------
    problem : Problem
        Its oracle is asked.
    tol : float
        As of `SlackSearch`.
    max_queries : int
        As of `SlackSearch`.
    """

    # fewer lam to go on from, from what the query at lam told; returns whether none is left
    cdef bint narrow(self, double lam, double* low, double* high) noexcept nogil:
        return False

    cdef int search(self) except -1 nogil:
        cdef double low = 0.0, high = INFINITY, lam = self.first_weight()
        cdef double low_h = 0.0, low_g = -1.0, high_h = 0.0, high_g = -1.0
        cdef double least, most
        cdef bint again, hull = False
        while True:
            self.ask(lam)
            if self.done():
                return 0
            again = (self.h == low_h and self.g == low_g) or (
                self.h == high_h and self.g == high_g
            )
            if again and hull:
                return 0    # no label lies above the line through the two
            if lam * self.g < self.h:
                low, low_h, low_g = lam, self.h, self.g
            else:
                high, high_h, high_g = lam, self.h, self.g
            if low_h == high_h and low_g == high_g:
                return 0
            least, most = low, high
            if self.narrow(lam, &least, &most) or not least < most * (1.0 - EMPTY):
                return 0
            hull = again and low_g >= 0.0 and high_g >= 0.0
            if hull:
                lam = (low_h - high_h) / (high_g - low_g)
                if not low < lam < high:
                    return 0    # the two are equally good at an end of the interval
            elif again and self.h > 0.0 < self.g and low < self.h / self.g < high:
                lam = self.h / self.g    # if it is the answer there too, it is proven best
            elif most == INFINITY:
                lam = least * STRIDE
            elif least == 0.0:
                lam = most / STRIDE
            else:
                lam = sqrt(least) * sqrt(most)
            if not LEAST < lam < MOST:
                return 0


cdef class BisectingSearch(BinarySearch):
    """Bisects the losses and margins that a better label can have, together with lam.

    Better labels lie below the line h + lam g = K of a query and above the hyperbola of the best
    label, which cross at two points: h and g of better labels lie between theirs.

    Parameters
    ----------
    problem : Problem
        Its oracle is asked.
    tol : float
        As of `SlackSearch`.
    max_queries : int
        As of `SlackSearch`.
    """

    cdef double least_h
    cdef double most_h
    cdef double least_g
    cdef double most_g

    cdef int search(self) except -1 nogil:
        self.least_h = self.least_g = 0.0
        self.most_h = self.most_g = INFINITY
        return BinarySearch.search(self)

    cdef bint narrow(self, double lam, double* low, double* high) noexcept nogil:
        cdef double value = self.h + lam * self.g, root, least, most
        root = sqrt(max(value * value - 4.0 * lam * self.best, 0.0))
        self.least_h = max(self.least_h, 0.5 * (value - root))
        self.most_h = min(self.most_h, 0.5 * (value + root))
        self.least_g = max(self.least_g, 0.5 * (value - root) / lam)
        self.most_g = min(self.most_g, 0.5 * (value + root) / lam)
        if self.least_h > self.most_h or self.least_g > self.most_g:
            return True
        # U is least at h / g of the label that it bounds best: look there if that is possible
        least, most = self.least_h / self.most_g, INFINITY
        if self.least_g > 0.0:
            most = self.most_h / self.least_g
        if max(least, low[0]) < min(most, high[0]) * (1.0 - EMPTY):
            low[0], high[0] = max(least, low[0]), min(most, high[0])
        return False


cdef class SarawagiSearch(SlackSearch):
    """Sarawagi and Gupta's search (2008) for the constraint that the slack xi violates most.

    Minimises max_y (h + lam g) - 2 sqrt(xi lam) over lam by golden sections in log lam. xi is
    the present slack of the block in a cutting-plane solver; here the best value that the known
    label and the answer to one first query have, the same where the block's last cut is tight.

    Parameters
    ----------
    problem : Problem
        Its oracle is asked.
    tol : float
        As of `SlackSearch`.
    max_queries : int
        As of `SlackSearch`.
    """

    cdef double slack

    # what is minimised, at the logarithm of lam
    cdef double objective(self, double place) except? -1 nogil:
        cdef double lam = exp(place)
        self.ask(lam)
        return self.h + lam * self.g - 2.0 * sqrt(self.slack * lam)

    cdef int search(self) except -1 nogil:
        cdef double middle = log(self.first_weight()), width = 2.0 * log(REACH)
        cdef double left = middle - 0.5 * width, a, b, at_a, at_b
        self.ask(exp(middle))
        self.slack = self.best
        if self.done():
            return 0
        a, b = left + (1.0 - GOLDEN) * width, left + GOLDEN * width
        at_a = self.objective(a)
        if self.done():
            return 0
        at_b = self.objective(b)
        while width > FINE and not self.done():
            width *= GOLDEN
            if at_a <= at_b:
                b, at_b = a, at_a
                a = left + (1.0 - GOLDEN) * width
                at_a = self.objective(a)
            else:
                left, a, at_a = a, b, at_b
                b = left + GOLDEN * width
                at_b = self.objective(b)
        return 0
