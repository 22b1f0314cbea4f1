"""What a training job's environment says, and how its failure is told."""

import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import grapevine
import grapevine.sagemaker as sagemaker

JOB = {"SM_HOSTS": '["127.0.0.1", "127.0.0.2"]', "SM_CURRENT_HOST": "127.0.0.2", "SM_CHANNEL_TRAINING": "/data",
       "SM_MODEL_DIR": "/model"}


class SageMakerTest(unittest.TestCase):
    def test_folders_are_where_the_job_says(self):
        with mock.patch.dict(os.environ, JOB):
            self.assertEqual((sagemaker.channel(), sagemaker.model_folder()), ("/data", "/model"))
        with mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(grapevine.Error, "no training job"):
                sagemaker.channel()

    def test_each_container_is_at_its_name(self):
        texts = sagemaker.by_names(["127.0.0.1", "127.0.0.2"], 27000)(json.dumps({"peer": 1, "model": "m"}))
        self.assertEqual([json.loads(text) for text in texts],
                         [{"peer": 0, "model": "m", "host": "127.0.0.1", "port": 27000},
                          {"peer": 1, "model": "m", "host": "127.0.0.2", "port": 27000}])

    def test_a_failure_is_written_where_the_platform_looks(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "failure"
            with mock.patch.dict(os.environ, {**JOB, "SM_CURRENT_HOST": "elsewhere"}), \
                    mock.patch.object(sagemaker, "FAILURE", str(place)):
                with self.assertRaisesRegex(grapevine.Error, "elsewhere"):
                    sagemaker.run(lambda: None, "fleet.yaml")
            self.assertIn("SM_CURRENT_HOST is elsewhere", place.read_text())


if __name__ == "__main__":
    unittest.main()
