"""What several workers need of a cache on disk before they begin."""

import os


def prepare_cache(memory, *functions):
    """Make the folders and code files of functions in a cache, as their first calls would.

    joblib looks for the code of a function in its folder and empties the folder if it is another
    one. Two workers that find it missing, half-written or out of date at the same time would
    throw away what each other has just computed.

    Parameters
    ----------
    memory : object with the interface of joblib.Memory
        The cache. One that does not store functions as joblib does is left alone.
    *functions : callable
        To be cached.
    """
    store = getattr(memory, "store_backend", None)
    if not hasattr(store, "get_cached_func_code"):
        return
    from joblib.func_inspect import get_func_code, get_func_name

    for function in functions:
        modules, name = get_func_name(function)
        try:
            known = store.get_cached_func_code([os.path.join(*modules, name)])
        except OSError:
            known = ""
        # a line before the code says where it stood
        if not known.endswith(get_func_code(function)[0]):
            memory.cache(function).clear(warn=False)
