#!/usr/bin/env python3
"""Draws which method is first on which network. Needs numpy.

usage: map.py COSTS.csv CLOCK.csv [FOLDER]

Both files are of `grapevine compare SWEEP --csv`. COSTS.csv has the runs to a target, on any network: an axis `method`,
and one map for each combination of the other axes. CLOCK.csv has a run of each method on each network of a grid: axes
`method`, `network.latency` and `network.bandwidth`. The network does not change what a synchronous method computes, so
its seconds to the target on a network are its rounds to the target times the seconds of a round there.

Rewrites the text between `<!-- map -->` and `<!-- end of map -->` in FOLDER/README.md, and draws FOLDER/map.svg. FOLDER
is this script's by default.
"""
import csv
import html
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from fleets import write_parts  # noqa: E402

CLOSE = 1.05  # two methods within this ratio are close
UNITS = {"ms": 1e-3, "s": 1, "us": 1e-6, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}
AXES = ("network.latency", "network.bandwidth")
CELL_WIDTH, CELL_HEIGHT, LEFT, TOP, LEGEND, BELOW = 42, 27, 70, 34, 20, 62
COLOURS = ("#2a58d0", "#b44825", "#1ba375", "#682c82", "#b38200", "#e053bb", "#244313", "#78696f")
STYLE = """<style>
:root { color-scheme: light dark; }
text { fill: #1a1a18; font: 12px system-ui, "DejaVu Sans", sans-serif; } .soft { fill: #62615b; }
.letter { font-weight: 650; } .panel { font-size: 14px; font-weight: 600; } .card { fill: #ffffff; }
@media screen and (prefers-color-scheme: dark) {
  text { fill: #f2f1ed; } .soft { fill: #b3b1a8; } .card { fill: #222220; } }
</style>"""


def number(text):
    """"0.5 ms" in seconds, "200 Mbit" in bit/s."""
    value, unit = text.split()
    return float(value) * UNITS[unit]


def bandwidth_text(bits):
    return f"{bits / 1e6:.3g} Mbit" if bits < 999.5e6 else f"{bits / 1e9:.3g} Gbit"


def seconds_text(s):
    if s >= 90:
        return f"{int(s + 0.5) // 60} min {int(s + 0.5) % 60} s"
    return f"{s:.3g} s" if s >= 1 else f"{s * 1e3:.3g} ms"


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def rounds_of(rows):
    """{section: {method: rounds}}: geometric means over the seeds; a method that misses the target once is left out."""
    columns = list(rows[0])
    by = [c for c in columns[:columns.index("seed")] if c != "method" and c not in AXES]
    found = {}
    for row in rows:
        section = ", ".join(f"{c} {row[c]}" for c in by)
        found.setdefault(section, {}).setdefault(row["method"], []).append(row)
    return {section: {m: float(np.exp(np.mean([np.log(float(r["rounds"])) for r in runs])))
                      for m, runs in sorted(methods.items()) if all(r["reached"] == "true" for r in runs)}
            for section, methods in found.items()}


def clock_of(rows):
    """Latencies, bandwidths, and {method: seconds of a round}, an array of latencies x bandwidths."""
    latencies, bandwidths = (sorted({row[axis] for row in rows}, key=number) for axis in AXES)
    clock = {}
    for row in rows:
        seconds = clock.setdefault(row["method"], np.full((len(latencies), len(bandwidths)), np.nan))
        at = latencies.index(row[AXES[0]]), bandwidths.index(row[AXES[1]])
        seconds[at] = float(row["seconds"]) / float(row["rounds"])
    return latencies, bandwidths, clock


class Map:
    """The first method on each network. seconds: methods x latencies x bandwidths."""

    def __init__(self, name, rounds, clock):
        latencies, self.bandwidths, of_round = clock
        self.name, self.latencies = name, latencies
        self.methods = [m for m in rounds if m in of_round]
        self.rounds = [rounds[m] for m in self.methods]
        self.seconds = np.array([rounds[m] * of_round[m] for m in self.methods])
        self.order = np.argsort(self.seconds, axis=0, kind="stable")
        self.letters = []
        for method in self.methods:
            self.letters.append(next(c for c in (method + "ABCDEFGHIJKLMNOPQRSTUVWXYZ").upper()
                                     if "A" <= c <= "Z" and c not in self.letters))

    def close(self, i, k):
        """The second method, if it takes at most 5 % longer than the first."""
        first, second = self.order[:2, i, k] if len(self.methods) > 1 else (0, 0)
        is_close = first != second and self.seconds[second, i, k] <= CLOSE * self.seconds[first, i, k]
        return second if is_close else None

    def letters_at(self, i, k):
        second = self.close(i, k)
        return self.letters[self.order[0, i, k]] + ("" if second is None else "=" + self.letters[second])

    def changes(self, i):
        """[(bit/s, method)]: which method is first from which bandwidth on, at a latency.

        Between two networks of the grid a round's seconds are taken as linear in 1 / bandwidth.
        """
        inverse = 1 / np.array([number(b) for b in self.bandwidths])
        points = np.concatenate([np.linspace(a, b, 1000) for a, b in zip(inverse, inverse[1:])])
        lines = [np.interp(-points, -inverse, s[i]) for s in self.seconds]
        first = np.argmin(lines, axis=0)
        at = np.flatnonzero(np.diff(first)) + 1
        return [(1 / points[0], first[0])] + [(1 / points[p], first[p]) for p in at]

    def markdown(self):
        text = f"{self.name}:\n\n" if self.name else ""
        text += "".join(f"- **{letter}** {method}: {rounds:.0f} rounds\n"
                        for letter, method, rounds in zip(self.letters, self.methods, self.rounds))
        text += f"\n| latency | {' | '.join(self.bandwidths)} |\n{'|---' * (len(self.bandwidths) + 1)}|\n"
        for i, latency in enumerate(self.latencies):
            cells = [self.letters_at(i, k) for k in range(len(self.bandwidths))]
            text += f"| {latency} | {' | '.join(cells)} |\n"
        text += "\n`=`: the other takes at most 5 % longer.\n\n"
        for i, latency in enumerate(self.latencies):
            (_, begin), *later = self.changes(i)
            if later:
                words = "".join(f", {self.letters[m]} from {bandwidth_text(b)} on" for b, m in later)
                text += f"- {latency}: {self.letters[begin]}{words}\n"
        return text

    def width(self):
        return LEFT + CELL_WIDTH * len(self.bandwidths) + 12

    def height(self):
        return TOP + CELL_HEIGHT * len(self.latencies) + BELOW + LEGEND * len(self.methods)

    def cell(self, i, k):
        x, y = LEFT + CELL_WIDTH * k, TOP + CELL_HEIGHT * i
        first, close = self.order[0, i, k], self.close(i, k)
        about = "\n".join([f"{self.latencies[i]}, {self.bandwidths[k]}"] +
                          [f"{m}: {seconds_text(s)}" for m, s in zip(self.methods, self.seconds[:, i, k])])
        return (f'<g><title>{html.escape(about)}</title><rect x="{x + .5}" y="{y + .5}" width="{CELL_WIDTH - 1}" '
                f'height="{CELL_HEIGHT - 1}" fill="{COLOURS[first % len(COLOURS)]}" '
                f'fill-opacity="{.3 if close is None else .13}"/><text x="{x + CELL_WIDTH / 2}" '
                f'y="{y + CELL_HEIGHT / 2 + 4.5}" text-anchor="middle" class="letter">'
                f'{self.letters_at(i, k)}</text></g>')

    def picture(self, x):
        below = TOP + CELL_HEIGHT * len(self.latencies)
        out = [f'<g transform="translate({x} 0)"><text x="{LEFT}" y="22" class="panel">{html.escape(self.name)}</text>']
        for i, latency in enumerate(self.latencies):
            out.append(f'<text x="{LEFT - 8}" y="{TOP + CELL_HEIGHT * (i + .5) + 4}" text-anchor="end" class="soft">'
                       f'{latency}</text>')
            out += [self.cell(i, k) for k in range(len(self.bandwidths))]
        for k, bandwidth in enumerate(self.bandwidths):
            for line, word in enumerate(bandwidth.split()):
                out.append(f'<text x="{LEFT + CELL_WIDTH * (k + .5)}" y="{below + 15 + 14 * line}" '
                           f'text-anchor="middle" class="soft">{word}</text>')
        out.append(f'<text x="{LEFT + CELL_WIDTH * len(self.bandwidths) / 2}" y="{below + 45}" text-anchor="middle" '
                   'class="soft">bandwidth, bit/s; latency beside it, one way</text>')
        for m, (method, rounds) in enumerate(zip(self.methods, self.rounds)):
            y = below + BELOW + LEGEND * m
            out.append(f'<rect x="{LEFT}" y="{y - 12}" width="18" height="15" fill="{COLOURS[m % len(COLOURS)]}" '
                       f'fill-opacity=".3"/><text x="{LEFT + 9}" y="{y}" text-anchor="middle" class="letter">'
                       f'{self.letters[m]}</text><text x="{LEFT + 26}" y="{y}">{html.escape(method)}  '
                       f'({rounds:.0f} rounds)</text>')
        return "\n".join(out + ["</g>"])


def picture_of(maps):
    width, height = sum(m.width() for m in maps), max(m.height() for m in maps)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'role="img" aria-label="which method is first on which network">', STYLE,
           f'<rect class="card" width="{width}" height="{height}"/>']
    for k, m in enumerate(maps):
        out.append(m.picture(sum(other.width() for other in maps[:k])))
    return "\n".join(out + ["</svg>"]) + "\n"


def draw(costs, clock, folder):
    rows = clock_of(rows_of(clock))
    maps = [Map(name, rounds, rows) for name, rounds in sorted(rounds_of(rows_of(costs)).items())]
    write_parts(os.path.join(folder, "README.md"), {"map": "\n".join(m.markdown() for m in maps)})
    with open(os.path.join(folder, "map.svg"), "w") as f:
        f.write(picture_of(maps))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    draw(*sys.argv[1:3], sys.argv[3] if len(sys.argv) == 4 else os.path.dirname(os.path.abspath(__file__)))
