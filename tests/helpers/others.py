"""Other processes that answer questions of oracles, in this one."""

import pickle

from sskit.solvers.oracle_calls.pool import Pool, find_answers


class Others:
    """Problems that are each the same as another one; see `RemotePool`.

    Parameters
    ----------
    problems : list of Problem
        One for each process.
    lost : tuple of int, default=()
        Numbers of the processes that do not answer.
    """

    def __init__(self, problems, lost=()):
        self.pools, self.lost = [Pool(problem) for problem in problems], lost
        self.n_asked = 0

    def __len__(self):
        return len(self.pools)

    def let_send(self):
        """Nothing is sent."""

    def ask(self, k, *question):
        self.n_asked += 1
        return k, pickle.dumps(question)

    def answer(self, asked, stop):
        k, question = asked
        if k in self.lost:
            return None
        return pickle.loads(pickle.dumps(find_answers(self.pools[k], *pickle.loads(question))))
