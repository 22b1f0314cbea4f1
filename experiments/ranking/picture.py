#!/usr/bin/env python3
"""usage: picture.py quadratic.md softmax.md > ranking.svg (tables of ranking.py)"""
import os
import re
import sys

from ranking import ranks

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from curves import STYLE  # noqa: E402


def panel(x0, y0, title, points, label):
    """points: (x rank, y rank, name)."""
    size, out = 190, [f'<text x="{x0}" y="{y0 - 22}" font-weight="bold">{title}</text>']
    out.append(f'<rect x="{x0}" y="{y0}" width="{size}" height="{size}" fill="none" stroke="#888"/>')
    out.append(f'<line x1="{x0}" y1="{y0 + size}" x2="{x0 + size}" y2="{y0}" stroke="#ccc"/>')
    place = lambda rank: 14 + rank * (size - 28) / (len(points) - 1)
    for x, y, name in points:
        cx, cy = x0 + place(x), y0 + size - place(y)
        left = x > (len(points) - 1) / 2
        out.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4" fill="#2563a8"/>')
        out.append(f'<text x="{cx + (-7 if left else 7):.1f}" y="{cy + 4:.1f}" font-size="10" '
                   f'text-anchor="{"end" if left else "start"}">{name}</text>')
    out.append(f'<text x="{x0 + size / 2}" y="{y0 + size + 16}" text-anchor="middle">{label}</text>')
    out.append(f'<text x="{x0 - 8}" y="{y0 + size / 2}" text-anchor="middle" '
               f'transform="rotate(-90 {x0 - 8} {y0 + size / 2})">rank measured</text>')
    return out


def table_of(path):
    """Rows of (topology, gap, predicted, measured), and both correlations as ranking.py printed them."""
    with open(path) as f:
        text = f.read()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ") and "gap" not in line]
    found = re.search(r"prediction ([-\d.]+), gap ([-\d.]+)", text)
    return [(r[0], float(r[1]), float(r[2]), float(r[4])) for r in rows], found.groups()


def picture(paths):
    size = f'width="520" height="{20 + 275 * len(paths)}"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
           STYLE, f'<rect {size} fill="white"/>']
    for row, path in enumerate(paths):
        table, numbers = table_of(path)
        problem = os.path.splitext(os.path.basename(path))[0]
        measured = ranks([t[3] for t in table])
        for column, (what, values) in enumerate([("rank predicted", [t[2] for t in table]),
                                                 ("rank by spectral gap", [-t[1] for t in table])]):
            points = list(zip(ranks(values), measured, [t[0] for t in table]))
            title = f"{problem}: Spearman {numbers[column]}"
            out += panel(40 + 250 * column, 50 + 275 * row, title, points, what)
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    picture(sys.argv[1:])
