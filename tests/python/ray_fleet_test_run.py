"""Ray's actors as peers, on this machine. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import os
import unittest

import ray

import grapevine.ray
from engine_quadratic import train
from fleets import Fleet


class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False,
                 runtime_env={"env_vars": {name: os.environ[name] for name in ("PYTHONPATH", "GRAPEVINE_LIBRARY")}})
        cls.addClassCleanup(ray.shutdown)
        cls.fleet = Fleet()
        cls.addClassCleanup(cls.fleet.close)
        cls.path = cls.fleet.write("program", "program: [python3, train.py]\n")

    def test_actors_end_with_the_bits_of_built_in_peers(self):
        centers = self.fleet.centers()
        ends = grapevine.ray.run(lambda: train(centers), self.path)
        self.assertEqual(ends, self.fleet.built_in())

    def test_a_failure_comes_back(self):
        def failing():
            raise ValueError("on purpose")
        with self.assertRaisesRegex(ValueError, "on purpose"):
            grapevine.ray.run(failing, self.path)


if __name__ == "__main__":
    unittest.main()
