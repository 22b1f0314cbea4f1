"""Tasks of a barrier stage as peers, on this machine. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program.
"""

import os
import sys
import unittest

from pyspark import SparkConf, SparkContext

import grapevine.spark
from engine_quadratic import train
from fleets import Fleet


class SparkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = SparkConf().setMaster("local[4]").set("spark.ui.enabled", "false")
        cls.context = SparkContext(conf=settings.set("spark.driver.host", "127.0.0.1"))
        cls.addClassCleanup(cls.context.stop)
        cls.context.setLogLevel("OFF")
        cls.fleet = Fleet()
        cls.addClassCleanup(cls.fleet.close)
        cls.path = cls.fleet.write("program", "program: [python3, train.py]\n")
        cls.centers = cls.fleet.centers()

    def test_tasks_end_with_the_bits_of_built_in_peers(self):
        centers = self.centers
        ends = grapevine.spark.run(lambda: train(centers), self.context, self.path)
        self.assertEqual(ends, self.fleet.built_in())

    def test_each_task_gets_the_rows_of_its_partition(self):
        centers = self.centers
        data = self.context.parallelize(range(20), 4)
        ends = grapevine.spark.run(lambda rows: (train(centers), rows), self.context, self.path, data)
        self.assertEqual([x for x, _ in ends], self.fleet.built_in())
        self.assertEqual([rows for _, rows in ends], [list(range(i, i + 5)) for i in range(0, 20, 5)])


if __name__ == "__main__":
    unittest.main()
