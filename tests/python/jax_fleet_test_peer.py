"""A JAX program ends with the bits of built-in peers. GRAPEVINE_LIBRARY names the library."""

import unittest

from fleets import Fleet


class JaxTest(unittest.TestCase):
    def test_exact_steps_end_with_the_bits_of_built_in_peers(self):
        for algorithm in ("d-psgd", "all-reduce"):
            with self.subTest(algorithm):
                fleet = Fleet(algorithm=algorithm)
                self.addCleanup(fleet.close)
                answers = fleet.scripts(["pytree.py"] * 4, centers=fleet.centers())
                self.assertEqual([answer["x"] for answer in answers], fleet.built_in())


if __name__ == "__main__":
    unittest.main()
