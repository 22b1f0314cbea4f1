"""Lightning Trainers as peers. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import tempfile
import unittest
from pathlib import Path

import grapevine.lightning
import grapevine.torch as gv
from fleets import run_example, small_fashion


class CallbackTest(unittest.TestCase):
    def test_a_fleet_of_trainers_trains_and_ends_with_their_epochs(self):
        with tempfile.TemporaryDirectory() as folder:
            data = small_fashion(Path(folder))
            summary = run_example("lightning.yaml", "--data", data, "--epochs", 2, sets=["train.batch=16"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (11, 0))     # and the round in which it leaves
        self.assertGreater(summary["accuracy"], 0.2)

    def test_a_fleet_that_stops_ends_the_trainers(self):
        with tempfile.TemporaryDirectory() as folder:
            data = small_fashion(Path(folder))
            summary = run_example("lightning.yaml", "--data", data, "--epochs", 50,
                                  sets=["train.batch=16", "stop.rounds=7"])
        self.assertEqual((summary["rounds"], summary["exit_code"]), (7, 0))

    def test_a_trainer_that_tests_after_fitting_joins_no_fleet_again(self):
        for stage in ("validate", "test", "predict"):
            grapevine.lightning.Callback().setup(None, None, stage)
            self.assertFalse(gv.is_initialized())


if __name__ == "__main__":
    unittest.main()
