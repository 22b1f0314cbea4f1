"""What a checkpoint keeps of a script comes back as it was, and nothing in it is executed."""

import io
import pickle
import random
import unittest

import torch

from grapevine._errors import Error
from grapevine._state import be_random, filled, packed, random_state, seed_all, unpacked


class StateTest(unittest.TestCase):
    def test_values_come_back_with_their_types(self):
        state = {"none": None, "numbers": [1, -2.5e-300, True, float("inf")], "betas": (0.9, 0.999), 3: {"text": "ß"},
                 "rng": random.getstate()}
        self.assertEqual(unpacked(packed(state)), state)

    def test_an_optimizer_and_a_scheduler_go_on_where_they_were(self):
        def begun():
            torch.manual_seed(1)
            x = torch.nn.Parameter(torch.ones(3))
            optimizer = torch.optim.Adam([x], lr=0.1)
            return x, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

        def stepped(x, optimizer, scheduler, steps):
            for _ in range(steps):
                optimizer.zero_grad()
                (x ** 2).sum().backward()
                optimizer.step()
                scheduler.step()

        whole = begun()
        stepped(*whole, 7)
        first = begun()
        stepped(*first, 3)
        block = packed({"parts": [part.state_dict() for part in first[1:]]})
        second = begun()
        with torch.no_grad():
            second[0].copy_(first[0])
        for part, values in zip(second[1:], unpacked(block)["parts"]):
            part.load_state_dict(values)
        stepped(*second, 4)
        self.assertEqual(second[0].tolist(), whole[0].tolist())

    def test_numbers_of_numpy_and_sets_come_back_with_their_types(self):
        numpy = self.numpy()
        state = {"rate": numpy.float32(0.1), "best": numpy.int64(3), "double": numpy.float64(1 / 3), "seen": {1, 2},
                 "fixed": frozenset("ab"), "bytes": b"\x00\xff", "flag": numpy.bool_(True),
                 "array": numpy.arange(6, dtype="float32").reshape(2, 3)}
        back = unpacked(packed(state))
        self.assertEqual((back.pop("array") == state.pop("array")).all(), True)
        self.assertEqual(back, state)
        self.assertEqual({name: type(value) for name, value in back.items()},
                         {name: type(value) for name, value in state.items()})

    def numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        return numpy

    def test_random_numbers_of_all_three_go_on_where_they_were(self):
        numpy = self.numpy()
        seed_all(5)
        block = packed({"random": random_state()})

        def drawn():
            return random.random(), float(numpy.random.rand()), float(torch.rand(1))
        first = drawn()
        self.assertNotEqual(drawn(), first)
        be_random(unpacked(block)["random"])
        self.assertEqual(drawn(), first)

    def test_every_scheduler_of_torch_goes_on_although_some_keep_functions(self):
        x = torch.nn.Parameter(torch.ones(3))
        schedules = torch.optim.lr_scheduler
        made = [lambda o: schedules.OneCycleLR(o, 0.5, total_steps=20), lambda o: schedules.CyclicLR(o, 0.1, 0.5, 4),
                lambda o: torch.optim.swa_utils.SWALR(o, 0.05), lambda o: schedules.LambdaLR(o, lambda t: 1 / (t + 1)),
                lambda o: schedules.CosineAnnealingWarmRestarts(o, 5), lambda o: schedules.ReduceLROnPlateau(o)]
        for make in made:
            def begun():
                optimizer = torch.optim.SGD([x], lr=0.1, momentum=0.9)
                return optimizer, make(optimizer)

            def rates(optimizer, scheduler, steps):
                for _ in range(steps):
                    optimizer.step()
                    scheduler.step(*[1.0] * isinstance(scheduler, schedules.ReduceLROnPlateau))
                    yield optimizer.param_groups[0]["lr"]
            whole = list(rates(*begun(), 8))
            first = begun()
            list(rates(*first, 3))
            block = packed({"parts": [part.state_dict() for part in first]})
            second = begun()
            with self.subTest(type(second[1]).__name__):
                for part, values in zip(second, unpacked(block)["parts"]):
                    part.load_state_dict(filled(values, part.state_dict()))
                self.assertEqual(list(rates(*second, 5)), whole[3:])

    def test_what_cannot_be_kept_is_named(self):
        with self.assertRaisesRegex(Error, r"\['loader'\]\['rows'\]\[0\] is a generator"):
            packed({"loader": {"rows": [(i for i in range(3))]}})

    def test_a_pickle_that_runs_something_is_refused(self):
        class Runs:
            def __reduce__(self):
                return print, ("ran",)
        block = io.BytesIO()
        torch.save({"text": Runs()}, block)
        with self.assertRaises(pickle.UnpicklingError):
            unpacked(block.getvalue())


if __name__ == "__main__":
    unittest.main()
