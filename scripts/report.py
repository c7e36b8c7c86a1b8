#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Lanewise authors
"""Turns results of lanewise-bench (bench/report/result_schema.md) into one self-contained HTML page.

    scripts/report.py compare.json [links.json replay.json ...] -o report.html

Sections of several files are put together; the first file that has a section gives it.
Exit status 2 where a file cannot be used.
"""
import argparse
import html
import json
import sys

from report_figures import (choice_words, draw_latency, draw_links, draw_speedup, draw_step,
                            size_name)

SCHEMA_VERSION = 1
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #ddd}
img{width:100%}table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
th,td{padding:.2em .8em;text-align:right;border-bottom:1px solid #eee}
th{background:#f6f6f6}th:first-child,td:first-child,.text{text-align:left}
code{background:#f6f6f6;padding:.1em .3em;overflow-wrap:anywhere}
.warning{background:#fff3cd;border-left:4px solid #E69F00;padding:.5em 1em;margin:.5em 0}
.tiles{display:flex;gap:1em;flex-wrap:wrap}.tile{background:#f6f6f6;padding:.8em 1.2em}
.tile b{display:block;font-size:1.5em}.worse{color:#b00020;font-weight:600}
.better{color:#00694b;font-weight:600}
"""


def read_results(paths):
    """All sections of the files; the first file that has one gives it."""
    result = {}
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                part = json.load(file)
        except (OSError, ValueError) as error:
            sys.exit(fail(f"{path}: {error}"))
        if not isinstance(part, dict) or part.get("schema_version") != SCHEMA_VERSION:
            sys.exit(fail(f"{path}: expected a result with schema_version {SCHEMA_VERSION}"))
        for key, value in part.items():
            if key == "links" and isinstance(result.get(key), dict):
                result[key] = {**value, **result[key]}  # an older compare has the one-shot floor alone
            result.setdefault(key, value)
    return result


def fail(message):
    print(f"report.py: {message}", file=sys.stderr)
    return 2


def number(value, form):
    return format(value, form) if value is not None else "-"


def interval(arm, low, high, form):
    return f"{number(arm.get(low), form)} - {number(arm.get(high), form)}"


def size_table(sizes):
    rows = ["<table><tr><th>size<th class=text>arm<th>median us<th>95 %<th>stock / arm<th>95 %"
            "<th class=text>choice<th class=text>by<th>samples</tr>"]
    for size in sizes:
        for arm in size["arms"]:
            kind, channels = choice_words(arm.get("choice"))
            verdict = arm.get("verdict", "")
            mark = f' class="{verdict}"' if verdict in ("better", "worse") else ""
            note = f" <b class=worse>{html.escape(arm['fault'])}</b>" if arm.get("fault") else ""
            rows.append(
                f"<tr><td>{size_name(size['bytes'])}<td class=text>{html.escape(arm['name'])}{note}"
                f"<td>{number(arm.get('median_us'), '.1f')}"
                f"<td>{interval(arm, 'low_us', 'high_us', '.1f')}"
                f"<td{mark}>{number(arm.get('ratio'), '.3f')}"
                f"<td>{interval(arm, 'ratio_low', 'ratio_high', '.3f')}"
                f"<td class=text>{html.escape('/'.join(filter(None, (kind or '-', channels))))}"
                f"<td class=text>{html.escape(arm.get('source', ''))}"
                f"<td>{arm.get('samples', '-')}</tr>")
    return "".join(rows) + "</table>"


def environment_table(result):
    machine = result.get("environment", {})
    gpus = machine.get("gpus", [])
    counted = ", ".join(f"{gpus.count(name)} x {name}" for name in dict.fromkeys(gpus))
    variables = " ".join(f"{key}={value}" for key, value in machine.get("variables", {}).items())
    rows = [("command", result.get("command")), ("created", result.get("created")),
            ("GPUs", counted), ("ranks", machine.get("ranks")), ("NCCL", machine.get("nccl")),
            ("driver", machine.get("driver")), ("machine", machine.get("fingerprint")),
            ("NCCL's variables", variables or "none"), ("calls", result.get("mode"))]
    body = "".join(f"<tr><td>{name}<td class=text><code>{html.escape(str(value))}</code></tr>"
                   for name, value in rows if value is not None)
    warnings = "".join(f'<div class="warning">{html.escape(text)}</div>'
                       for text in machine.get("warnings", []))
    return f"<table>{body}</table>{warnings}"


def make_page(result):
    words = result.get("command", "").split()
    title = words[1] if len(words) > 1 else "results"
    parts = [f"<h1>Lanewise: {html.escape(title)}</h1>",
             environment_table(result)]
    means = result.get("geometric_mean") or {}
    if means:
        tiles = "".join(f'<div class="tile"><b>{number(value, ".2f")}x</b>{html.escape(name)}</div>'
                        for name, value in means.items())
        parts.append(f'<h2>Geometric mean over stock</h2><div class="tiles">{tiles}</div>')
    links = result.get("links") or {}
    sizes = sorted(result.get("sizes") or [], key=lambda size: size["bytes"])
    if sizes:
        parts += ["<h2>Latency</h2>", draw_latency(sizes, links.get("one_shot") or []),
                  "<h2>Speedup and choice</h2>", draw_speedup(sizes)]
    if result.get("step"):
        parts += ["<h2>Step of an engine</h2>", draw_step(result["step"])]
    if links.get("pairs"):
        parts += ["<h2>Links</h2>", draw_links(links)]
        parts += [f'<div class="warning">GPU {pair["from"]} to {pair["to"]}, {pair["method"]}: '
                  f'{html.escape(pair["error"])}</div>'
                  for pair in links["pairs"] if pair.get("error")]
    if sizes:
        parts += ["<h2>Every size</h2>", size_table(sizes)]
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Lanewise results</title>'
            f"<style>{STYLE}</style>{''.join(parts)}</html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+", help="what lanewise-bench wrote with --json")
    parser.add_argument("-o", "--output", required=True, help="the page to write")
    options = parser.parse_args()
    try:
        page = make_page(read_results(options.results))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        return fail(f"expected a result as bench/report/result_schema.md says: {error!r}")
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        return fail(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
