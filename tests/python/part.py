"""Is `python3 -m unittest`; GRAPEVINE_PART=K/N takes the K-th of N parts of the tests of fleets, which are slow."""

import os
import unittest
import zlib
from typing import Any, Iterator, Union


def each(suite: Union[unittest.TestSuite, unittest.TestCase]) -> Iterator[unittest.TestCase]:
    """Yields the tests of a suite, in its order."""
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for inner in suite:
            yield from each(inner)


class PartLoader(unittest.TestLoader):
    """Loads the tests of this run's part."""

    def discover(self, *words: Any, **more: Any) -> unittest.TestSuite:
        """Returns those of the tests found that are in the part; all where there are no parts, or none is slow."""
        found = list(each(super().discover(*words, **more)))
        part, parts = (int(number) for number in os.environ.get("GRAPEVINE_PART", "0/1").split("/"))
        return self.suiteClass(test for test in found if "fleet_test" not in type(test).__module__
                               or (zlib.crc32(test.id().encode()) + part) % parts == 0)


if __name__ == "__main__":
    unittest.main(module=None, testLoader=PartLoader())
