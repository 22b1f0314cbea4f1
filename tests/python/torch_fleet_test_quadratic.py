"""Fleets of PyTorch scripts. GRAPEVINE_LIBRARY names the library."""

import unittest

from fleets import Fleet, together

ALGORITHMS = ["d-psgd", "{ kind: d-psgd, order: cta }", "all-reduce", "gradient-tracking"]
WAYS = ["closure", "accumulation", "moved", "copied", "scaler"]
PEERS = 4


class QuadraticTest(unittest.TestCase):
    """The scripts train in all fleets one after the other, for importing PyTorch takes longer than a fleet."""

    @classmethod
    def setUpClass(cls):
        cls.fleets = {name: Fleet(algorithm=name) for name in ALGORITHMS}
        cls.fleets.update({way: Fleet() for way in WAYS})
        cls.fleets["rounding"] = Fleet(rate=0.1, rounds=30)
        for fleet in cls.fleets.values():
            cls.addClassCleanup(fleet.close)
        cls.centers = cls.fleets["d-psgd"].centers()
        told = [(fleet, {"centers": cls.centers, "way": name}) for name, fleet in cls.fleets.items()]
        cls.answers = dict(zip(cls.fleets, together(["quadratic.py"] * PEERS, told)))
        cls.built_in = {name: cls.fleets[name].built_in() for name in [*ALGORITHMS, "rounding"]}

    def ends(self, name):
        return [answer["x"] for answer in self.answers[name]]

    def test_exact_steps_end_with_the_bits_of_built_in_peers(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                self.assertEqual(self.ends(algorithm), self.built_in[algorithm])

    def test_a_rate_that_is_no_power_of_two_rounds_otherwise_and_little(self):
        for mine, expected in zip(self.ends("rounding"), self.built_in["rounding"]):
            for value, other in zip(mine, expected):
                self.assertLess(abs(value - other), 1e-6)

    def test_closures_accumulation_moved_and_copied_parameters_and_skipped_steps_change_nothing(self):
        for way in WAYS:
            with self.subTest(way):
                self.assertEqual(self.ends(way), self.built_in["d-psgd"])

    def test_a_scaler_that_leaves_steps_out_takes_more_batches_for_the_same(self):
        self.assertEqual({answer["steps"] for answer in self.answers["d-psgd"]}, {12})
        self.assertEqual({answer["steps"] for answer in self.answers["scaler"]}, {18})

    def test_who_is_who_and_frozen_parameters_stay_each_peers_own(self):
        for i, answer in enumerate(self.answers["d-psgd"]):
            self.assertEqual(answer["frozen"], [float(i)] * 3)
            self.assertEqual(sorted(answer["neighbors"]), sorted([(i - 1) % PEERS, (i + 1) % PEERS]))
            self.assertAlmostEqual(answer["weights"], 1.0)
            self.assertEqual((answer["size"], answer["round"]), (PEERS, 12))

    def test_torch_and_plain_buffers_in_one_fleet(self):
        fleet = Fleet()
        self.addCleanup(fleet.close)
        answers = fleet.scripts(["quadratic.py", "buffers.py", "buffers.py", "buffers.py"], centers=self.centers)
        self.assertEqual([answer["x"] for answer in answers], self.built_in["d-psgd"])

    def test_torchrun_says_who_is_who_and_where(self):
        fleet = Fleet(peers=2)
        self.addCleanup(fleet.close)
        answers, = together(["quadratic.py"] * 2, [(fleet, {"centers": self.centers})], torchrun=True)
        self.assertEqual([answer["x"] for answer in answers], fleet.built_in())


if __name__ == "__main__":
    unittest.main()
