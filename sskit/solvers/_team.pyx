"""Teams that ask many oracles at one w (see the .pxd)."""

import threading

import numpy as np
from joblib import effective_n_jobs

from sskit.core._checks cimport check_least
from sskit.core._problem cimport Problem
from sskit.solvers._findings cimport Hinges
from sskit.solvers._visit cimport Visit

cdef extern from "rendezvous.hpp" namespace "sskit" nogil:
    double seconds()
    cdef cppclass Rendezvous:
        void open(Py_ssize_t n, Py_ssize_t size)
        bint enter(long* last)
        void leave()
        bint take(Py_ssize_t* start, Py_ssize_t* stop)
        void cancel()
        void finish()
        void close()

# Questions are handed out in this many portions for each member: few enough to cost nothing,
# many enough that nobody waits long for the member with the slowest oracles.
cdef Py_ssize_t PORTIONS = 8
# Calling the others together and waiting for them takes some ten microseconds, and more on a
# machine that is busy. Questions that take fewer seconds than this in all are asked alone.
cdef double WORTH_A_CALL = 2e-4


cdef class Team:
    """One member: the problem itself.

    Parameters
    ----------
    problem : Problem
        What to ask.
    """

    def __cinit__(self, Problem problem, *args, **kwargs):
        self.problem = problem
        self.visit = Visit(problem)

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(findings.n):
            self.visit.consult(self.problem, findings.block[k], w, findings.loss_weight)
            findings.record(k, self.problem, self.visit)
        return 0

    def consult(self, Hinges findings, const double[::1] w):
        """Ask the oracles of the blocks in question at padded weights w."""
        self.problem.match(findings.problem)
        self.problem.check_weights(w.shape[0], "w")
        with nogil:
            self.ask(findings, &w[0])


cdef class Member:
    """A thread's own problem and scratch memory, and what went wrong there."""

    cdef Problem problem
    cdef Visit visit
    cdef object error
    cdef Py_ssize_t at         # the question that it is at; n if there was no error

    def __cinit__(self, Problem problem):
        self.problem = problem
        self.visit = Visit(problem)


cdef class Round:
    """What the threads of a team share. Helpers hold it, and it does not know the team."""

    cdef Rendezvous place
    cdef Hinges findings
    cdef const double* w

    # take questions until none is left
    cdef int work(self, Member member) except -1 nogil:
        cdef Py_ssize_t start, stop
        while self.place.take(&start, &stop):
            for member.at in range(start, stop):
                member.visit.consult(
                    member.problem, self.findings.block[member.at], self.w,
                    self.findings.loss_weight
                )
                self.findings.record(member.at, member.problem, member.visit)
        return 0

    # the same; an error stays with the member
    cdef void attempt(self, Member member) noexcept:
        try:
            with nogil:
                self.work(member)
        except BaseException as error:
            self.place.cancel()
            member.error = error

    # of a helper: all rounds until the last; true after an error
    cdef int serve(self, Member member, long* last) except -1 nogil:
        while self.place.enter(last):
            self.work(member)
            self.place.leave()
        return 0

    def help(self, Member member):
        """Take part in all rounds: what a helper's thread runs."""
        cdef long last = 0
        cdef bint going = True
        while going:
            try:
                with nogil:
                    self.serve(member, &last)
                going = False
            except BaseException as error:
                self.place.cancel()
                member.error = error
                self.place.leave()


cdef class ThreadTeam(Team):
    """A thread for each member, with a fork of the problem; threads start at the first question.

    Parameters
    ----------
    problem : Problem
        What to ask.
    n_members : int
        Number of threads, that of the caller included.
    """

    cdef Round round
    cdef list members
    cdef readonly list threads
    cdef bint hired
    cdef double pace           # seconds of a question, as far as we know
    cdef public double worth   # seconds that all questions must take for the others to be called

    def __cinit__(self, Problem problem, Py_ssize_t n_members):
        check_least(n_members, 1, "n_members")
        self.round = Round()
        self.members = [Member(problem if k == 0 else problem.fork()) for k in range(n_members)]
        self.threads = []
        self.worth = WORTH_A_CALL

    def __del__(self):
        # after an error in the making the round may not be there, nor be None
        if self.hired:
            self.round.place.close()

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil:
        # who asks depends on the clock, what is found does not
        cdef double start = seconds(), members = 1.0
        if findings.n == 1 or 0.0 < findings.n * self.pace < self.worth:
            Team.ask(self, findings, w)
        else:
            with gil:
                self.lead(findings, w)
                members = len(self.members)
        if findings.n:
            self.pace = 0.5 * (self.pace + members * (seconds() - start) / findings.n)
        return 0

    cdef int lead(self, Hinges findings, const double* w) except -1:
        cdef Member member
        cdef Py_ssize_t n_members = len(self.members)
        if not self.hired:
            self.hire()
        self.round.findings = findings
        self.round.w = w
        self.round.place.open(findings.n, max(1, findings.n // (PORTIONS * n_members)))
        self.round.attempt(self.members[0])
        with nogil:
            self.round.place.finish()
        failed = [member for member in self.members if (<Member>member).error is not None]
        if failed:
            first = min(failed, key=question)
            error = (<Member>first).error
            for member in failed:
                member.error = None
            raise error
        return 0

    cdef hire(self):
        self.hired = True
        for member in self.members[1:]:
            # a daemon: it sleeps at the place of meeting, and must not keep Python from ending
            thread = threading.Thread(
                target=self.round.help, args=(member,), name="sskit-oracle", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:
                # the system has no room for it: those who are there do its share
                break
            self.threads.append(thread)


def question(Member member):
    """Return the number of the question that a member is at."""
    return member.at


cdef class ForesightTeam(Team):
    """One member, whose answers somebody else has found ahead.

    Parameters
    ----------
    problem : Problem
        What to ask.
    foresight : object
        From the problem, see its .pxd.
    """

    def __cinit__(self, Problem problem, foresight):
        self.foresight = foresight

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil:
        # foresight is of whole losses
        if findings.n == 1 or findings.loss_weight != 1.0:
            return Team.ask(self, findings, w)
        with gil:
            weights = np.empty(self.problem.n_weights)
            copy(w, weights)
            self.foresight.look(np.array(findings.block[:findings.n]), weights)
            try:
                Team.ask(self, findings, w)
            finally:
                self.foresight.clear()
        return 0


cdef copy(const double* w, double[::1] out):
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = w[j]


def make_team(Problem problem, n_jobs=None):
    """Return the team that suits a problem.

    Parameters
    ----------
    problem : Problem
        What to ask; says whether others find its answers ahead.
    n_jobs : int, default=None
        Number of members, as in scikit-learn.

    Returns
    -------
    team : Team
        Has at most one member for each block.
    """
    n_members = min(effective_n_jobs(n_jobs), problem.n_blocks)
    if n_members <= 1:
        return Team(problem)
    foresight = problem.foresight(n_members)
    if foresight is not None:
        return ForesightTeam(problem, foresight)
    return ThreadTeam(problem, n_members)
