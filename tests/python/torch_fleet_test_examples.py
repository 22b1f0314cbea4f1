"""The examples run for a few steps. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import tempfile
import unittest
from pathlib import Path

from fleets import run_example, small_fashion

ADAPTERS = 4 * (784 + 256 + 256 + 128 + 128 + 10)     # rank 4, of three layers
MESSAGE = 2000     # bytes beside the values of a message, at most
STEPS = 5     # of an epoch; and the round in which a script leaves counts


class ExamplesTest(unittest.TestCase):
    def test_of_adapters_only_what_is_trained_travels(self):
        with tempfile.TemporaryDirectory() as folder:
            data = small_fashion(Path(folder))
            summary = run_example("adapters.yaml", "--data", data, "--epochs", 24, sets=["train.batch=16"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (24 * STEPS + 1, 0))
        self.assertGreater(summary["accuracy"], 0.2)     # adapters begin slowly: one of their factors is zero
        halves = (24 * STEPS + 1) * 4 * 2     # rounds, peers, neighbours
        self.assertGreaterEqual(summary["sent_bytes"], halves * 4 * ADAPTERS)
        self.assertLess(summary["sent_bytes"], (halves + 8) * (4 * ADAPTERS + MESSAGE))

    def test_agents_act_learn_and_average(self):
        summary = run_example("agent.yaml", "--steps", 120, sets=["evaluate.every=120 rounds"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (121, 0))
        self.assertLess(summary["loss"], -8)     # no pole falls in fewer steps
        self.assertLess(summary["consensus"], 0.01)

    def test_the_first_script_learns(self):
        with tempfile.TemporaryDirectory() as folder:
            data = small_fashion(Path(folder))
            summary = run_example("fleet.yaml", "--data", data, "--epochs", 2, sets=["train.batch=16"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (2 * STEPS + 1, 0))
        self.assertGreater(summary["accuracy"], 0.2)


if __name__ == "__main__":
    unittest.main()
