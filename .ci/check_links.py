"""Check the links of a built site: ``check_links.py FOLDER``.

Every link, picture, script and style of every page must lead to a file of the site, and every
fragment to an anchor of its page. What a page loads must not come from the network; links that
only a click follows may lead anywhere. The project's own address counts as the site itself.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

SKIPPED = {"_static", "_sources"}  # the theme's own files, not pages
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Take note of one tag."""
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "link" and {"stylesheet", "icon"} & set((attrs.get("rel") or "").split()):
            self.loads.append(attrs.get("href") or "")
        elif tag in LOADED and attrs.get(LOADED[tag]):
            self.loads.append(attrs[LOADED[tag]])
        elif attrs.get("href"):
            self.links.append(attrs["href"])


def check_site(site, address=None):
    """Return a sentence for every link of a site that leads nowhere.

    Parameters
    ----------
    site : Path
        The folder of the site.
    address : str or None, default=None
        Where it will stand: links that begin with it count as links within the site.

    Returns
    -------
    faults : list of str
        Empty if all is well.
    n_links : int
        How many links were followed.
    """
    site = site.resolve()
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if not SKIPPED & set(path.relative_to(site).parts)
    }
    faults, n_links = [], 0
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loads + page.links:
            if address and target.startswith(address):
                local = target.removeprefix(address).lstrip("/")
                base, target = site / "index.html", local or "index.html"
            else:
                base = path
            if urlsplit(target).scheme or target.startswith("//"):
                if target in page.loads and urlsplit(target).scheme != "data":
                    faults.append(f"{name}: loads {target} from the network")
                continue
            n_links += 1
            file, fragment = urldefrag(target)
            file = urlsplit(file).path
            found = (base.parent / unquote(file)).resolve() if file else base
            fragment = unquote(fragment.partition(":~:")[0])
            if not found.is_file():
                faults.append(f"{name}: {target} leads to no file")
            elif found in pages and fragment not in pages[found].anchors:
                faults.append(f"{name}: {target} leads to no anchor")
    return faults, n_links


def main(folder, address=None):
    """Check a site and return the exit status."""
    faults, n_links = check_site(Path(folder), address)
    if not n_links:
        faults.append(f"{folder} holds no page with a link")
    print("\n".join(faults) or f"{n_links} links lead somewhere")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
