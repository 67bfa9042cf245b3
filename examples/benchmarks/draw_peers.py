"""Draw the figures of peers.json, and write the tables of the page that shows them.

    python draw_peers.py [--results FILE] [--out FOLDER]

Figures go to doc/_static/benchmarks, the one of the first page to doc/_static/front.png, tables to
doc/reference. All are made of the file; only the image and the pose of the first page are
predicted here, which takes some seconds.
"""

import argparse
import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from _subject_sequences import EXAMPLE
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from peers import SUBJECTS

DOC = Path(__file__).resolve().parents[2] / "doc"
# Colours that people tell apart who see few colours, and a marker for each package.
COLOURS = {
    "sskit": ("#D55E00", "o"),
    "CRFsuite": ("#0072B2", "s"),
    "chaine": ("#56B4E9", "D"),
    "underthesea-core": ("#E69F00", "h"),
    "torch CRF": ("#444444", "^"),
    "logistic regression": ("#009E73", "v"),
    "LinearSVC": ("#CC79A7", "P"),
    "SVC": ("#882255", "X"),
    "xgboost": ("#B8860B", "*"),
}
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "axes.edgecolor": "#777777",
    "figure.facecolor": "white",
    "svg.hashsalt": "sskit",
    "legend.frameon": False,
}
FIGURES = {
    "text": ("chunks", "tags"),
    "addresses": ("addresses", "addresses"),
    "rows": ("forest", "digits"),
    "sets": ("genes", "topics"),
    "images": ("horses", "snakes"),
}
SIZE = (8.4, 3.5)
SHORT = {"logistic regression": "logistic", "thresholds": "thresh.", "probabilities": "prob."}
FRONT = {"addresses": "Addresses", "forest": "Rows", "horses": "Photographs"}


# ---- quality against time --------------------------------------------------------------------


def seconds_of(result):
    """Return the seconds of training, and of the choice of settings."""
    return result["seconds"] + result["search_seconds"]


def finished(results, subject):
    """Return the results of a subject that have scores."""
    return [r for r in results if r["subject"] == subject and "scores" in r]


def stopped(results, subject):
    """Return the names of ways that took too long."""
    return [r["way"] for r in results if r["subject"] == subject and "stopped_after" in r]


def panel(axis, points, ylabel, late=(), larger=True):
    """Draw points (way, package, seconds, quality): hollow where settings were chosen."""
    axis.set_xscale("log")
    where = {way: (x, y) for way, _, x, y in points}
    for way, package, x, y in points:
        colour, marker = COLOURS[package]
        tuned = way.endswith(", tuned")
        start = where.get(way.removesuffix(", tuned"))
        if tuned and start is not None:
            axis.plot(*zip(start, (x, y), strict=True), color=colour, lw=0.8, zorder=2)
        axis.plot(
            x,
            y,
            marker,
            color=colour,
            markerfacecolor="white" if tuned else colour,
            ms=9 if package in ("sskit", "xgboost") else 6.5,
            zorder=4 if package == "sskit" else 3,
        )
    axis.margins(x=0.17, y=0.13)
    plain_numbers(axis.xaxis)
    axis.set_xlabel("processor seconds of training")
    axis.set_ylabel(ylabel)
    # of scores that differ by less than a thousandth, an axis from .9988 to .9990 would make much
    low, high = axis.get_ylim()
    if larger and high - low < 0.01:
        axis.set_ylim(low - 0.01, high + 0.002)
    if not larger:
        axis.invert_yaxis()
    if late:
        axis.annotate(
            "stopped: " + ", ".join(late), (0.99, 0.01), xycoords="axes fraction", ha="right",
            va="bottom", fontsize=7, color="#555555",
        )  # fmt: skip
    axis.points = points


def plain_numbers(axis):
    """Write the numbers of a logarithmic axis in full, more of them on a short one."""
    first, last = np.sort(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if last / first < 60 else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
    axis.set_minor_formatter(NullFormatter())


def label_all(figure, *axes):
    """Name the points of panels, once their places are known."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in axes:
        label(axis, axis.points, figure)
    return figure


def label(axis, points, figure):
    """Write the name of each way where it covers nothing."""
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axis.texts]
    taken = [axis.transData.transform((x, y)) for _, _, x, y in points]
    for line in axis.lines:  # from what is not tuned to what is
        ends = axis.transData.transform(line.get_xydata())
        if len(ends) == 2:
            taken += [*np.linspace(*ends, 40)]
    unit, frame = figure.dpi / 72, axis.get_window_extent(renderer)
    # names of this package first, then from the crowd's edge inwards
    order = sorted(points, key=lambda p: (p[1] != "sskit", p[2]))
    names = {way for way, *_ in points}
    for way, package, x, y in order:
        if way.endswith(", tuned") and way.removesuffix(", tuned") in names:
            continue
        name = way
        for long, short in SHORT.items():
            name = name.replace(long, short)
        best = None
        for step in (6, 9, 13, 18, 25, 33, 42):
            for dx, dy in _AROUND:
                text = axis.annotate(
                    name, (x, y), (dx * step, dy * step), textcoords="offset points", fontsize=8,
                    color=COLOURS[package][0], ha=_SIDE[int(np.sign(round(dx, 1)))], va="center",
                    fontweight="bold" if package == "sskit" else "normal",
                    arrowprops=None if step < 18 else {
                        "arrowstyle": "-", "lw": 0.5, "color": COLOURS[package][0], "shrinkB": 3,
                        "shrinkA": 0,
                    },
                )  # fmt: skip
                text.update_positions(renderer)
                box = Text.get_window_extent(text, renderer).padded(unit)
                clear = not any(box.overlaps(other) for other in boxes)
                clear &= not any(box.padded(3.5 * unit).contains(*place) for place in taken)
                inside = frame.padded(-2 * unit)
                clear &= inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1)
                if clear:
                    best = box
                    break
                text.remove()
            if best is not None:
                boxes.append(best)
                break
        else:
            print(f"no room for the name of {way}")


_SIDE = {-1: "right", 0: "center", 1: "left"}
_AROUND = [(1, 0), (-1, 0), (0, 1.3), (0, -1.3), (1, 0.8), (1, -0.8), (-1, 0.8), (-1, -0.8)]


def quality_points(results, subject, measure=None):
    """Return points for a panel, and the name of the measure."""
    found = finished(results, subject)
    measure = measure or next(iter(found[0]["scores"]))
    return [
        (r["way"], r["package"], seconds_of(r), r["scores"][measure])
        for r in found
        if not r["way"].endswith("probabilities")  # the same labels, by a way that takes longer
    ], measure


def source(results, subject):
    """Return what the data of a subject are, in lines for a title."""
    text = finished(results, subject)[0]["source"]
    first, _, rest = text.partition(", ")
    return f"{first}\n{rest}" if rest else text


def draw_quality(results, name):
    """Return a figure of quality against time."""
    subjects = [s for s in FIGURES[name] if finished(results, s)]
    if not subjects:
        return None
    figure, axes = plt.subplots(1, len(subjects), figsize=SIZE, layout="constrained", squeeze=False)
    for k, (axis, subject) in enumerate(zip(axes[0], subjects, strict=True)):
        measures = list(finished(results, subject)[0]["scores"])
        repeated = subjects[:k].count(subject)
        measure = measures[min(repeated, len(measures) - 1)]
        axis.set_title(source(results, subject))
        points, measure = quality_points(results, subject, measure)
        panel(axis, points, measure, stopped(results, subject))
    return label_all(figure, *axes[0])


def draw_probabilities(results):
    """Return a figure of log-loss against time."""
    subjects = [
        s
        for s in ("chunks", "tags", "addresses")
        if any("log_loss" in r for r in finished(results, s))
    ]
    if not subjects:
        return None
    size = (1.35 * SIZE[0], SIZE[1])
    figure, axes = plt.subplots(1, len(subjects), figsize=size, layout="constrained", squeeze=False)
    for axis, subject in zip(axes[0], subjects, strict=True):
        points = [
            (r["way"].replace("sskit, probabilities", "sskit, folds"), r["package"], seconds_of(r),
             r["log_loss"])
            for r in finished(results, subject)
            if "log_loss" in r
        ]  # fmt: skip
        axis.set_title(source(results, subject))
        panel(axis, points, "log-loss of a token, less is better", (), larger=False)
    return label_all(figure, *axes[0])


# ---- latency and growth ----------------------------------------------------------------------


def draw_latency(results):
    """Return a figure of the time of one request."""
    titles = {
        "addresses": "one address, from dicts",
        "chunks": "one sentence, from dicts",
        "digits": "one row of 256 numbers",
    }
    subjects = [s for s in titles if any("microseconds" in r for r in finished(results, s))]
    if not subjects:
        return None
    size = (1.35 * SIZE[0], 3.2)
    figure, axes = plt.subplots(1, len(subjects), figsize=size, layout="constrained", squeeze=False)
    for axis, subject in zip(axes[0], subjects, strict=True):
        rows = [
            r
            for r in finished(results, subject)
            if "microseconds" in r and not r["way"].endswith("tuned")
        ]
        rows.sort(key=lambda r: -r["microseconds"])
        values = [r["microseconds"] for r in rows]
        colours = [COLOURS[r["package"]][0] for r in rows]
        bars = axis.barh([r["way"] for r in rows], values, color=colours, height=0.65)
        axis.bar_label(bars, [f"{v:,.0f}" for v in values], padding=3, fontsize=8)
        axis.set(xscale="log", xlabel="microseconds", title=titles[subject])
        axis.set_xlim(min(values) / 2, max(values) * 4)
        axis.grid(False, axis="y")
        plain_numbers(axis.xaxis)
        axis.tick_params(axis="y", length=0)
    return figure


def draw_growth(results):
    """Return a figure of how time grows."""
    subjects = list(dict.fromkeys(r["subject"] for r in results if "points" in r))
    if not subjects:
        return None
    n_rows = -(-len(subjects) // 3)
    size = (1.25 * SIZE[0], 3.0 * n_rows + 0.3)
    figure, axes = plt.subplots(n_rows, 3, figsize=size, layout="constrained", squeeze=False)
    axes = axes.ravel()
    for axis in axes[len(subjects) :]:
        axis.axis("off")
    for axis, subject in zip(axes, subjects, strict=False):
        rows = [r for r in results if r["subject"] == subject and "points" in r]
        wall = subject in ("growth_cores", "growth_machines")
        for r in rows:
            colour, marker = COLOURS[r["package"]]
            x, y = np.array(r["points"]).T
            dashed = "--" if r["way"].endswith(("ap", "likelihood")) else "-"
            axis.plot(x, y, dashed, marker=marker, color=colour, ms=6, label=r["way"])
        if wall:
            axis.set_xticks([1, 2])
            axis.set_xlim(0.7, 2.3)
            axis.set_ylim(0)
        else:
            axis.set_xscale("log")
            axis.set_yscale("log")
            ticks = sorted({x for r in rows for x, _ in r["points"]})
            axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
            axis.minorticks_off()
            plain_numbers(axis.yaxis)
        axis.set_xlabel(rows[0]["title"])
        axis.set_ylabel("seconds (wall clock)" if wall else "processor seconds")
    handles = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6)
    return figure


# ---- the first page --------------------------------------------------------------------------


def draw_front(results):
    """Return the figure of the first page: quality against time, and predictions."""
    subjects = [s for s in FRONT if finished(results, s)]
    figure = plt.figure(figsize=(10.4, 6.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.2, 1))
    axes = top.subplots(1, len(subjects), squeeze=False)[0]
    for axis, subject in zip(axes, subjects, strict=True):
        points, measure = quality_points(results, subject)
        axis.set_title(f"{FRONT[subject]}: {source(results, subject).splitlines()[0]}")
        # the panels of the page have all ways
        points = [p for p in points if p[1] != "torch CRF" and p[0] != "sskit, DictVectorizer"]
        panel(axis, points, measure)
    strip = bottom.subplots(1, 4, width_ratios=(1.5, 1, 1, 0.85))
    for axis in strip:
        axis.axis("off")
    write_address(strip[0], results)
    show_image(*strip[1:3])
    show_pose(strip[3])
    return label_all(figure, *axes)


GROUPS = {
    "AddressNumber": "#0072B2",
    "Street": "#009E73",
    "Occupancy": "#B8860B",
    "Place": "#882255",
    "State": "#882255",
    "Zip": "#882255",
}


def write_address(axis, results):
    """Write the predicted parts of an address."""
    found = [r["example"] for r in finished(results, "addresses") if "example" in r]
    axis.set_title("the parts of an address")
    if not found:
        return
    tokens = EXAMPLE.split()
    for k, (token, part) in enumerate(zip(tokens, found[0], strict=True)):
        y = 1 - (k + 0.5) / len(tokens)
        axis.text(0.33, y, token, ha="right", va="center", transform=axis.transAxes)
        colour = next((c for start, c in GROUPS.items() if part.startswith(start)), "#555555")
        text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", part).lower()
        axis.text(0.38, y, text, color=colour, va="center", transform=axis.transAxes)


def show_image(left, right):
    """Show an image and the labels of its pixels."""
    from matplotlib.colors import ListedColormap
    from sklearn.pipeline import make_pipeline

    from sskit import SegmentationModel
    from sskit.datasets import make_segmentation_images
    from sskit.preprocessing import SuperpixelGraphs

    X, y = make_segmentation_images(30, random_state=0)
    superpixels = SuperpixelGraphs(n_segments=200, n_color_words=32, n_texture_words=32)
    model = make_pipeline(
        superpixels.set_params(random_state=0), SegmentationModel(random_state=0)
    ).fit(X[:24], y[:24])
    # the one of the others that has most kinds of land
    k = max(range(24, 30), key=lambda i: np.bincount(y[i].ravel(), minlength=4).min())
    left.imshow(X[k], interpolation="nearest")
    left.set_title("an image")
    colours = ListedColormap(["#0072B2", "#009E73", "#F0E442", "#CC79A7"])
    right.imshow(
        model.predict(X[k : k + 1])[0], cmap=colours, vmin=0, vmax=3, interpolation="nearest"
    )
    right.set_title("its regions")


def show_pose(axis):
    """Show the predicted joints of a stick figure on its score maps."""
    from sskit import PartsModel
    from sskit.datasets import make_poses

    poses = make_poses(120, random_state=0)
    model = PartsModel(poses.parents, torso=poses.torso, tol=0.05, random_state=0)
    model.fit(poses.data[:80], poses.target[:80])
    # the widest of the others: limbs that cross cannot be told apart in a small picture
    k = max(range(80, 120), key=lambda i: np.ptp(poses.target[i][:, 0]))
    found = np.asarray(model.predict(poses.data[k : k + 1])[0])
    axis.imshow(poses.data[k].max(axis=0), cmap="gray", interpolation="nearest")
    for k, parent in enumerate(poses.parents):
        if parent >= 0:
            axis.plot(*found[[k, parent]].T, color=COLOURS["sskit"][0], lw=2)
    axis.plot(*found.T, "o", color=COLOURS["sskit"][0], ms=4)
    axis.set_title("a pose")


# ---- tables ----------------------------------------------------------------------------------


def table(header, rows):
    """Return a list-table."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [header, *rows]:
        for k, cell in enumerate(row):
            lines.append(f"   {'*' if k == 0 else ' '} - {cell}")
    return "\n".join(lines)


def number(x, digits=3):
    """Return a number of some digits, as it is written in tables."""
    if x is None:
        return ""
    return f"{x:.{max(0, digits - 1 - int(np.floor(np.log10(abs(x) or 1))))}f}"


def settings_of(result):
    """Return what was chosen for a tuned way."""
    chosen = ", ".join(f"{k} {result['settings'][k]}" for k in result.get("grid", {}))
    return chosen.replace("factor ", "lam times ").replace("gamma_lam times", "gamma times")


def write_tables(results):
    """Return the tables of all subjects."""
    parts = []
    for subject in dict.fromkeys(r["subject"] for r in results if "scores" in r):
        rows = finished(results, subject)
        measures = list(rows[0]["scores"])
        more = [name for name in ("log_loss", "microseconds") if any(name in r for r in rows)]
        header = [
            "method",
            "seconds",
            *measures,
            *(name.replace("_", "-") for name in more),
            "chosen",
        ]
        lines = [
            [
                r["way"],
                number(seconds_of(r)),
                *(f"{r['scores'][m]:.4f}" for m in measures),
                *(number(r.get(name), 4 if name == "log_loss" else 3) for name in more),
                settings_of(r),
            ]
            for r in rows
        ]
        for r in results:
            if r["subject"] == subject and "stopped_after" in r:
                after = f"more than {r['stopped_after']:.0f}"
                lines.append([r["way"], after, *[""] * (len(header) - 2)])
        text = f"**{rows[0]['title']}**: {rows[0]['source']}."
        parts.append(text + "\n\n" + table(header, lines))
    growth = [
        [r["title"], r["way"], ", ".join(f"{number(s, 2)} ({x:g})" for x, s in r["points"])]
        for r in results
        if "points" in r
    ]
    if growth:
        parts.append("**Growth**: seconds (size).\n\n" + table(["of", "method", "seconds"], growth))
    return "\n\n".join(parts) + "\n"


MORE = (("log_loss", "log-loss", 3), ("microseconds", "microseconds of one request", 2))


def write_ahead(results):
    """Return the lists of what is better than every way of this package, or faster and no better.

    What is both less good and slower than some way of this package is in neither.
    """
    better, faster = [], []
    for subject in dict.fromkeys(r["subject"] for r in results if "scores" in r):
        rows = [r for r in finished(results, subject) if not r["way"].endswith("probabilities")]
        measure = next(iter(rows[0]["scores"]))
        own = [r for r in rows if r["package"] == "sskit"]
        points = {r["way"]: (r["scores"][measure], seconds_of(r)) for r in rows}

        def told(r, points=points):
            score, seconds = points[r["way"]]
            return f"{r['way']} {score:.4f} in {number(seconds, 2)} s"

        def order(r, points=points):
            score, seconds = points[r["way"]]
            return score, -seconds

        best = max(own, key=order)
        for r in rows:
            score, seconds = points[r["way"]]
            found = (subject, rows[0]["title"], measure, told(r), told(best))
            if r["package"] == "sskit":
                continue
            if score > points[best["way"]][0]:
                better.append(found)
            elif seconds < min(points[o["way"]][1] for o in own if points[o["way"]][0] >= score):
                faster.append(found)
    for name, words, digits in MORE:
        for subject in dict.fromkeys(r["subject"] for r in results if name in r):
            rows = [r for r in finished(results, subject) if name in r]
            own = [r for r in rows if r["package"] == "sskit"]
            if not own:
                continue
            best = min(own, key=lambda r, name=name: r[name])
            cells = {r["way"]: f"{r['way']} {number(r[name], digits)}" for r in [*rows]}
            for r in rows:
                if r["package"] != "sskit" and r[name] < best[name]:
                    title = f"{rows[0]['title']}, {words}"
                    better.append((title, rows[0]["title"], words, cells[r["way"]],
                                   cells[best["way"]]))  # fmt: skip
    for subject in ("growth_n", "growth_T", "growth_K"):
        rows, own = [r for r in results if r["subject"] == subject], {}
        for size, seconds in (p for r in rows if r["package"] == "sskit" for p in r["points"]):
            own[size] = min(seconds, own.get(size, np.inf))
        for r in rows:
            if r["package"] == "sskit":
                continue
            last = max((x for x, _ in r["points"] if x in own), default=None)
            if last is not None and dict(r["points"])[last] < own[last]:
                title = f"{last:,g} {r['title']}"
                seconds = dict(r["points"])[last]
                told = f"{r['way']} {number(seconds, 2)} s", f"sskit {number(own[last], 2)} s"
                faster.append((title, title, "time alone", *told))
    parts = []
    titles = "Better than every method of sskit:", "Faster, and no better than sskit:"
    for title, found in zip(titles, (better, faster), strict=True):
        lines = []
        for subject in dict.fromkeys(line[0] for line in found):
            some = [line for line in found if line[0] == subject]
            _, name, measure, _, best = some[0]
            ways = "; ".join(line[3] for line in some)
            lines.append(f"- {name}, {measure}: {ways} ({best}).")
        parts.append("\n".join([title, "", *(lines or ["- none"])]))
    return "\n\n".join(parts) + "\n"


def write_versions(found):
    """Return paragraphs on the machine, the day and the versions, and on what was not measured."""
    there = {(r["subject"], r["way"]) for r in found["results"]}
    missing = {
        subject: [way for way in known.ways if (subject, way) not in there]
        for subject, known in SUBJECTS.items()
    }
    lines = [f"- {name}: {'; '.join(ways)}" for name, ways in missing.items() if ways]
    more = "\nNot measured, though the script can:\n\n" + "\n".join(lines) + "\n" if lines else ""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"Measured on {found['machine']}, {found['date']}, with {versions}.\n{more}"


def main(arguments=None):
    """Draw all figures and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("peers.json"))
    parser.add_argument("--out", type=Path, default=DOC, help="the folder of the documentation")
    parser.add_argument("--kind", default="svg", help="of the files of figures")
    parser.add_argument("--without-front", action="store_true")
    options = parser.parse_args(arguments)
    found = json.loads(options.results.read_text())
    results = found["results"]
    pictures, pages = options.out / "_static" / "benchmarks", options.out / "reference"
    pictures.mkdir(parents=True, exist_ok=True)
    pages.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        figures = {name: draw_quality(results, name) for name in FIGURES}
        figures["probabilities"] = draw_probabilities(results)
        figures["latency"] = draw_latency(results)
        figures["growth"] = draw_growth(results)
        for name, figure in figures.items():
            if figure is not None:
                dated = {"Date": None} if options.kind == "svg" else {}
                figure.savefig(pictures / f"{name}.{options.kind}", metadata=dated)
                plt.close(figure)
        if not options.without_front:
            figure = draw_front(results)
            small = {"optimize": True, "compress_level": 9}
            figure.savefig(options.out / "_static" / "front.png", dpi=130, pil_kwargs=small)
    (pages / "benchmarks_peers_tables.inc").write_text(write_tables(results))
    (pages / "benchmarks_peers_versions.inc").write_text(write_versions(found))
    (pages / "benchmarks_peers_ahead.inc").write_text(write_ahead(results))


if __name__ == "__main__":
    main()
