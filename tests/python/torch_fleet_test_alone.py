"""python3 train.py by itself is a fleet of one, which changes no bit."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from fleets import SCRIPTS, check, start, wait


class AloneTest(unittest.TestCase):
    def test_a_fleet_of_one_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answer.json"
            check(*wait([start([sys.executable, "-W", "ignore", str(SCRIPTS / "alone.py"), str(path)])]))
            answer = json.loads(path.read_text())
        self.assertEqual(answer["mine"], answer["plain"])
        self.assertTrue(answer["same"] and answer["went on"])
        self.assertEqual(answer["child"], 0)
        self.assertEqual(answer["where"], [0, 1, 0, 1, [], 17, "cpu"])
        self.assertEqual(answer["refused"], {
            "before init": "grapevine.init() comes before all other calls",
            "init twice": "init() was called twice: one process is one peer",
            "twice": "DistributedOptimizer was called before", "sum": "op='sum': peers average",
            "compression": "what travels is compressed by the fleet file"})


if __name__ == "__main__":
    unittest.main()
