"""The folders that a script's first process leaves behind."""

import os
import pathlib
import tempfile
import unittest

from grapevine._process import NewFolders


class TracesTest(unittest.TestCase):
    def test_new_folders_go_if_they_are_empty(self):
        usual = os.mkdir
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(f"{place}/before")
            folders = NewFolders()
            os.makedirs(f"{place}/a/b/c")
            pathlib.Path(place, "with", "file").mkdir(parents=True)
            pathlib.Path(place, "with", "file", "text").write_text("x")
            os.makedirs(f"{place}/before", exist_ok=True)
            with self.assertRaises(FileExistsError):
                os.mkdir(f"{place}/before")
            folders.remove()
            self.assertIs(os.mkdir, usual)
            self.assertEqual(sorted(os.listdir(place)), ["before", "with"])
            self.assertEqual(os.listdir(f"{place}/with/file"), ["text"])


if __name__ == "__main__":
    unittest.main()
