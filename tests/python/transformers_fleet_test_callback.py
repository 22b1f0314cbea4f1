"""Trainers of Transformers as peers. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import tempfile
import unittest
from pathlib import Path

from fleets import run_example


class CallbackTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.text = Path(place.name) / "text"
        self.text.write_text("to be, or not to be, that is the question. " * 120)

    def test_a_fleet_of_trainers_trains_and_ends_with_their_epochs(self):
        summary = run_example("transformers.yaml", "--text", self.text, "--epochs", 2, "--lr", 5e-3)
        self.assertEqual(summary["exit_code"], 0)
        self.assertGreaterEqual(summary["rounds"], 2)
        self.assertLess(summary["loss"], 5)     # ln 256 = 5.5 before it has learnt anything

    def test_the_loss_of_a_step_is_the_mean_of_its_batches(self):
        first = [run_example("transformers.yaml", "--text", self.text, "--accumulate", n, "--epochs", 4,
                             sets=["stop.rounds=1", "train.local_steps=1", "evaluate.every=1 rounds"])["rows"][-1]
                 for n in (1, 3)]
        for row in first:
            self.assertAlmostEqual(row["train_loss"], 5.55, delta=0.1)      # ln 256, before it has learnt anything

    def test_a_fleet_that_stops_ends_the_trainers(self):
        summary = run_example("transformers.yaml", "--text", self.text, "--epochs", 90, sets=["stop.rounds=3"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (3, 0))


if __name__ == "__main__":
    unittest.main()
