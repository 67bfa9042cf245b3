"""Inventories of the pages of other projects, to which names in ours are links: of intersphinx.

Sphinx warns of an inventory that it cannot fetch, and warnings are errors here. So they are fetched
before: without a network there are no links, and the pages are built all the same.
"""

import urllib.error
import urllib.request
import zlib
from pathlib import Path

PROJECTS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
}
SECONDS = 10


def fetch(folder, projects=PROJECTS):
    """Return the mapping of intersphinx: addresses of projects, and files of their inventories.

    Parameters
    ----------
    folder : Path
        For the files.
    projects : dict of str to str
        Addresses, which end with a slash.

    Returns
    -------
    mapping : dict of str to tuple
        Of those projects up to the first one that cannot be reached, or has no inventory.
    """
    mapping = {}
    for name, address in projects.items():
        file = Path(folder, f"{name}.inv")
        try:
            # some hosts refuse what names itself Python
            request = urllib.request.Request(
                f"{address}objects.inv", headers={"User-Agent": "Sphinx"}
            )
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                inventory = response.read()
            # a page that says "not found" is none
            zlib.decompress(inventory.split(b" compressed using zlib.\n", 1)[1])
        except (OSError, IndexError, zlib.error) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            print(f"no links to {address}, nor to projects after it: {error}")
            break
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(inventory)
        mapping[name] = (address, str(file))
    return mapping
