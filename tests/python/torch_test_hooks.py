"""The two calls around an optimizer's step: closures, schedulers, scalers, steps that must do nothing."""

import unittest
import warnings

import torch

from grapevine._errors import Error
from grapevine._hooks import Hooks, plain

OPTIMIZERS = ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"]
OPTIONS = {"SGD": {"momentum": 0.9, "weight_decay": 0.1}}


class HooksTest(unittest.TestCase):
    def setUp(self):
        self.x = torch.nn.Parameter(torch.ones(2))
        self.calls = []
        self.steps = True

    def hooked(self, optimizer):
        def before(loss):
            self.calls.append(("before", self.x.tolist(), None if loss is None else float(loss.detach())))
            return self.steps
        return Hooks(optimizer, before, lambda: self.calls.append(("after", self.x.tolist())))

    def loss(self):
        self.x.grad = None
        loss = (self.x ** 2).sum() / 2
        loss.backward()
        return loss

    def test_before_and_after_a_step(self):
        optimizer = torch.optim.SGD([self.x], lr=0.5)
        self.hooked(optimizer)
        self.loss()
        optimizer.step()
        self.assertEqual(self.calls, [("before", [1.0, 1.0], None), ("after", [0.5, 0.5])])

    def test_a_closure_is_followed_by_before(self):
        optimizer = torch.optim.SGD([self.x], lr=0.5)
        self.hooked(optimizer)
        self.assertEqual(float(optimizer.step(self.loss)), 1.0)
        self.assertEqual(float(optimizer.step(closure=self.loss)), 0.25)
        self.assertEqual(self.calls, [("before", [1.0, 1.0], 1.0), ("after", [0.5, 0.5]),
                                      ("before", [0.5, 0.5], 0.25), ("after", [0.25, 0.25])])

    def test_a_subclass_whose_step_calls_its_bases_makes_one_step(self):
        class Own(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)
        torch.optim.SGD([self.x], lr=0.5)       # from the first one on, PyTorch calls hooks in the base's step too
        optimizer = Own([self.x], lr=0.5)
        self.hooked(optimizer)
        self.loss()
        optimizer.step()
        optimizer.step(self.loss)
        self.assertEqual(self.calls, [("before", [1.0, 1.0], None), ("after", [0.5, 0.5]),
                                      ("before", [0.5, 0.5], 0.25), ("after", [0.25, 0.25])])
        with self.assertRaises(ValueError):
            optimizer.step(lambda: float("nothing"))
        self.calls.clear()
        self.loss()
        optimizer.step()        # of one that failed nothing is left
        self.assertEqual([name for name, *_ in self.calls], ["before", "after"])

    def test_more_than_one_gradient_a_step_is_refused(self):
        with self.assertRaisesRegex(Error, "LBFGS computes several"):
            self.hooked(torch.optim.LBFGS([self.x]))

        class Twice(torch.optim.SGD):
            def step(self, closure=None):
                closure()
                return closure()
        optimizer = Twice([self.x], lr=0.5)
        self.hooked(optimizer)
        with self.assertRaisesRegex(Error, "Twice calls its closure more than once"):
            optimizer.step(self.loss)

    def test_a_step_that_must_not_be_does_nothing_in_any_optimizer(self):
        for name in OPTIMIZERS:
            with self.subTest(name):
                optimizer = getattr(torch.optim, name)([self.x], lr=0.5, **OPTIONS.get(name, {}))
                hooks = self.hooked(optimizer)
                self.steps = True
                self.loss()
                optimizer.step()        # so that there is a momentum that could move x
                value = self.x.tolist()
                self.steps = False
                self.loss()
                optimizer.step()
                optimizer.step(self.loss)
                self.assertEqual(self.x.tolist(), value)
                hooks.remove()

    def test_a_scheduler_before_or_behind_neither_warns_nor_loses_steps(self):
        for first in ("scheduler", "hooks"):
            with self.subTest(first), warnings.catch_warnings():
                warnings.simplefilter("error")
                optimizer = torch.optim.SGD([self.x], lr=1.0)
                made = []
                makers = [lambda: made.append(torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)),
                          lambda: self.hooked(optimizer)]
                for make in makers if first == "scheduler" else reversed(makers):
                    make()
                for expected in (0.5, 0.25):
                    self.loss()
                    optimizer.step()
                    made[0].step()
                    self.assertEqual(optimizer.param_groups[0]["lr"], expected)

    def test_scalers_and_clipping_average_first_and_only_for_the_optimizer_with_hooks(self):
        other = torch.nn.Parameter(torch.ones(2))
        optimizer, plain = torch.optim.SGD([self.x], lr=0.5), torch.optim.SGD([other], lr=0.5)
        averaged = []
        hooks = Hooks(optimizer, lambda loss: True, lambda: None, lambda: averaged.append(1))
        other.grad = torch.ones(2)
        self.loss()
        torch.nn.utils.clip_grad_norm_([other], 1.0)
        self.assertEqual(averaged, [])
        torch.nn.utils.clip_grad_norm_(iter([self.x]), 1.0)
        torch.nn.utils.clip_grad_value_(self.x, 1.0)
        self.assertEqual(averaged, [1, 1])
        kind = getattr(torch.amp, "GradScaler", None)
        if kind is not None:        # on the CPU since torch 2.3
            scaler = kind("cpu")
            scaler.scale((other ** 2).sum()).backward()
            scaler.step(plain)
            self.assertEqual(averaged, [1, 1])
            scaler.scale((self.x ** 2).sum()).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            self.assertEqual(averaged, [1] * 4)
        optimizer.synchronize()
        with optimizer.skip_synchronize():
            optimizer.step()
        self.assertEqual(averaged[-1:], [1])
        hooks.remove()
        self.assertFalse(hasattr(optimizer, "synchronize"))
        count = len(averaged)
        torch.nn.utils.clip_grad_norm_([self.x], 1.0)
        self.assertEqual(len(averaged), count)

    def test_the_optimizer_inside_one_that_wraps_it_is_found(self):
        class Wrapper(torch.optim.Optimizer):
            """As accelerate's: an Optimizer whose __init__ is never called."""

            def __init__(self, optimizer):
                self.optimizer = optimizer

            def step(self, closure=None):
                self.optimizer.step(closure)

            @property
            def param_groups(self):
                return self.optimizer.param_groups
        inner = torch.optim.SGD([self.x], lr=0.5)
        self.assertIs(plain(inner), inner)
        if hasattr(inner, "_optimizer_step_pre_hooks"):       # since torch 2.0
            self.assertIs(plain(Wrapper(Wrapper(inner))), inner)
        self.hooked(plain(Wrapper(inner)))
        self.loss()
        Wrapper(inner).step()
        self.assertEqual(self.calls, [("before", [1.0, 1.0], None), ("after", [0.5, 0.5])])

    def test_removed_hooks_leave_the_optimizer_as_it_was(self):
        optimizer = torch.optim.SGD([self.x], lr=0.5)
        hooks = self.hooked(optimizer)
        self.assertIs(type(optimizer), torch.optim.SGD)
        hooks.remove()
        self.loss()
        optimizer.step()
        self.assertEqual(self.calls, [])
        self.assertEqual(self.x.tolist(), [0.5, 0.5])

    def test_the_state_is_the_optimizers_own(self):
        optimizer = torch.optim.Adam([self.x], lr=0.5)
        self.hooked(optimizer)
        self.loss()
        optimizer.step()
        other = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))], lr=0.1)
        other.load_state_dict(optimizer.state_dict())
        self.assertEqual(other.param_groups[0]["lr"], 0.5)


if __name__ == "__main__":
    unittest.main()
