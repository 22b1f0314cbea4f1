"""A wheel of what a checkout has built: what is in it, and when it is refused."""

import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

PYTHON = Path(__file__).parents[2] / "python"
CMAKE = """[ "$1" = --build ] || exit 0
mkdir -p build/release/peer
for word in "$@"; do
  case $word in
    grapevine) cp /bin/true build/release/peer/grapevine ;;
    grapevine_library) : >build/release/libgrapevine.so ;;
  esac
done"""     # makes the targets named in its arguments


class BuildTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name).resolve()
        shutil.copytree(PYTHON, self.root / "python", ignore=shutil.ignore_patterns("__pycache__"))
        spec = importlib.util.spec_from_file_location("build_backend", self.root / "python" / "build_backend.py")
        self.backend = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.backend)
        for name in self.backend.SOURCES:
            self.touch(name if name.endswith(".txt") else f"{name}/source.cpp", 1000)
        self.wheels = self.root / "wheels"
        self.wheels.mkdir()

    def touch(self, name, at):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (at, at))

    def built(self, at=2000):
        self.touch("build/release/peer/grapevine", at)
        self.touch("build/release/libgrapevine.so", at)

    def test_a_wheel_holds_package_library_and_program(self):
        self.built()
        self.assertEqual(self.backend.get_requires_for_build_wheel(), [])
        with zipfile.ZipFile(self.wheels / self.backend.build_wheel(str(self.wheels))) as wheel:
            names = wheel.namelist()
            self.assertEqual(wheel.read("grapevine/libgrapevine.so"), b"build/release/libgrapevine.so")
            self.assertEqual(wheel.getinfo("grapevine/bin/grapevine").external_attr >> 16, stat.S_IFREG | 0o755)
            for path in (PYTHON / "grapevine").glob("*.py"):
                self.assertEqual(wheel.read(f"grapevine/{path.name}"), path.read_bytes())
            record, = [name for name in names if name.endswith("/RECORD")]
            listed = [line.split(",")[0] for line in wheel.read(record).decode().splitlines()]
        self.assertEqual(listed, names)

    def test_the_wrapper_builds_all_that_a_wheel_takes(self):
        shutil.copy(PYTHON.parent / "grapevine", self.root)
        tools = self.root / "tools"
        tools.mkdir()
        for name, body in (("dpkg-query", "printf installed"), ("cmake", CMAKE)):
            (tools / name).write_text(f"#!/bin/sh\n{body}\n")
            (tools / name).chmod(0o755)
        subprocess.run([self.root / "grapevine", "doctor"], check=True, stderr=subprocess.DEVNULL, cwd=self.root,
                       env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(self.backend.get_requires_for_build_wheel(), [])

    def test_an_editable_one_points_at_the_checkout(self):
        with zipfile.ZipFile(self.wheels / self.backend.build_editable(str(self.wheels))) as wheel:
            self.assertEqual(wheel.read("grapevine_learning.pth").decode().strip(), str(self.root / "python"))

    def test_without_a_build_or_with_an_old_one_it_says_what_to_do(self):
        with self.assertRaisesRegex(SystemExit, "nothing is built.*\nhelp: `./grapevine doctor` builds it"):
            self.backend.get_requires_for_build_wheel()
        self.built()
        self.touch("peer/source.cpp", 2500)
        self.touch("build/.built-program", 2600)        # the wrapper's build had nothing to change in the two
        self.assertEqual(self.backend.get_requires_for_build_wheel(), [])
        self.touch("peer/source.cpp", 3000)
        with self.assertRaisesRegex(SystemExit, "sources are newer than build/release"):
            self.backend.get_requires_for_build_wheel()
        os.environ["GRAPEVINE_COMPILE"] = "1"
        self.addCleanup(os.environ.pop, "GRAPEVINE_COMPILE")
        self.assertEqual(self.backend.get_requires_for_build_wheel(), [self.backend.COMPILER])


if __name__ == "__main__":
    unittest.main()
