"""What a checkpoint keeps of a script comes back as it was, and nothing in it is executed."""

import io
import pickle
import random
import unittest

import torch

from grapevine._errors import Error
from grapevine._state import packed, unpacked


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

    def test_what_cannot_be_kept_is_named(self):
        with self.assertRaisesRegex(Error, r"\['scheduler'\]\['lr_lambdas'\]\[0\] is a function"):
            packed({"scheduler": {"lr_lambdas": [lambda epoch: 1]}})

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
