"""What a model and its optimizers say and do in their turns."""

import math
import os
import tempfile
import unittest

import torch

from grapevine import _library as lib
from grapevine._attached import Attached, recalibrate
from grapevine._errors import Error, Stopped
from grapevine._session import Told
from grapevine._tensors import trained
from scripted import ScriptedProcess, ScriptedSession

ROUND = [lib.GRADIENT, lib.STEP]


def attached(turns, model, optimizers, evaluate=None, calibrate=None, **info):
    process = ScriptedProcess(ScriptedSession(turns, **info))
    made = Attached(process, optimizers, trained(model, None, optimizers), model, evaluate, calibrate, ())
    process.session.calls.clear()
    return process, made


def stepped(model, *optimizers):
    model(torch.ones(2, 3)).sum().backward()
    for optimizer in optimizers:
        optimizer.step()


class AttachedTest(unittest.TestCase):
    def setUp(self):
        self.model = torch.nn.Linear(3, 1)
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=0.5)

    def test_the_loss_of_a_turn_is_the_mean_of_what_was_logged(self):
        process, made = attached(ROUND * 2 + [lib.GRADIENT], self.model, [self.sgd], rate=True)
        made.log(torch.tensor(1.0, requires_grad=True), {"lr": 0.5, "odd": float("nan")})
        made.log(2.0, {})
        stepped(self.model, self.sgd)
        self.assertEqual(process.session.calls, [("say", {"log": {"lr": 0.5}}), Told(loss=1.5, rate=0.5), Told()])
        process.session.calls.clear()
        stepped(self.model, self.sgd)
        self.assertEqual(process.session.calls, [Told(rate=0.5), Told()])

    def test_the_last_of_several_optimizers_ends_the_turn(self):
        other = torch.nn.Parameter(torch.ones(1))
        first = torch.optim.SGD([other], lr=1)
        process, made = attached(ROUND + [lib.GRADIENT], self.model, [first, self.sgd])
        self.assertEqual(process.session.attached[0], ["weight", "bias", "optimizer0.0"])
        first.step()
        self.assertEqual(process.session.calls, [])
        stepped(self.model, self.sgd)
        self.assertEqual(process.session.calls, [Told(), Told()])

    def test_the_whole_model_is_written_where_the_launcher_asks_for_it(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        sgd = torch.optim.SGD(model.parameters(), lr=0.5)
        calibrate = [torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt")
            with self.assertRaises(Stopped):
                attached([lib.SAVE], model, [sgd], calibrate=calibrate, task="ask", save_to=path)
            written = torch.load(path)
        self.assertEqual(list(written), list(model.state_dict()))
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(written[name], value), name)
        self.assertTrue(torch.allclose(written["1.running_mean"], model[0](calibrate[0]).mean(0)))

    def test_a_model_that_cannot_be_written_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            process = ScriptedProcess(ScriptedSession([lib.SAVE], task="ask", save_to=folder))
            with self.assertRaises(Stopped):
                Attached(process, [self.sgd], trained(self.model, None, [self.sgd]), self.model, None, None, ())
        self.assertTrue(process.session.attached[1]["whole"])
        said = [call[1]["text"] for call in process.session.calls if isinstance(call, tuple) and call[0] == "say"]
        self.assertEqual(len(said), 1)
        self.assertIn("the model could not be written", said[0])

    def test_optimizers_that_a_method_does_not_go_with_are_refused(self):
        momentum = torch.optim.SGD(self.model.parameters(), lr=0.5, momentum=0.9)
        with self.assertRaisesRegex(Error, "quasi-global-momentum is the momentum"):
            attached([], self.model, [momentum], algorithm="quasi-global-momentum", gradients="written")
        with self.assertRaisesRegex(Error, "all-reduce sends gradients, of one optimizer, and there are 2"):
            attached([], self.model, [self.sgd, momentum], algorithm="all-reduce", gradients="written")
        groups = torch.optim.SGD([{"params": [self.model.weight]}, {"params": [self.model.bias], "lr": 0.1}], lr=0.5)
        with self.assertRaisesRegex(Error, "slowmo needs one learning rate, .* 0.1, 0.5"):
            attached([], self.model, [groups], algorithm="slowmo", rate=True)

    def test_a_refused_optimizer_is_a_plain_one_again(self):
        groups = torch.optim.SGD([{"params": [self.model.weight]}, {"params": [self.model.bias], "lr": 0.1}], lr=0.5)
        with self.assertRaises(Error):
            attached([], self.model, [groups], rate=True)
        stepped(self.model, groups)

    def test_gradients_are_pointed_at_where_they_are_read(self):
        process, _ = attached(ROUND + [lib.GRADIENT], self.model, [self.sgd], gradients="read")
        stepped(self.model, self.sgd)
        self.assertEqual(process.session.calls[0],
                         ("point", lib.GRADIENTS, [p.grad.data_ptr() for p in self.model.parameters()]))

    def test_where_servers_step_the_optimizer_does_not(self):
        _, _ = attached([lib.GRADIENT] * 3, self.model, [self.sgd], gradients="read")
        value = self.model.weight.tolist()
        stepped(self.model, self.sgd)
        self.assertEqual(self.model.weight.tolist(), value)

    def test_a_stopped_fleet_ends_the_script_or_its_loop(self):
        process, _ = attached(ROUND, self.model, [self.sgd])
        with self.assertRaises(Stopped):
            stepped(self.model, self.sgd)
        other = torch.optim.SGD(self.model.parameters(), lr=0.5)
        process, _ = attached(ROUND, self.model, [other])
        given = 0
        for _ in process.progress.running(range(100)):
            given += 1
            stepped(self.model, other)
        self.assertEqual(given, 1)
        with self.assertRaises(Stopped) as stop:
            other.step()
        self.assertEqual(stop.exception.code, 0)

    def test_the_scout_ends_when_nothing_is_asked_any_more(self):
        with self.assertRaises(Stopped):
            attached([lib.EVALUATE], self.model, [self.sgd], evaluate=lambda model: 1.0, task="ask")

    def test_evaluation_leaves_modes_as_they_were_and_takes_no_gradients(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(), torch.nn.Linear(3, 1))
        model[1].eval()
        seen = []

        def evaluate(of):
            seen.append((of.training, torch.is_grad_enabled()))
            return torch.tensor(0.5), torch.tensor(0.25)
        _, made = attached([lib.GRADIENT], model, [torch.optim.SGD(model.parameters(), lr=1)], evaluate)
        self.assertEqual(made.evaluate(), Told(test_loss=0.5, accuracy=0.25))
        self.assertEqual(seen, [(False, False)])
        self.assertEqual([module.training for module in model.modules()], [True, True, False, True])

    def test_a_failing_evaluation_is_no_figure_and_training_goes_on(self):
        process, made = attached([lib.GRADIENT], self.model, [self.sgd], lambda model: model.nothing)
        self.assertTrue(math.isnan(made.evaluate().test_loss))
        self.assertIn("has no attribute 'nothing'", process.session.calls[0][1]["text"])


class RecalibrationTest(unittest.TestCase):
    def test_running_statistics_become_those_of_the_batches(self):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
        model.eval()
        model[0].running_mean.fill_(9)
        data = torch.randn(64, 3) * 2 + 5
        recalibrate(model, [(batch, None) for batch in data.split(16)])
        self.assertTrue(torch.allclose(model[0].running_mean, data.mean(0), atol=1e-5))
        self.assertEqual((model[0].momentum, model[0].training), (0.1, False))


if __name__ == "__main__":
    unittest.main()
