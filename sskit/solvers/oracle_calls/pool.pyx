"""Teams that ask many oracles at one w (see the .pxd)."""

from _thread import allocate_lock, start_new_thread

import numpy as np
from joblib import effective_n_jobs

from sskit.core.checks cimport check_least
from sskit.core.problem cimport Problem
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.answers cimport Hinges
from sskit.solvers.oracle_calls.call cimport Visit

from sskit.core.stop import CutShort

cdef extern from "stop.hpp" namespace "sskit" nogil:
    double seconds()

cdef extern from "work_queue.hpp" namespace "sskit" nogil:
    cdef cppclass Rendezvous:
        void open(Py_ssize_t n, Py_ssize_t size)
        bint enter(long* last)
        void leave()
        bint take(Py_ssize_t* start, Py_ssize_t* stop)
        void cancel()
        void finish()
        bint finish(double patience)
        void close()

# Portions of questions for each member: so many that nobody waits long for the slowest oracles.
cdef Py_ssize_t PORTIONS = 8
# Calling the others takes microseconds: questions of fewer seconds than this are asked alone.
cdef double WORTH_A_CALL = 2e-4
# Seconds for which a leader waits before it looks up, and answers are found ahead without a look.
cdef double PATIENCE = 0.05
cdef double AHEAD = 0.5


cdef class Team:
    """One member: the problem itself.

    Parameters
    ----------
    problem : Problem
        What to ask.
    stop : Stop, default=None
        Says when to leave out the rest; None never does.
    """

    def __cinit__(self, Problem problem, *args, Stop stop=None, **kwargs):
        self.problem = problem
        self.stop = Stop() if stop is None else stop
        self.visit = Visit(problem)

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil:
        cdef Py_ssize_t k
        findings.open()
        for k in range(findings.n):
            findings.ask(k, self.problem, self.visit, w)
            if self.stop.due():
                break
        return 0

    def consult(self, Hinges findings, const double[::1] w):
        """Ask the oracles of the blocks in question at padded weights w.

        Parameters
        ----------
        findings : Hinges
            Has the questions, receives the answers.
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Raises
        ------
        CutShort
            If a stop was due before all had answered.
        """
        self.problem.match(findings.problem)
        self.problem.check_weights(w.shape[0], "w")
        findings.open()
        if not self.stop.over():
            with nogil:
                self.ask(findings, &w[0])
        if findings.n_answered() < findings.n:
            raise CutShort(findings.n_answered())


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
    cdef Stop stop
    cdef const double* w

    # take questions until none is left, or a stop is due
    cdef int work(self, Member member, bint leads) except -1 nogil:
        cdef Py_ssize_t start, stop
        while self.place.take(&start, &stop):
            for member.at in range(start, stop):
                self.findings.ask(member.at, member.problem, member.visit, self.w)
                # only the leader may look at the clock and at signals
                if self.stop.due() if leads else self.stop.over():
                    self.place.cancel()
                    return 0
        return 0

    # of the leader: work, then wait for the others; an error stays with the member
    cdef void attempt(self, Member member) noexcept:
        try:
            with nogil:
                self.work(member, True)
                while not self.place.finish(PATIENCE):
                    self.stop.look()
        except BaseException as error:
            self.place.cancel()
            member.error = error
            with nogil:
                self.place.finish()

    # of a helper: all rounds until the last; true after an error
    cdef int serve(self, Member member, long* last) except -1 nogil:
        while self.place.enter(last):
            self.work(member, False)
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
    stop : Stop, default=None
        As for one member.
    """

    cdef Round round
    cdef list members
    cdef readonly list threads
    cdef bint hired
    cdef double pace           # seconds of a question, as far as we know
    cdef public double worth   # seconds that all questions must take for the others to be called

    def __cinit__(self, Problem problem, Py_ssize_t n_members, *, Stop stop=None):
        check_least(n_members, 1, "n_members")
        self.round = Round()
        self.round.stop = self.stop
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
        findings.open()
        self.round.findings = findings
        self.round.w = w
        self.round.place.open(findings.n, max(1, findings.n // (PORTIONS * n_members)))
        self.round.attempt(self.members[0])
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
            try:
                self.threads.append(Helper(self.round.help, member))
            except RuntimeError:
                # the system has no room for it: those who are there do its share
                break


class Helper:
    """A thread that is not waited for, be it to begin or to end.

    `threading.Thread` waits until a thread says that it has begun, and forever if memory ends
    before it does. Python ends without this one, which sleeps at the place of meeting.

    Parameters
    ----------
    work : callable
        What the thread does.
    *args : object
        Its arguments.
    """

    def __init__(self, work, *args):
        self.running = allocate_lock()
        self.running.acquire()
        start_new_thread(self.run, (work, args))

    def run(self, work, args):
        """Do the work; what the thread itself calls."""
        try:
            work(*args)
        finally:
            self.running.release()

    def is_alive(self):
        """Return whether the thread goes on."""
        return self.running.locked()

    def join(self, timeout):
        """Wait for the end of the thread, at most so many seconds."""
        if self.running.acquire(timeout=timeout):
            self.running.release()


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
    n_members : int
        Number of workers behind it.
    stop : Stop, default=None
        As for one member; asked about now and then.
    """

    def __cinit__(self, Problem problem, foresight, Py_ssize_t n_members, *, Stop stop=None):
        self.foresight = foresight
        self.portion = self.n_members = n_members

    cdef int ask(self, Hinges findings, const double* w) except -1 nogil:
        # foresight is of whole losses
        if findings.n == 1 or findings.loss_weight != 1.0:
            return Team.ask(self, findings, w)
        cdef Py_ssize_t start = 0
        findings.open()
        with gil:
            weights = np.empty(self.problem.n_weights)
            copy(w, weights)
            while start < findings.n and not (start and self.stop.due()):
                start = self.ask_portion(findings, w, weights, start)
        return 0

    # ask the questions from `start` on that are worth finding ahead at once; return where they end
    cdef Py_ssize_t ask_portion(
        self, Hinges findings, const double* w, object weights, Py_ssize_t start
    ) except -1:
        cdef double began = seconds()
        cdef Py_ssize_t k, stop = min(start + self.portion, findings.n)
        self.foresight.look(np.array(findings.block[start:stop]), weights)
        try:
            for k in range(start, stop):
                findings.ask(k, self.problem, self.visit, w)
        finally:
            self.foresight.clear()
        if seconds() - began < 0.5 * AHEAD:
            self.portion = min(2 * self.portion, self.problem.n_blocks)
        elif seconds() - began > AHEAD:
            self.portion = max(self.portion // 2, self.n_members)
        return stop


cdef copy(const double* w, double[::1] out):
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = w[j]


def make_team(Problem problem, n_jobs=None, Stop stop=None):
    """Return the team that suits a problem.

    Parameters
    ----------
    problem : Problem
        What to ask; says whether others find its answers ahead.
    n_jobs : int, default=None
        Number of members, as in scikit-learn.
    stop : Stop, default=None
        Says when to leave out the rest of the questions; None never does.

    Returns
    -------
    team : Team
        Has at most one member for each block.
    """
    n_members = min(effective_n_jobs(n_jobs), problem.n_blocks)
    if n_members <= 1:
        return Team(problem, stop=stop)
    foresight = problem.foresight(n_members)
    if foresight is not None:
        return ForesightTeam(problem, foresight, n_members, stop=stop)
    return ThreadTeam(problem, n_members, stop=stop)
