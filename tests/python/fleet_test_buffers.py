"""Fleets of plain buffers end with the bits of built-in peers. GRAPEVINE_LIBRARY names the library."""

import unittest

from fleets import Fleet


class BuffersTest(unittest.TestCase):
    def test_exact_steps_end_with_the_bits_of_built_in_peers(self):
        for values in ({}, {"topology": "hypercube", "rounds": 9}, {"algorithm": "{ kind: d-psgd, order: atc }"},
                       {"algorithm": "gradient-tracking", "peers": 3}, {"algorithm": "all-reduce"},
                       {"algorithm": "d2", "peers": 5}):
            with self.subTest(**values):
                fleet = Fleet(**values)
                self.addCleanup(fleet.close)
                centers = fleet.centers()
                answers = fleet.scripts(["buffers.py"] * fleet.values["peers"], centers=centers)
                self.assertEqual([answer["x"] for answer in answers], fleet.built_in())
                self.assertEqual({answer["round"] for answer in answers}, {fleet.values["rounds"]})


if __name__ == "__main__":
    unittest.main()
