"""Workers of a cluster that answer questions of the oracle for the place that has the parts."""

import asyncio
import time

# Seconds between two checks whether the fit is to stop, and workers are there.
POLL = 0.1
# What waiting for an answer raises; before Python 3.11 there are two.
LATE = (TimeoutError, asyncio.TimeoutError)
# Seconds in which a question is sent by the thread of the worker that does so.
SENDING = 5e-4


class Helpers:
    """Workers that have one part too, as its place calls them; see `RemotePool`.

    Parameters
    ----------
    actors : dict of str to Actor
        By their addresses, each a `LocalFit`; those that are lost are removed.
    lost : set of str
        Addresses of those that the scheduler has lost: calls of them may never end.
    failed : dict of str to str
        Gets the errors of those that had one of their own, by their addresses.
    number : int
        Of the part.
    """

    def __init__(self, actors, lost, failed, number):
        self.actors, self.lost, self.failed, self.number = actors, lost, failed, number

    def __len__(self):
        return len(self.actors)

    def ask(self, k, *question):
        """Send a question to helper k; return what `answer` takes."""
        address = [*self.actors][k]
        try:
            return address, self.actors[address].answer(self.number, *question)
        except RuntimeError:  # it is known to be lost
            return address, None

    def let_send(self):
        """Leave the interpreter's lock to the thread that sends questions."""
        time.sleep(SENDING * len(self))

    def answer(self, asked, stop):
        """Wait for an answer; return None if the helper is lost, or the fit is to stop."""
        address, question = asked
        while question is not None and address not in self.lost:
            try:
                return question.result(POLL)
            except LATE:
                if stop.ends:
                    return None
            except Exception as error:
                # if it is an error of the oracle, the place will have the same
                self.failed[address] = f"{type(error).__name__}: {error}"
                break
        del self.actors[address]
        return None
