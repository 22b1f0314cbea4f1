"""The contract of a training job, played by variables: each container has an address of this machine."""

import json
import sys
import unittest

from fleets import SCRIPTS, Fleet, check, free_port, start, wait

HOSTS = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]


class SageMakerTest(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet()
        self.addCleanup(self.fleet.close)
        self.model = self.fleet.folder / "model"
        self.model.mkdir()
        self.given = {"fleet": str(self.fleet.write("program", "program: [python3, train.py]\n")), "port": free_port(),
                      "failure": str(self.fleet.folder / "failure"), "centers": self.fleet.centers(),
                      "rate": 0.5, "curvature": 0.5}

    def containers(self, **more):
        words = json.dumps({**self.given, **more})
        return wait([start([sys.executable, str(SCRIPTS / "container.py"), words], SM_HOSTS=json.dumps(HOSTS),
                           SM_CURRENT_HOST=host, SM_MODEL_DIR=str(self.model)) for host in HOSTS])

    def test_containers_end_with_the_bits_of_built_in_peers(self):
        for process in self.containers():
            check(process)
        ends = [json.loads((self.model / f"{host}.json").read_text()) for host in HOSTS]
        self.assertEqual(ends, self.fleet.built_in())

    def test_a_failure_is_told_where_the_platform_looks_and_others_go_on(self):
        ends = self.containers(fails=1)
        self.assertEqual([process.returncode for process in ends], [0, 1, 0, 0], [p.stdout for p in ends])
        self.assertIn("ValueError: on purpose", (self.fleet.folder / "failure").read_text())


if __name__ == "__main__":
    unittest.main()
