"""All that Python can reach of compiled modules, called with nonsense by processes that may die.

As a script, given the folder of the tests and a number of random calls, it prints a line of JSON
for every extension type and for the functions of every compiled module: how many calls there
were, of how many objects, and what the process died of, or null.
"""

import copy
import importlib
import importlib.machinery
import importlib.util
import inspect
import itertools
import json
import mmap
import os
import pickle
import pkgutil
import random
import resource
import signal
import sys
from functools import partial

import numpy as np

SECONDS = 20  # for all of a type or a module
TOGETHER = 16  # types and modules of one process
MEMORY = 2**30
# A call that waits for others is none for one thread; Ctrl-C is an order to end.
LEFT_OUT = {"sskit.parallel.crew.Meeting.run_worker", "sskit.core.stop.Stop.press"}
NUMBERS = [None, 0, -1, 10**9, [], "0", 0.5, 2, True, object()]
ARRAYS = [
    np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.full(5, np.nan), np.full(40, 1e300),
    np.zeros(0, np.int32), np.full(3, 10**9, np.int32), np.full((2, 2), -1, np.int32),
    np.zeros(3, np.int32), np.full(2, 10**9), np.full(2, 10**9, np.intp), np.arange(3) + 5,
    np.zeros((0, 2), np.int32), np.ones(3, np.uint8), np.ones((2, 3), np.uint8),
    np.ones((2, 2), np.float32), np.zeros((1, 2, 2, 3)), np.random.RandomState(0),
]  # fmt: skip


def compiled_modules(package):
    """Return all compiled modules of a package, but what Cython shares between them."""
    found = []
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        spec = importlib.util.find_spec(module.name)
        compiled = isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)
        if compiled and not module.name.endswith("._cyutility"):
            found.append(importlib.import_module(module.name))
    return found


def extension_types(module):
    """Return the extension types of a compiled module; its Python classes have a __dict__."""
    return [
        cls
        for cls in vars(module).values()
        if inspect.isclass(cls)
        and cls.__module__ == module.__name__
        and not any("__dict__" in vars(base) for base in cls.__mro__)
    ]


def functions(module):
    """Return the functions that a compiled module defines."""
    return [
        item
        for item in vars(module).values()
        if inspect.isbuiltin(item) and item.__module__ == module.__name__
    ]


class Calls:
    """Calls anything with nonsense, and leaves word of what it is about to do.

    Parameters
    ----------
    word : mmap
        Memory that the parent reads: the number of calls and the last of them.
    seed : int
        Of the draws.
    pool : list
        What arguments are drawn from.
    n_random : int
        How often each function is called with arguments drawn at random.
    """

    def __init__(self, word, seed, pool, n_random):
        self.word = word
        self.pool = pool
        self.rng = random.Random(seed)
        self.n_random = n_random
        self.n = 0

    def attempt(self, name, function, *args):
        """Call a function; any exception will do, but for an order to end."""
        self.n += 1
        said = f"{self.n} {name} of {[type(arg).__name__ for arg in args]}\0".encode()
        self.word[: len(said)] = said
        try:
            return function(*args)
        except Exception:
            return None

    def draw(self, most):
        """Return at most so many arguments."""
        return [self.rng.choice(self.pool) for _ in range(self.rng.randint(1, most))]

    def with_everything(self, name, function):
        """Call a function without arguments, with the same ones, and with random ones."""
        self.attempt(name, function)
        try:
            most = min(len(inspect.signature(function).parameters), 9)
        except ValueError:
            most = 4
        for k, value in itertools.product(range(1, most + 1), NUMBERS):
            self.attempt(f"{name} = {value!r}", function, *[value] * k)
        for _ in range(self.n_random if most else 0):
            self.attempt(name, function, *self.draw(most))

    def poke(self, item):
        """Copy, show, read and call all of an object."""
        cls = type(item)
        name = f"{cls.__module__}.{cls.__qualname__}"
        for function in (repr, str, hash, bool, len, iter, copy.copy, copy.deepcopy):
            self.attempt(f"{function.__name__} of {name}", function, item)
        for protocol in (0, 2, pickle.HIGHEST_PROTOCOL):
            self.attempt(f"pickle of {name}", pickle.dumps, item, protocol)
        for key in public_names(cls):
            value = self.attempt(f"{name}.{key}", getattr, item, key)
            self.attempt(f"repr of {name}.{key}", repr, value)
            if callable(value) and f"{name}.{key}" not in LEFT_OUT:
                self.with_everything(f"{name}.{key}", value)
                # a method of another object is none of it
                self.attempt(f"{name}.{key}", getattr(cls, key), object())

    def spoil(self, item):
        """Begin an object anew, and set and delete what can be set and deleted."""
        cls = type(item)
        name = f"{cls.__module__}.{cls.__qualname__}"
        self.attempt(f"{name}.__init__", item.__init__)
        self.attempt(f"{name}.__init__", item.__init__, None, -1, 10**9)
        for key in public_names(cls):
            self.attempt(f"del {name}.{key}", delattr, item, key)
            for value in (*NUMBERS, *ARRAYS):
                self.attempt(f"{name}.{key} =", setattr, item, key, value)


def public_names(cls):
    """Return the attributes of a type that others may use."""
    return [key for key in dir(cls) if not key.startswith("_")] + ["__getitem__"]


def of_type(calls, cls, living):
    """Make objects of a type out of nothing and of nonsense, and use all of them."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    made = [calls.attempt(f"{name}.__new__", cls.__new__, cls)]
    calls.with_everything(name, cls)
    for k, value in itertools.product(range(1, 10), NUMBERS):
        made.append(calls.attempt(f"{name}.__new__", cls.__new__, cls, *[value] * k))
    made += [calls.attempt(name, cls, *calls.draw(8)) for _ in range(2 * calls.n_random)]
    objects = [item for item in made if isinstance(item, cls)][:2] + living
    for item in objects:
        calls.poke(item)
        calls.spoil(item)
        calls.poke(item)
    return len(objects)


def of_module(calls, module):
    """Call all functions of a module."""
    for function in functions(module):
        calls.with_everything(f"{module.__name__}.{function.__name__}", function)
    return None


def in_a_process(actions, *args):
    """Run action(calls) of some in a fork, until one kills it; yield what became of each."""
    word = mmap.mmap(-1, 2**16)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            limit_memory()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for seed, action in actions:
                signal.alarm(SECONDS)
                calls = Calls(word, seed, *args)
                n_objects = action(calls)
                os.write(write, json.dumps([calls.n, n_objects]).encode() + b"\n")
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(read) as told:
        for line in told:
            n_calls, n_objects = json.loads(line)
            yield {"calls": n_calls, "objects": n_objects, "died": None}
    if status:
        n_calls, last = word[:].split(b"\0", 1)[0].decode().split(" ", 1)
        reason = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        yield {"calls": int(n_calls), "objects": None, "died": f"{reason} at {last}"}


def limit_memory():
    """Let numbers like 10^9 be too large for memory."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main(n_random):
    """Print what each type, and the functions of each module, made of it."""
    # libraries print what they like; the lines of JSON have a way out of their own
    results = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    import sskit
    from helpers.living import living_objects

    modules = compiled_modules(sskit)
    types = [cls for module in modules for cls in extension_types(module)]
    living = living_objects(types)
    pool = [*NUMBERS, *ARRAYS, *(items[0] for items in living.values())]
    actions = {
        f"{cls.__module__}.{cls.__qualname__}": partial(
            of_type, cls=cls, living=living.get(cls, [])
        )
        for cls in types
    }
    actions |= {
        module.__name__: partial(of_module, module=module)
        for module in modules
        if functions(module)
    }
    names, waiting = list(actions), list(enumerate(actions.values()))
    while waiting:
        for found in in_a_process(waiting[:TOGETHER], pool, n_random):
            name = names[waiting.pop(0)[0]]
            print(json.dumps({"name": name, **found}), file=results, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    main(int(sys.argv[2]))
