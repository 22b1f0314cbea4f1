"""Drawn scripts as peers, beside the same arithmetic in one process. GRAPEVINE_LIBRARY and _PROGRAM name what runs.

GRAPEVINE_DRAWN=300 draws so many; what they came to is printed then. A seed draws the same script everywhere:
`draw_script(seed)`, `draw_refused(seed)` and `draw_death(seed)`.
"""

import collections
import contextlib
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List

import torch

from drawn_deaths import complaints, draw_death
from drawn_fleets import EXACT, EXACTLY, Virtual
from drawn_refusals import PAGE, REFUSALS, Refused, draw_refused
from drawn_scripts import draw_script, sums_follow

GIVEN = os.environ.get("GRAPEVINE_DRAWN")
DRAWN = int(GIVEN or 20)
REFUSED = max(5, DRAWN // 5)
DEATHS = max(2, DRAWN // 7)


@contextlib.contextmanager
def quiet():
    """Keeps what peers say to themselves, through the library, off the terminal."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class DrawnTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)

    def show(self, what: str, rows: Dict[Any, Any]) -> None:
        if GIVEN:
            print(f"\n{what}:", *[f"{name} {row}" for name, row in sorted(rows.items())], sep="\n  ", file=sys.stderr)

    def test_peers_end_as_the_same_arithmetic_in_one_process(self):
        failures: List[str] = []
        worst: Dict[str, List[float]] = collections.defaultdict(lambda: [0, 0.0, 0, 0.0])
        for seed in range(DRAWN):
            script = draw_script(seed)
            virtual, row = Virtual(script), worst[script.method]
            try:
                with quiet():
                    virtual.run()
                apart = virtual.apart() if script.method in EXACT and not script.habits["more"] else 0.0
                follows = script.method in ("d-psgd", "ad-psgd", "local-sgd") and sums_follow(script)
                lost = virtual.lost() if follows else 0.0
            except Exception as why:
                failures.append(f"{seed}: {type(why).__name__}: {why}: {script}")
                continue
            row[0], row[1], row[2], row[3] = row[0] + 1, max(row[1], apart), row[2] + follows, max(row[3], lost)
            if not (apart <= EXACTLY and lost <= EXACTLY and virtual.finite()):
                failures.append(f"{seed}: apart by {apart:.1e}, lost {lost:.1e}: {script}")
        self.show("scripts, apart by at most, with sums, lost at most", worst)
        self.assertEqual(failures, [], "\n".join(failures))

    def test_what_the_page_refuses_is_refused_with_what_to_do(self):
        page = PAGE.read_text()
        for name, refusal in REFUSALS.items():
            self.assertIn(refusal.page, page, name)
        failures, counts = [], collections.Counter()
        for seed in range(REFUSED):
            script = draw_refused(seed)
            with quiet():
                complaint = Refused(script).complaint()
            counts[str(script.wrong)] += 1
            if complaint:
                failures.append(f"{seed}: {script.wrong} {complaint}: {script}")
        self.show("refused", counts)
        self.assertEqual(failures, [], "\n".join(failures))

    def test_a_death_is_named_and_the_others_go_on_as_far_as_the_method_can(self):
        counts: Dict[str, int] = collections.Counter()
        for seed in range(DEATHS):
            death = draw_death(seed)
            with self.subTest(str(death)), tempfile.TemporaryDirectory() as folder:
                done = death.run(Path(folder))
                said = complaints(death, done.returncode, done.stdout, Path(folder))
                self.assertEqual(said, [], done.stdout[-3000:])
                counts[f"{death.method} {death.way}"] += 1
        self.show("deaths", counts)


if __name__ == "__main__":
    unittest.main()
