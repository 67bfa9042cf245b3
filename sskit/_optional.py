"""Packages that only some functions need: what to install where one is missing."""

from contextlib import contextmanager

# The extra of the distribution that has a package.
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plots",
    "pandas": "text",
    "PIL": "images",
    "pooch": "text",
    "rich": "text",
    "skimage": "images",
    "skops": "text",
}


@contextmanager
def optional():
    """Say what to install if an import of an optional package fails.

    Yields
    ------
    nothing : None
        To imports.

    Raises
    ------
    ModuleNotFoundError
        Naming the package and its extra, with the line for pip.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ModuleNotFoundError(
            f"this needs {package}, which is not installed: it comes with the extra "
            f'{EXTRAS[package]!r}, pip install "sskit-learn[{EXTRAS[package]}]"',
            name=error.name,
        ) from error
