"""Run a command that takes minutes and say what it is doing: ``progress.py COMMAND...``.

Made for pip with ``--verbose``, which says a thousand things. Shown are the lines that tell how far
it is, some seconds apart, and where nothing new comes, for how long it has been at the last one.
All that it said is shown if it fails.
"""

import os
import queue
import re
import subprocess
import sys
import threading
import time

NEWS = re.compile(r"(Collecting|Downloading|Building|Installing|Generating|translating|compiling) ")
TRANSLATED = re.compile(r"\[ *(\d+)/(\d+)\] Cythonizing ")


def news(line):
    """Return what a line says of how far the command is, or None."""
    line = TRANSLATED.sub(r"translating \1 of \2: ", line.strip())
    return line if NEWS.match(line) else None


def follow(command, out=sys.stdout, interval=5.0, patience=10.0):
    """Run a command and say what it is doing.

    Parameters
    ----------
    command : list of str
        The program and its arguments.
    out : file, default=sys.stdout
        Where it is said.
    interval : float, default=5.0
        Seconds between two lines about things of one kind.
    patience : float, default=10.0
        Seconds after which the last line is said again.

    Returns
    -------
    status : int
        The exit status of the command.
    """
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # or else what the children of the command say comes in blocks
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        lines = queue.Queue()

        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        start = shown_at = time.monotonic()
        said, last, shown = [], "starting", ""
        while True:
            try:
                line = lines.get(timeout=max(shown_at + patience - time.monotonic(), 0.0))
            except queue.Empty:
                line = ""
            if line is None:
                break
            said.append(line)
            last = news(line) or last
            now = time.monotonic()
            new = last.split()[0] != shown.split(" ")[0] or (
                last != shown and now - shown_at >= interval
            )
            if new or now - shown_at >= patience:
                print(f"{now - start:5.0f} s  {last}", file=out, flush=True)
                shown, shown_at = last, now
        status = process.wait()
    if status:
        print("".join(said), file=out)
    print(
        f"{time.monotonic() - start:5.0f} s  {'failed' if status else 'done'}", file=out, flush=True
    )
    return status


if __name__ == "__main__":
    sys.exit(follow(sys.argv[1:]))
