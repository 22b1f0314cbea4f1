"""Fleets of PyTorch scripts. GRAPEVINE_LIBRARY names the library."""

import unittest

from fleets import Fleet


class QuadraticTest(unittest.TestCase):
    def fleet(self, **values):
        fleet = Fleet(**values)
        self.addCleanup(fleet.close)
        return fleet, fleet.centers()

    def test_exact_steps_end_with_the_bits_of_built_in_peers(self):
        for algorithm in ("d-psgd", "{ kind: d-psgd, order: cta }", "all-reduce", "gradient-tracking"):
            with self.subTest(algorithm):
                fleet, centers = self.fleet(algorithm=algorithm)
                answers = fleet.scripts(["quadratic.py"] * 4, centers=centers)
                self.assertEqual([answer["x"] for answer in answers], fleet.built_in())

    def test_torch_and_plain_buffers_in_one_fleet(self):
        fleet, centers = self.fleet()
        answers = fleet.scripts(["quadratic.py", "buffers.py"] * 2, centers=centers)
        self.assertEqual([answer["x"] for answer in answers], fleet.built_in())

    def test_a_rate_that_is_no_power_of_two_rounds_otherwise_and_little(self):
        fleet, centers = self.fleet(rate=0.1, rounds=30)
        answers = fleet.scripts(["quadratic.py"] * 4, centers=centers)
        for answer, expected in zip(answers, fleet.built_in()):
            for mine, other in zip(answer["x"], expected):
                self.assertLess(abs(mine - other), 1e-6)

    def test_closures_accumulation_moved_and_copied_parameters_change_nothing(self):
        fleet, centers = self.fleet()
        expected = fleet.built_in()
        for way in ("closure", "accumulation", "moved", "copied"):
            with self.subTest(way):
                fleet, _ = self.fleet()
                answers = fleet.scripts(["quadratic.py"] * 4, centers=centers, way=way)
                self.assertEqual([answer["x"] for answer in answers], expected)

    def test_a_scaler_that_leaves_steps_out_takes_more_batches_for_the_same(self):
        fleet, centers = self.fleet()
        answers = fleet.scripts(["quadratic.py"] * 4, centers=centers, way="scaler")
        self.assertEqual([answer["x"] for answer in answers], fleet.built_in())
        self.assertGreater(min(answer["steps"] for answer in answers), fleet.values["rounds"])

    def test_torchrun_says_who_is_who_and_where(self):
        fleet, centers = self.fleet()
        answers = fleet.scripts(["quadratic.py"] * 4, centers=centers, torchrun=True)
        self.assertEqual([answer["x"] for answer in answers], fleet.built_in())

    def test_who_is_who_and_frozen_parameters_stay_each_peers_own(self):
        fleet, centers = self.fleet(peers=5)
        answers = fleet.scripts(["quadratic.py"] * 5, centers=centers)
        for i, answer in enumerate(answers):
            self.assertEqual(answer["frozen"], [float(i)] * 3)
            self.assertEqual(sorted(answer["neighbors"]), sorted([(i - 1) % 5, (i + 1) % 5]))
            self.assertAlmostEqual(answer["weights"], 1.0)
            self.assertEqual((answer["size"], answer["round"]), (5, fleet.values["rounds"]))


if __name__ == "__main__":
    unittest.main()
