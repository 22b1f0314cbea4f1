"""A run of scripts that ended in the middle of an epoch goes on as if it had not."""

import json
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from fleets import PATIENCE_S, SCRIPTS, Fleet
from grapevine._program import program_path

MORE = "faults: { deadline: 0 s }\ncheckpoint: { every: 7 rounds }\n"     # nobody is left out, however slow the machine


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet(peers=3, rounds=40, more=MORE)
        self.addCleanup(self.fleet.close)

    def file(self, name: str, **values) -> Path:
        program = json.dumps([sys.executable, "-W", "ignore", str(SCRIPTS / "resumed.py")])
        return self.fleet.write(name, "program: {program}\n", program=program, **values)

    def run_to_its_end(self, *words: str) -> str:
        """Returns the hash of what all peers end with."""
        done = subprocess.run([program_path(), "run", *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])["params_hash"]

    def end_it(self, path: Path, how: int) -> None:
        """Starts a run, and ends it when every peer has a checkpoint that is not of an epoch's end."""
        process = subprocess.Popen([program_path(), "run", str(path)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        folder = path.with_suffix("")
        deadline = time.monotonic() + PATIENCE_S
        while not all(list((folder / "peers" / f"{i:03}" / "checkpoints").glob("*21*")) for i in range(3)):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll(), "it has ended too early")
            time.sleep(0.01)
        process.send_signal(how)
        process.wait(PATIENCE_S)

    def test_the_models_are_those_of_a_run_that_nothing_ended(self):
        for algorithm, how in (("d-psgd", signal.SIGKILL), ("all-reduce", signal.SIGINT)):
            with self.subTest(algorithm=algorithm, how=how):
                undisturbed = self.run_to_its_end(str(self.file(f"{algorithm}-undisturbed", algorithm=algorithm)))
                path = self.file(f"{algorithm}-ended", algorithm=algorithm)
                self.end_it(path, how)
                self.assertEqual(self.run_to_its_end("--resume", str(path.with_suffix(""))), undisturbed)


if __name__ == "__main__":
    unittest.main()
