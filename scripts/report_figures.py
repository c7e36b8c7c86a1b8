# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""The pictures of report.py, each an <img> that carries its own data."""
import base64
import html
import io
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch, Rectangle
except ImportError:
    sys.exit("report.py: needs matplotlib (apt install python3-matplotlib)")

NEVER_WORSE = 0.98  # as never_worse_limit in src/core/include/core/statistics.hpp
MOST_NAMED_ARMS = 8  # more curves cannot be told apart: a sweep shows stock and its best alone
# Okabe and Ito: told apart also by those who do not see red and green apart.
COLOURS = ["#555555", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
CHOICE_COLOURS = {
    "tree/ll": "#0072B2", "tree/ll128": "#004d78", "tree/simple": "#56B4E9",
    "ring/ll": "#D55E00", "ring/ll128": "#8f3f00", "ring/simple": "#E69F00",
}
OTHER_CHOICE = "#999999"


def size_name(count):
    for unit, bytes_each in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= bytes_each and count % bytes_each == 0:
            return f"{count // bytes_each} {unit}"
    return f"{count:,} B"


def picture(figure, description):
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight")
    plt.close(figure)
    data = base64.b64encode(text.getvalue().encode()).decode()
    return f'<img alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}">'


def series(sizes):
    """{arm: {index of the size: its entry}} in the order of first appearance, timed arms alone."""
    arms = {}
    for index, size in enumerate(sizes):
        for arm in size["arms"]:
            if arm.get("median_us") is not None:
                arms.setdefault(arm["name"], {})[index] = arm
    return arms


def shown_arms(sizes):
    """The arms to draw: all, or of a sweep stock and the best of each size."""
    arms = series(sizes)
    if len(arms) <= MOST_NAMED_ARMS:
        return arms
    stock = next(iter(arms))
    best = {}
    for index in range(len(sizes)):
        entries = [arm[index] for name, arm in arms.items() if index in arm and name != stock]
        if entries:
            best[index] = min(entries, key=lambda entry: entry["median_us"])
    return {stock: arms[stock], "best of the sweep": best}


def colour_of(index):
    return COLOURS[index % len(COLOURS)]


def label_sizes(axes, sizes):
    axes.set_xticks(range(len(sizes)), [size_name(size["bytes"]) for size in sizes],
                    rotation=60 if len(sizes) > 8 else 0,
                    ha="right" if len(sizes) > 8 else "center")
    axes.set_xlim(-0.6, len(sizes) - 0.4)


def draw_latency(sizes, one_shot):
    figure, axes = plt.subplots(figsize=(11, 4.5))
    for number, (name, entries) in enumerate(shown_arms(sizes).items()):
        at = sorted(entries)
        axes.plot(at, [entries[i]["median_us"] for i in at], "o-", ms=4, lw=1.6,
                  color=colour_of(number), label=name)
        if all(entries[i].get("low_us") is not None for i in at):
            axes.fill_between(at, [entries[i]["low_us"] for i in at],
                              [entries[i]["high_us"] for i in at],
                              color=colour_of(number), alpha=0.18, lw=0)
    floor = {entry["bytes"]: entry["us"] for entry in one_shot}
    at = [i for i, size in enumerate(sizes) if floor.get(size["bytes"]) is not None]
    if at:
        axes.plot(at, [floor[sizes[i]["bytes"]] for i in at], "k:", marker="_", lw=1.4,
                  label="one-shot floor")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("time of a call, us")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, ncols=5, loc="lower left", bbox_to_anchor=(0, 1))
    label_sizes(axes, sizes)
    return picture(figure, "Latency over size for each arm")


def choice_words(choice):
    if not choice:
        return None, ""
    kind = f"{choice['algorithm']}/{choice['protocol']}"
    return kind, str(choice["channels"]) if choice.get("channels") else ""


def draw_band(axes, sizes, arms):
    kinds = {}
    for row, (name, entries) in enumerate(arms.items()):
        for index, entry in entries.items():
            kind, channels = choice_words(entry.get("choice"))
            colour = CHOICE_COLOURS.get(kind, OTHER_CHOICE) if kind else "#eeeeee"
            kinds[kind or "not known"] = colour
            axes.add_patch(Rectangle((index - 0.48, row + 0.06), 0.96, 0.88, color=colour, lw=0))
            axes.text(index, row + 0.5, channels, ha="center", va="center", color="white",
                      fontsize=8)
    axes.set_ylim(len(arms), 0)
    axes.set_yticks([row + 0.5 for row in range(len(arms))], list(arms))
    axes.tick_params(length=0)
    axes.set_frame_on(False)
    axes.legend(handles=[Patch(color=colour, label=kind) for kind, colour in kinds.items()],
                frameon=False, ncols=6, loc="upper center", fontsize=9,
                bbox_to_anchor=(0.5, -2.1 / max(len(arms), 1)),  # below the sizes' names
                title="algorithm/protocol; the number is the channels asked for")
    label_sizes(axes, sizes)


def reach_of(entry, direction):
    """How far the interval of the ratio reaches below (-1) or above (1) it."""
    end = entry.get("ratio_low" if direction < 0 else "ratio_high")
    return max(0, direction * (end - entry["ratio"])) if end is not None else 0


def draw_speedup(sizes):
    arms = shown_arms(sizes)
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(11, 4.5 + 0.4 * len(arms)), sharex=False,
        gridspec_kw={"height_ratios": [4, 0.4 * len(arms)], "hspace": 0.1})
    upper.axhline(1, color="#555555", lw=1)
    upper.axhline(NEVER_WORSE, color="#b00020", lw=0.8, ls="--")
    compared = list(arms.items())[1:]
    for number, (name, entries) in enumerate(compared, start=1):
        at = [i for i in sorted(entries) if entries[i].get("ratio") is not None]
        middle = [entries[i]["ratio"] for i in at]
        reach = [[reach_of(entries[i], -1) for i in at], [reach_of(entries[i], 1) for i in at]]
        shift = 0.12 * (number - (len(compared) + 1) / 2)
        upper.errorbar([i + shift for i in at], middle, yerr=reach, fmt="o-", ms=4, lw=1.4,
                       capsize=3, color=colour_of(number), label=name)
    upper.set_ylabel("stock / arm (above 1: faster)")
    upper.grid(alpha=0.3)
    upper.legend(frameon=False, ncols=5, loc="lower left", bbox_to_anchor=(0, 1))
    label_sizes(upper, sizes)
    upper.tick_params(labelbottom=False)
    draw_band(lower, sizes, arms)
    return picture(figure, "Speedup over stock for each arm, and the choice in force")


def draw_links(links):
    count = len(links.get("gpus", []))
    quantities = [("latency_us", "latency, us", "viridis_r"),
                  ("one_way_gbs", "one way, GB/s", "viridis")]
    methods = list(dict.fromkeys(pair["method"] for pair in links.get("pairs", [])))
    pictures = []
    for method in methods:
        figure, panels = plt.subplots(1, 2, figsize=(11, 1.8 + 0.42 * count))
        for axes, (key, title, colours) in zip(panels, quantities):
            cells = [[float("nan")] * count for _ in range(count)]
            for pair in links["pairs"]:
                if pair["method"] != method:
                    continue
                row, column = pair["from"], pair["to"]
                if pair.get("error"):
                    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False,
                                             hatch="xxx", edgecolor="#b00020", lw=0))
                elif pair.get(key) is not None:
                    cells[row][column] = pair[key]
            image = axes.imshow(cells, cmap=colours)
            for row in range(count):
                for column in range(count):
                    if cells[row][column] == cells[row][column]:
                        dark = sum(image.cmap(image.norm(cells[row][column]))[:3]) < 1.5
                        axes.text(column, row, f"{cells[row][column]:.3g}", ha="center",
                                  va="center", fontsize=8, color="white" if dark else "black")
            axes.set_title(f"{method}: {title}", fontsize=11)
            axes.set_xticks(range(count))
            axes.set_yticks(range(count))
            axes.set_xlabel("to GPU")
            axes.set_ylabel("from GPU")
            figure.colorbar(image, ax=axes, shrink=0.8)
        pictures.append(picture(figure, f"Link matrix, {method}"))
    return "".join(pictures)


def draw_step(step):
    figure, axes = plt.subplots(figsize=(11, 1.2 + 0.7 * len(step)))
    for row, entry in enumerate(step):
        for key, offset, alpha in (("graph", -0.18, 1.0), ("eager", 0.18, 0.45)):
            time = entry.get(f"{key}_us")
            if time is None:
                continue
            low, high = entry.get(f"{key}_low_us"), entry.get(f"{key}_high_us")
            reach = [[time - low], [high - time]] if low is not None and high is not None else None
            axes.barh(row + offset, time / 1000, 0.34, color=colour_of(row), alpha=alpha,
                      xerr=[[r / 1000 for r in part] for part in reach] if reach else None,
                      capsize=3)
            note = f" {key} {time / 1000:.2f} ms"
            if key == "graph" and entry.get("tokens_per_second"):
                note += f", {entry['tokens_per_second']:.0f} tokens/s"
            axes.text((high if reach else time) / 1000, row + offset, note, va="center", fontsize=9)
    axes.set_yticks(range(len(step)), [entry["arm"] for entry in step])
    axes.invert_yaxis()
    axes.set_xlabel("time of a step, ms")
    axes.set_xlim(0, axes.get_xlim()[1] * 1.25)
    axes.grid(alpha=0.3, axis="x")
    return picture(figure, "Time of an engine's step for each arm")
