"""The example is a plain script and at most seven lines more."""

import difflib
import unittest
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "pytorch"


def code(name):
    """The lines of a script without its docstring and blank lines."""
    text = (EXAMPLE / name).read_text().split('"""', 2)[2]
    return [line for line in text.splitlines() if line.strip()]


class ExampleTest(unittest.TestCase):
    def test_a_script_becomes_a_peer_by_seven_lines(self):
        changes = [line for line in difflib.ndiff(code("alone.py"), code("train.py")) if line[0] in "+-"]
        added = [line for line in changes if line[0] == "+"]
        self.assertLessEqual(len(added), 7)
        self.assertTrue(all("gv" in line for line in added), added)
        removed = [line for line in changes if line[0] == "-"]
        self.assertLessEqual(len(removed), 4)


if __name__ == "__main__":
    unittest.main()
