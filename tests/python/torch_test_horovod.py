"""Every name of Horovod's public interface for PyTorch exists, or its use raises what to do instead."""

import unittest
from pathlib import Path

import torch

import grapevine.torch as hvd
from grapevine import _horovod

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md"
NAMES = """elastic Compression allgather_object broadcast_object broadcast_optimizer_state broadcast_parameters
    allreduce allreduce_async allreduce_ allreduce_async_ grouped_allreduce grouped_allreduce_async grouped_allreduce_
    grouped_allreduce_async_ sparse_allreduce_async allgather allgather_async grouped_allgather grouped_allgather_async
    broadcast broadcast_async broadcast_ broadcast_async_ alltoall alltoall_async reducescatter reducescatter_async
    grouped_reducescatter grouped_reducescatter_async join barrier poll synchronize init shutdown is_initialized
    start_timeline stop_timeline size local_size cross_size rank local_rank cross_rank mpi_threads_supported mpi_enabled
    mpi_built gloo_enabled gloo_built nccl_built ddl_built ccl_built cuda_built rocm_built ProcessSet
    global_process_set add_process_set remove_process_set Average Sum Adasum Min Max Product HorovodInternalError
    DistributedOptimizer SyncBatchNorm is_homogeneous""".split()


class HorovodTest(unittest.TestCase):
    def test_every_name_exists_or_its_use_names_what_to_do(self):
        for name in NAMES:
            found = getattr(hvd, name)
            self.assertEqual(isinstance(found, _horovod.Absent), name in _horovod.ABSENT, name)
        for name in _horovod.ABSENT:
            with self.assertRaisesRegex(hvd.Error, f"(?s){name}: .*help: "):
                getattr(hvd, name)(3)
            with self.assertRaisesRegex(hvd.Error, f"(?s){name}: .*help: "):
                getattr(hvd, name).run
        with self.assertRaisesRegex(AttributeError, "has no attribute 'nothing'"):
            hvd.nothing
        from grapevine.torch import SyncBatchNorm
        with self.assertRaises(hvd.Error):
            torch.nn.Sequential(SyncBatchNorm(3))

    def test_the_page_names_what_is_absent_and_what_is_there(self):
        page = PAGE.read_text()
        row, = [line for line in page.splitlines() if "with what to do instead" in line]
        for name in ("SyncBatchNorm", "join", "elastic", "ProcessSet", "process_set=", "cross_rank", "start_timeline",
                     "Adasum"):
            self.assertIn(f"`{name}`", row)
        for name in ("allgather", "alltoall", "reducescatter", "broadcast_object", "synchronize", "poll",
                     "sparse_as_dense=True", "nccl_built()"):
            self.assertIn(f"`{name}`", page)

    def test_parts_of_horovod_are_not_there_and_calls_without_a_place_are_refused(self):
        for part in ("mpi", "gloo", "nccl", "ddl", "ccl", "cuda", "rocm"):
            self.assertFalse(getattr(hvd, f"{part}_built")())
        self.assertTrue(hvd.poll(_horovod.Done(3)) and hvd.synchronize(_horovod.Done(3)) == 3)
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1)
        for words in ({"process_set": 1}, {"op": hvd.Adasum}, {"op": hvd.Sum}):
            with self.assertRaisesRegex(hvd.Error, "(?s)help: "):
                hvd.DistributedOptimizer(optimizer, **words)

    def test_modules_that_work_by_torch_distributed_are_refused_and_named(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.SyncBatchNorm(2))
        with self.assertRaisesRegex(hvd.Error, "(?s)^1 is a SyncBatchNorm, .*help: .*without convert_sync_batchnorm"):
            hvd.refuse_modules(model)
        hvd.refuse_modules(None)
        hvd.refuse_modules(torch.nn.Sequential(torch.nn.BatchNorm1d(2)))

    def test_ddp_is_refused_in_a_peer_and_unchanged_elsewhere(self):
        ddp = torch.nn.parallel.DistributedDataParallel
        hvd.refuse_ddp()
        with self.assertRaisesRegex(Exception, "process group"):
            ddp(torch.nn.Linear(3, 2))
        hvd.init()
        try:
            with self.assertRaisesRegex(hvd.Error, "(?s)^DistributedDataParallel .*help: remove it"):
                ddp(torch.nn.Linear(3, 2))
        finally:
            hvd.shutdown()


if __name__ == "__main__":
    unittest.main()
