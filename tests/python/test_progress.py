"""The place in the data: what is given out, what a resumed script skips, when loops end."""

import unittest
from unittest import mock

from grapevine import _process
from grapevine._errors import Error
from grapevine._progress import Progress, length
from grapevine.sampler import Sampler, evened
from scripted import INFO


class Loader:
    """As DataLoader: batches of a sampler's rows."""

    def __init__(self, sampler, batch_size):
        self.sampler, self.batch_size, self.loaded = sampler, batch_size, 0

    def __iter__(self):
        rows = list(self.sampler)
        for begin in range(0, len(rows), self.batch_size):
            self.loaded += 1
            yield rows[begin:begin + self.batch_size]


class Rows:
    """A session of which peer `id` has every second row."""

    def rows(self, samples, labels=None):
        return list(range(0, samples, 2))


class ProcessStub:
    def __init__(self, **info):
        self.info = {**INFO, **info}
        self.session, self.progress, self.forked = Rows(), Progress(self.info), False


class Data(list):
    pass


class SamplerTest(unittest.TestCase):
    def sampler(self, process, samples=40, **arguments):
        with mock.patch.object(_process, "_current", process):
            return Sampler(Data(range(samples)), **arguments)

    def test_a_pass_is_the_share_in_an_order_of_its_epoch(self):
        sampler = self.sampler(ProcessStub())
        first, second = list(sampler), list(sampler)
        self.assertEqual(sorted(first), list(range(0, 40, 2)))
        self.assertEqual(sorted(second), sorted(first))
        self.assertNotEqual(first, second)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler), first)
        self.assertEqual(list(self.sampler(ProcessStub())), first)
        self.assertNotEqual(list(self.sampler(ProcessStub(peer_seed=8))), first)

    def test_skipped_rows_are_those_at_the_beginning_of_one_pass(self):
        sampler = self.sampler(ProcessStub())
        first = list(sampler)
        sampler.set_epoch(0)
        sampler.skip(6)
        self.assertEqual(list(sampler), first[6:])
        self.assertEqual(len(list(sampler)), 20)

    def test_under_all_reduce_all_shares_are_as_large(self):
        self.assertEqual(len(self.sampler(ProcessStub(gradients="written", peers=3))), 13)
        self.assertEqual(evened([1, 2, 3], 5), [1, 2, 3, 1, 2])
        self.assertEqual(evened([1, 2, 3], 2), [1, 2])

    def test_labels_are_asked_for_where_they_are_needed(self):
        with self.assertRaisesRegex(Error, "data.partition is dirichlet, which needs the classes"):
            self.sampler(ProcessStub(partition="dirichlet"))
        self.assertEqual(len(self.sampler(ProcessStub(partition="dirichlet"), labels=[0] * 40)), 20)

    def test_a_peer_without_samples_is_refused(self):
        with self.assertRaisesRegex(Error, "peer 0 has none of the 0 samples"):
            self.sampler(ProcessStub(), samples=0)


class ProgressTest(unittest.TestCase):
    def passes(self, process, loader, epochs):
        return [[batch for batch in process.progress.running(loader)] for _ in process.progress.epochs(epochs)]

    def begun(self):
        process = ProcessStub()
        with mock.patch.object(_process, "_current", process):
            return process, Loader(Sampler(Data(range(40))), 4)

    def test_a_script_goes_on_in_the_middle_of_an_epoch(self):
        process, loader = self.begun()
        whole = self.passes(process, loader, 3)
        process, loader = self.begun()
        stopped = []
        for _ in process.progress.epochs(3):
            for batch in process.progress.running(loader):
                stopped.append(batch)
                if len(stopped) == 7:
                    place = process.progress.place()
        self.assertEqual(place, {"epoch": 1, "given": 2})
        process, loader = self.begun()
        process.progress.go_on(place)
        rest = self.passes(process, loader, 3)
        self.assertEqual(rest, [whole[1][2:], whole[2]])
        self.assertEqual(loader.loaded, 8)      # what was given out before is not loaded again

    def test_another_loader_is_skipped_by_loading(self):
        progress = Progress(INFO)
        progress.go_on({"epoch": 0, "given": 2})
        self.assertEqual(list(progress.running([[1], [2], [3]])), [[3]])

    def test_loops_end_when_the_fleet_stops(self):
        process, loader = self.begun()
        given = []
        process.progress.over = lambda: len(given) >= 2
        for _ in process.progress.epochs(None):
            for batch in process.progress.running(loader):
                self.assertTrue(process.progress.active)
                given.append(batch)
        self.assertEqual(len(given), 2)
        self.assertFalse(process.progress.active)
        self.assertEqual(process.progress.place(), {"epoch": 1, "given": 0})

    def test_stop_epochs_of_the_file_ends_too(self):
        self.assertEqual(list(Progress({"epochs": 2}).epochs(None)), [0, 1])

    def test_samples_are_counted_by_turn(self):
        class Batch:
            shape = (32, 10)
        progress = Progress(INFO)
        for _ in progress.running([(Batch(), Batch()), {"x": Batch()}]):
            pass
        self.assertEqual(progress.take_samples(), 64)
        self.assertIsNone(progress.take_samples())
        self.assertEqual([length(()), length(5)], [0, 0])

    def test_batches_without_a_step_are_warned_of_once(self):
        progress = Progress(INFO)
        said = []
        progress.steps, progress.warn = lambda: 0, said.append
        with mock.patch("grapevine._progress.SILENCE_S", 0.0):
            list(progress.running([1, 2, 3]))
            self.assertEqual(len(said), 1)
            count = iter(range(100))
            progress.steps = lambda: next(count)
            list(progress.running([1, 2, 3]))
        self.assertEqual(len(said), 1)


if __name__ == "__main__":
    unittest.main()
