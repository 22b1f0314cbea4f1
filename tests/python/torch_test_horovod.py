"""Every name of Horovod's public interface for PyTorch exists, or its use raises what to do instead."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

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
        hvd.refuse_distributed()
        with self.assertRaisesRegex(Exception, "process group"):
            ddp(torch.nn.Linear(3, 2))
        hvd.init()
        try:
            with self.assertRaisesRegex(hvd.Error, "(?s)^DistributedDataParallel .*help: remove it"):
                ddp(torch.nn.Linear(3, 2))
        finally:
            hvd.shutdown()

    @unittest.skipUnless(hasattr(torch.distributed, "device_mesh"), "torch has no fully_shard before 2.6")
    def test_fsdp_is_refused_in_a_peer_in_both_its_forms(self):
        from torch.distributed import fsdp
        hvd.init()
        try:
            with self.assertRaisesRegex(hvd.Error, "(?s)^FullyShardedDataParallel divides .*help: remove it and init_"):
                fsdp.FullyShardedDataParallel(torch.nn.Linear(3, 2))
            with self.assertRaisesRegex(hvd.Error, "(?s)^init_process_group .*help: remove it"):
                fsdp.fully_shard(torch.nn.Linear(3, 2))
        finally:
            hvd.shutdown()
        torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
        try:
            sharded = torch.nn.Sequential(fsdp.fully_shard(torch.nn.Linear(3, 2)))
            with self.assertRaisesRegex(hvd.Error, "(?s)^fully_shard divides the model .*help: remove it and init_"):
                hvd.refuse_modules(sharded)
        finally:
            torch.distributed.destroy_process_group()

    def test_a_process_group_is_refused_where_it_could_not_come_about_and_harmless_elsewhere(self):
        group = torch.distributed.init_process_group
        with tempfile.TemporaryDirectory() as folder:
            met = {"init_method": f"file://{folder}/met", "rank": 0, "world_size": 1}
            with self.assertRaisesRegex(ValueError, "RANK expected"):
                group("gloo")
            with mock.patch.dict("os.environ", {"GRAPEVINE_PEER": "{}"}):
                for words in ({}, met):
                    with self.assertRaisesRegex(hvd.Error, "(?s)^init_process_group .*help: remove it; gv.rank"):
                        group("gloo", **words)
            hvd.init()
            try:
                with self.assertRaisesRegex(hvd.Error, "(?s)^init_process_group .*help: remove it; gv.rank"):
                    group("gloo")
                group("gloo", **met)
                self.assertEqual(torch.distributed.get_world_size(), 1)
                torch.distributed.destroy_process_group()
            finally:
                hvd.shutdown()


if __name__ == "__main__":
    unittest.main()
