"""Runs as tables, and what the program says as dictionaries. GRAPEVINE_PROGRAM names the program."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import grapevine
from grapevine._program import program_path
from grapevine._runs import flat, lines, number

FLEET = """version: 1
name: small
seed: 1
peers: 4
data: { kind: quadratic, dimension: 4 }
model: quadratic
train: { optimizer: { kind: sgd, lr: 0.125 } }
algorithm: d-psgd
topology: ring
stop: { rounds: 20 }
evaluate: { every: 10 rounds }
"""


def simulated(folder: Path, rate: str) -> None:
    fleet = folder / "fleet.yaml"
    fleet.write_text(FLEET)
    subprocess.run([program_path(), "simulate", str(fleet), "--set", f"train.optimizer.lr={rate}",
                    "--set", f"output.dir={folder}/runs/{rate}"], check=True, capture_output=True)


class RunsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        for rate in ("0.125", "0.25"):
            simulated(cls.folder, rate)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_metrics_have_a_row_for_each_evaluation_and_a_column_for_each_key(self):
        table = grapevine.runs(self.folder / "runs")
        self.assertEqual(list(table["run"]), ["0.125", "0.125", "0.25", "0.25"])
        self.assertEqual(list(table["round"]), [10, 20, 10, 20])
        self.assertEqual(list(table["train.optimizer.lr"]), [0.125, 0.125, 0.25, 0.25])
        self.assertEqual(list(table["peers"]), [4, 4, 4, 4])
        self.assertIn("states.compute", table)
        self.assertTrue(all(loss > 0 for loss in table["loss"]))

    def test_summaries_have_a_row_for_each_run(self):
        table = grapevine.runs(self.folder / "runs" / "0.125", self.folder / "runs" / "0.25", what="summary")
        self.assertEqual(list(table["rounds"]), [20, 20])
        self.assertEqual([len(text) for text in table["params_hash"]], [32, 32])

    def test_a_table_is_pandas_where_that_is_installed(self):
        known = grapevine.runs(self.folder / "runs")
        self.assertEqual(isinstance(known, dict), importlib.util.find_spec("pandas") is None)

    def test_what_is_no_run_is_said(self):
        with self.assertRaisesRegex(grapevine.Error, "holds no run"):
            grapevine.runs(self.folder / "nowhere")
        with self.assertRaisesRegex(grapevine.Error, "there are metrics and summary"):
            grapevine.runs(self.folder, what="loss")

    def test_half_a_last_line_belongs_to_a_run_that_goes_on(self):
        path = self.folder / "half.jsonl"
        path.write_text('{"a":1}\n{"a":')
        self.assertEqual(list(lines(path)), [{"a": 1}])
        path.write_text('{"a":\n{"a":1}\n')
        with self.assertRaisesRegex(grapevine.Error, "half.jsonl:1: no JSON"):
            list(lines(path))

    def test_nested_figures_and_words_of_keys(self):
        self.assertEqual(flat({"a": {"b": {"c": 1}}, "d": None}), {"a.b.c": 1, "d": None})
        self.assertEqual([number("3"), number("1e-3"), number("ring")], [3, 0.001, "ring"])

    def test_the_spectrum_of_a_ring_is_the_closed_form(self):
        import math
        spectrum = grapevine.spectrum("ring", 8)
        self.assertAlmostEqual(spectrum["slem"], (1 + 2 * math.cos(2 * math.pi / 8)) / 3, places=12)
        with self.assertRaisesRegex(grapevine.Error, "did you mean `ring`"):
            grapevine.spectrum("rong", 8)

    def test_a_plan_takes_values_over_the_files(self):
        fleet = self.folder / "fleet.yaml"
        self.assertEqual(grapevine.plan(fleet)["peers"], 4)
        self.assertEqual(grapevine.plan(fleet, ["peers=6"])["peers"], 6)
        with self.assertRaisesRegex(grapevine.Error, "unknown key"):
            grapevine.plan(fleet, ["peeers=6"])


class ProgramTest(unittest.TestCase):
    def test_a_missing_program_is_named(self):
        nowhere = mock.patch("grapevine._program.built", return_value=Path("/nowhere/grapevine"))
        with nowhere, mock.patch.dict(os.environ, {"GRAPEVINE_PROGRAM": "", "PATH": ""}):
            with self.assertRaisesRegex(grapevine.Error, "GRAPEVINE_PROGRAM=PATH"):
                grapevine.spectrum("ring", 8)


class ImportTest(unittest.TestCase):
    def test_importing_takes_little_and_loads_neither_torch_nor_numpy(self):
        code = ("import sys, time; began = time.process_time(); import grapevine; "
                "print(time.process_time() - began, 'torch' in sys.modules, 'numpy' in sys.modules)")
        run = [sys.executable, "-c", code]
        said = [subprocess.check_output(run, text=True).split() for _ in range(3)]
        self.assertEqual({tuple(words[1:]) for words in said}, {("False", "False")})
        self.assertLess(min(float(words[0]) for words in said), 0.05)      # seconds of the processor, not of the clock


if __name__ == "__main__":
    unittest.main()
