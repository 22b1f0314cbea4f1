"""Curves over virtual seconds as an SVG picture: panels one below the other, a curve for each fleet.

A script in a folder beside this file finds it as it finds fleets.py.
"""
import math

# A page with dark colours has a dark picture.
STYLE = """<style>
:root { color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  svg > rect[fill="white"] { fill: #191918; } text:not([fill]) { fill: #f2f1ed; }
  [stroke="#ccc"] { stroke: #43423e; } [fill="#222222"] { fill: #e4e3de; } [stroke="#222222"] { stroke: #e4e3de; }
  [fill="#2563a8"] { fill: #5b94d6; } [stroke="#2563a8"] { stroke: #5b94d6; }
  [fill="#7b3fa0"] { fill: #a874c9; } [stroke="#7b3fa0"] { stroke: #a874c9; }
  [fill="#0b7285"] { fill: #2ba3b8; } [stroke="#0b7285"] { stroke: #2ba3b8; }
  [fill="#a63603"] { fill: #b5491a; } [stroke="#a63603"] { stroke: #b5491a; }
}
</style>"""

WIDE, TALL, LEFT, TOP, GAP = 460, 260, 60, 40, 70  # of a panel, and where it is
COLOURS = ["#222222", "#2563a8", "#4fa3d9", "#7b3fa0", "#2e8540", "#8bc34a", "#dd6b20", "#a63603", "#f4c27a", "#999999", "#0b7285"]


class Panel:
    """What one panel shows. curves: by name, pairs of seconds (above 0) and value; colours: by name.

    least, most: the ends of the axis of values; mark: a value that has a line of its own.
    """

    def __init__(self, title, curves, least, most, mark=None, colours=None):
        self.title, self.curves, self.least, self.most, self.mark = title, curves, least, most, mark
        self.colours = colours or dict(zip(curves, COLOURS))


def ticks(low, high):
    """1, 2 and 5 times the powers of ten between two numbers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10 ** p for p in powers for m in (1, 2, 5) if low <= m * 10 ** p <= high]


def drawn(y0, panel):
    seconds = [s for curve in panel.curves.values() for s, _ in curve]
    low, high = min(seconds), max(seconds)

    def x(s):
        return LEFT + WIDE * math.log(s / low) / max(math.log(high / low), 1e-9)

    def y(value):
        return y0 + TALL * (panel.most - value) / (panel.most - panel.least)

    def at_left(value):
        return f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
    out = [f'<text x="{LEFT}" y="{y0 - 12}" font-weight="bold">{panel.title}</text>',
           f'<rect x="{LEFT}" y="{y0}" width="{WIDE}" height="{TALL}" fill="none" stroke="#888"/>',
           at_left(panel.least), at_left(panel.most if panel.mark is None else panel.mark),
           f'<text x="{LEFT + WIDE / 2}" y="{y0 + TALL + 32}" text-anchor="middle">virtual seconds</text>']
    if panel.mark is not None:
        out.append(f'<line x1="{LEFT}" y1="{y(panel.mark):.1f}" x2="{LEFT + WIDE}" y2="{y(panel.mark):.1f}" stroke="#ccc"/>')
    for tick in ticks(low, high):
        out.append(f'<text x="{x(tick):.1f}" y="{y0 + TALL + 16}" text-anchor="middle">{tick:g}</text>')
    for k, (name, curve) in enumerate(panel.curves.items()):
        path = " ".join(f"{x(s):.1f},{y(min(value, panel.most)):.1f}" for s, value in curve)
        out.append(f'<polyline points="{path}" fill="none" stroke="{panel.colours[name]}" stroke-width="1.6"/>')
        out.append(f'<text x="{LEFT + WIDE + 12}" y="{y0 + 12 + 18 * k}" fill="{panel.colours[name]}">{name}</text>')
    return out


def picture(panels):
    """The text of an SVG file."""
    names = max(len(name) for panel in panels for name in panel.curves)
    size = f'width="{LEFT + WIDE + 24 + 7 * names}" height="{TOP + (TALL + GAP) * len(panels)}"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
           STYLE, f'<rect {size} fill="white"/>']
    for row, panel in enumerate(panels):
        out += drawn(TOP + (TALL + GAP) * row, panel)
    return "\n".join(out + ["</svg>"]) + "\n"
