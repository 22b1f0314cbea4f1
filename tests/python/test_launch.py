"""A function is written down and called again elsewhere, and the run's lines are shown as they come."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import grapevine
from grapevine import _launch

CLOUDPICKLE = importlib.util.find_spec("cloudpickle") is not None


class LaunchTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    @unittest.skipUnless(CLOUDPICKLE, "cloudpickle is not installed: apt-get install python3-cloudpickle")
    def test_a_function_is_called_in_another_process_with_the_values_that_it_uses(self):
        value, path = {"rate": 0.5}, str(self.folder / "said")

        def train():
            Path(path).write_text(json.dumps(value))
        script = _launch.written_down(train, self.folder)
        self.assertEqual(script, _launch.written_down(train, self.folder))
        subprocess.run([sys.executable, str(script)], check=True, cwd="/")
        self.assertEqual(json.loads(Path(path).read_text()), value)

    @unittest.skipUnless(CLOUDPICKLE, "cloudpickle is not installed: apt-get install python3-cloudpickle")
    def test_what_cannot_be_written_down_is_said(self):
        lock = threading.Lock()
        with self.assertRaisesRegex(grapevine.Error, "cannot be written down"):
            _launch.written_down(lambda: lock, self.folder)

    def test_without_cloudpickle_there_is_an_error_that_says_so(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(grapevine.Error, "pip install cloudpickle"):
                grapevine.launch(lambda: None, "fleet.yaml")

    def test_a_dictionary_becomes_a_fleet_file(self):
        path = _launch.fleet_file({"peers": 3}, self.folder)
        self.assertEqual(json.loads(Path(path).read_text()), {"version": 1, "peers": 3})
        self.assertEqual(_launch.fleet_file(Path("a.yaml"), self.folder), "a.yaml")

    def test_an_interrupt_is_handed_on_and_the_end_is_waited_for(self):
        body = ("import signal, sys, time\n"
                "signal.signal(signal.SIGINT, lambda *_: sys.exit(print('in order', flush=True) or 7))\n"
                "print('there', flush=True)\n"
                "time.sleep(60)")
        shown = Interrupting()
        with contextlib.redirect_stdout(shown):
            lines, code = _launch.shown([sys.executable, "-c", body])
        self.assertEqual((lines, code), (["there\n", "in order\n"], 7))


class Interrupting(io.StringIO):
    """Interrupts this process when it is told the first line."""

    def write(self, text: str) -> int:
        if text == "there\n":
            os.kill(os.getpid(), signal.SIGINT)
        return super().write(text)


if __name__ == "__main__":
    unittest.main()
