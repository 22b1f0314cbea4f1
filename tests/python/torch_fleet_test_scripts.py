"""Scripts written for others run as peers. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import json
import re
import subprocess
import sys
import unittest

from fleets import PATIENCE_S, SCRIPTS, Fleet
from grapevine._program import program_path

FLEET = """version: 1
name: {name}
seed: 5
peers: {peers}
program: {program}
algorithm: {algorithm}
topology: ring
output: {{ dir: "{folder}" }}
"""
PEERS = 3


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet(peers=PEERS)
        self.addCleanup(self.fleet.close)

    def run_script(self, script, *words, algorithm="d-psgd"):
        """Runs a script as the program of a fleet by `grapevine run`; returns what was shown."""
        name = re.sub("[^a-z]", "", algorithm + "".join(words))
        path = self.fleet.folder / f"{name}.yaml"
        program = json.dumps([sys.executable, "-W", "ignore", str(script), *words])
        path.write_text(FLEET.format(name=name, peers=PEERS, program=program, algorithm=algorithm,
                                     folder=self.fleet.folder / name))
        done = subprocess.run([program_path(), "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_horovods_example_runs_with_another_import_alone(self):
        text = (SCRIPTS / "horovod_digits.py").read_text()
        self.assertEqual([line for line in text.splitlines() if "grapevine" in line],
                         ["import grapevine.torch as hvd     # import horovod.torch as hvd"])
        for algorithm in ("d-psgd", "all-reduce"):
            for words in ((), ("--broadcast-last",)):
                with self.subTest(algorithm=algorithm, words=words):
                    output = self.run_script(SCRIPTS / "horovod_digits.py", *words, algorithm=algorithm)
                    for rank in range(PEERS):
                        self.assertIn(f"rank {rank} of {PEERS}, {rank} of its host", output)
                    tests = re.findall(r"Test set: Average loss: ([\d.]+), Accuracy: ([\d.]+)%", output)
                    self.assertEqual(len(tests), 5, output)      # by rank 0 alone
                    self.assertGreater(float(tests[-1][1]), 85, output)
                    self.assertLess(float(tests[-1][0]), float(tests[0][0]), output)

    def losses(self, output):
        return [float(loss) for loss in re.findall(r"step \d+: loss ([\d.]+)", output)]

    def test_a_gpt_with_accumulation_clipping_scaler_and_schedule_is_a_peer_by_four_lines(self):
        whole = (SCRIPTS / "gpt.py").read_text()
        plain = re.sub(r"(?m)^.*\bgv\b(?!`).*\n", "", whole)
        self.assertEqual(len(whole.splitlines()) - len(plain.splitlines()), 4)
        self.assertNotIn("gv.", plain)
        alone = self.fleet.folder / "alone.py"
        alone.write_text(plain)
        done = subprocess.run([sys.executable, "-W", "ignore", str(alone)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout)
        fleet = self.losses(self.run_script(SCRIPTS / "gpt.py"))
        by_itself = self.losses(done.stdout)
        self.assertEqual((len(by_itself), len(fleet)), (7, 7 * PEERS))
        self.assertLess(by_itself[-1], 0.75 * by_itself[0])
        self.assertLess(max(fleet[-PEERS:]), 0.75 * min(fleet[:PEERS]))


if __name__ == "__main__":
    unittest.main()
