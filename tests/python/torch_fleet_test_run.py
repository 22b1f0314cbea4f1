"""`grapevine run` starts a script for each peer. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import torch

import grapevine
from fleets import BUILT_IN, PATIENCE_S, SCRIPTS, Fleet
from grapevine._program import program_path


class RunTest(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet()
        self.addCleanup(self.fleet.close)

    def run_file(self, command: str, path: Path, *more: str) -> subprocess.CompletedProcess:
        return subprocess.run([program_path(), command, str(path), *more], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)

    def script(self, name: str, **told) -> Path:
        words = json.dumps([{"fleet": None, **told}])
        program = json.dumps([sys.executable, "-W", "ignore", str(SCRIPTS / name), words])
        return self.fleet.write("launched", "program: {program}\n", program=program)

    def summary(self, name: str):
        return json.loads((self.fleet.folder / name / "summary.json").read_text())

    def test_a_run_of_scripts_ends_with_the_hash_of_built_in_peers(self):
        path = self.script("quadratic.py", centers=self.fleet.centers(), rate=0.5, curvature=0.5)
        done = self.run_file("run", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        simulated = self.run_file("simulate", self.fleet.write("simulated", BUILT_IN))
        self.assertEqual(simulated.returncode, 0, simulated.stdout)
        self.assertEqual(self.summary("launched")["params_hash"], self.summary("simulated")["params_hash"])
        table = grapevine.runs(self.fleet.folder / "launched")
        self.assertEqual(list(table["round"]), [12])
        self.assertGreater(table["loss"][0], 0)
        # With what is no parameter, and so nobody's but the program's.
        self.assertIn("frozen", torch.load(self.fleet.folder / "launched" / "model.pt"))
        asked = self.run_file("evaluate", self.fleet.folder / "launched", "--trust")
        self.assertEqual(asked.returncode, 0, asked.stdout)
        self.assertIn(f"loss       {self.summary('launched')['loss']:.6g}\n", asked.stdout)

    def test_a_script_that_names_its_fleet_as_for_torchrun_is_the_peer_that_the_launcher_says(self):
        told = {"centers": self.fleet.centers(), "rate": 0.5, "curvature": 0.5}
        path = self.script("quadratic.py", fleet="elsewhere.yaml", **told)
        done = self.run_file("run", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        simulated = self.run_file("simulate", self.fleet.write("simulated", BUILT_IN))
        self.assertEqual(simulated.returncode, 0, simulated.stdout)
        self.assertEqual(self.summary("launched")["params_hash"], self.summary("simulated")["params_hash"])

    def test_the_first_mistake_of_a_script_is_shown_once(self):
        done = self.run_file("run", self.script("quadratic.py", rate=0.5, curvature=0.5))     # without centers
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertEqual(done.stdout.count("KeyError: 'centers'"), 1, done.stdout)


if __name__ == "__main__":
    unittest.main()
