"""What a model and its optimizers say and do in their turns."""

import math
import os
import tempfile
import unittest

import torch

from grapevine import _library as lib
from grapevine._attached import Attached
from grapevine._errors import Disagreement, Error, Stopped
from grapevine._norms import Statistics, batches_of, recalibrate
from grapevine._session import Told
from grapevine._tensors import TrainedSet
from scripted import ScriptedProcess, ScriptedSession

ROUND = [lib.GRADIENT, lib.STEP]


def attached(turns, model, optimizers, evaluate=None, calibrate=None, **info):
    process = ScriptedProcess(ScriptedSession(turns, **info))
    made = Attached(process, optimizers, TrainedSet(model, None, optimizers), model, evaluate, calibrate, ())
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

    def test_two_networks_get_statistics_by_a_function_and_without_one_it_is_said_before_the_start(self):
        torch.manual_seed(1)
        first, second = torch.nn.Sequential(torch.nn.BatchNorm1d(3)), torch.nn.Sequential(torch.nn.BatchNorm1d(3))
        both, data = torch.nn.ModuleList([first, second]), torch.randn(64, 3) * 2 + 5
        self.assertRegex(Statistics(both, None, [data], None).tried(), "(?s)neither evaluated nor saved.*a function")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt")
            with self.assertRaises(Stopped):
                attached([lib.SAVE], both, [torch.optim.SGD(both.parameters(), lr=0.5)], task="ask", save_to=path,
                         calibrate=lambda: second(first(data)))
            self.assertTrue(torch.allclose(torch.load(path)["0.0.running_mean"], data.mean(0), atol=1e-5))

    def test_a_model_that_cannot_be_written_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            process = ScriptedProcess(ScriptedSession([lib.SAVE], task="ask", save_to=folder))
            with self.assertRaises(Stopped):
                Attached(process, [self.sgd], TrainedSet(self.model, None, [self.sgd]), self.model, None, None, ())
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

    def test_figures_and_state_are_tried_before_anything_is_attached(self):
        class Loader:
            def state_dict(self):
                return {"rows": (i for i in range(3))}
        for evaluate, state, words in ((lambda model: (0.5, 83.7), (), "divide percent by 100"),
                                       (lambda model: model.nothing, (), "tried once before the start"),
                                       (None, [Loader()], "cannot be kept in a checkpoint: .*rows")):
            process = ScriptedProcess(ScriptedSession([], tries=True))
            with self.assertRaisesRegex(Error, words):
                Attached(process, [self.sgd], TrainedSet(self.model, None, [self.sgd]), self.model, evaluate, None,
                         state)
            self.assertFalse(process.attached)

    def test_a_state_that_fails_later_costs_the_state_of_one_checkpoint(self):
        class Part:
            value = 1

            def state_dict(self):
                return {"value": self.value}
        process = ScriptedProcess(ScriptedSession([*ROUND, lib.SAVE, lib.GRADIENT], tries=True))
        Attached(process, [self.sgd], TrainedSet(self.model, None, [self.sgd]), self.model, None, None, [Part()])
        Part.value = (i for i in range(3))
        process.session.calls.clear()
        stepped(self.model, self.sgd)
        self.assertIn("this checkpoint holds the model alone", process.session.calls[2][1]["text"])
        self.assertEqual(process.session.calls[3], ("state", b""))

    def averaging(self, turns, **info):
        return attached(turns, self.model, [self.sgd], gradients="written", algorithm="all-reduce", **info)

    def test_gradients_averaged_before_the_step_are_not_averaged_again(self):
        process, _ = self.averaging(ROUND * 2 + [lib.GRADIENT])
        self.model(torch.ones(2, 3)).sum().backward()
        self.sgd.synchronize()
        self.sgd.synchronize()
        pointed = [call for call in process.session.calls if call and call[0] == "point"]
        self.assertEqual(len(pointed), 1)
        self.sgd.step()
        self.assertEqual([call for call in process.session.calls if call and call[0] == "point"], pointed)
        self.assertEqual(process.session.calls[-1], Told())

    def test_a_step_left_out_after_its_gradients_were_averaged_ends_its_turn(self):
        process, made = self.averaging(ROUND * 5)
        for how in ("clip", "step"):
            self.model(torch.ones(2, 3)).sum().backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.sgd.zero_grad()                          # `if not isfinite(norm): continue`
            process.session.calls.clear()
            self.model(torch.ones(2, 3)).sum().backward()
            self.sgd.synchronize() if how == "clip" else self.sgd.step()
            self.assertEqual(process.session.calls[0], Told())
            self.assertEqual(process.session.calls[1][:2], ("point", lib.GRADIENTS))

    def test_steps_that_would_break_the_model_are_left_out_and_told(self):
        for gradients, tells in (("kept", 0), ("written", 1), ("read", 1)):
            optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
            turns = [lib.GRADIENT] * 3 if gradients == "read" else ROUND * 2 + [lib.GRADIENT]
            process, made = attached(turns, self.model, [optimizer], gradients=gradients, algorithm="all-reduce")
            value = self.model.weight.tolist()
            for factor in (float("nan"), 1.0):
                optimizer.zero_grad()
                (self.model(torch.ones(2, 3)).sum() * factor).backward()
                optimizer.step()
                if factor != 1.0:
                    self.assertEqual(self.model.weight.tolist(), value)
            if gradients != "read":
                self.assertNotEqual(self.model.weight.tolist(), value)
            said = [call[1]["text"] for call in process.session.calls if call and call[0] == "say"]
            self.assertEqual(len(said), 1)
            self.assertRegex(said[0], "the gradient of weight.* is not finite")
            told = [call for call in process.session.calls if isinstance(call, Told) and call.loss is not None]
            self.assertNotEqual(told[0].loss, told[0].loss)
            made.detach()

    def test_an_unused_parameter_has_no_gradient_and_is_left_alone(self):
        model = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 1), "unused": torch.nn.Linear(3, 1)})
        sgd = torch.optim.SGD(model.parameters(), lr=0.5, weight_decay=0.5)
        attached(ROUND + [lib.GRADIENT], model, [sgd], gradients="written", algorithm="all-reduce")
        value = model["unused"].weight.tolist()
        stepped(model["used"], sgd)
        self.assertIsNone(model["unused"].weight.grad)
        self.assertEqual(model["unused"].weight.tolist(), value)

    def test_what_is_frozen_later_is_told_and_what_is_trained_later_is_refused(self):
        process, _ = attached(ROUND * 2 + [lib.GRADIENT], self.model, [self.sgd])
        self.model.bias.requires_grad_(False)
        stepped(self.model, self.sgd)
        self.assertIn("bias: frozen by the script", process.session.calls[0][1]["text"])
        self.sgd.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]})
        with self.assertRaisesRegex(Disagreement, r"optimizer0.2 \[1\] is trained now"):
            stepped(self.model, self.sgd)

    def test_another_phase_goes_on_with_another_optimizer_of_the_same_tensors(self):
        process, made = attached(ROUND * 4, self.model, [self.sgd])
        stepped(self.model, self.sgd)
        second = torch.optim.Adam(self.model.parameters(), lr=0.1)
        with self.assertRaisesRegex(Disagreement, "optimizer0.2 .* is trained now"):
            made.change([torch.optim.SGD([*self.model.parameters(), torch.nn.Parameter(torch.ones(1))], lr=1)], ())
        made.change([second], ())
        process.session.calls.clear()
        stepped(self.model, second)
        self.assertEqual(process.session.calls, [Told(), Told()])

    def test_steps_of_an_optimizer_that_was_not_given_are_an_error_or_said(self):
        other = torch.optim.SGD(self.model.parameters(), lr=0.5)
        elsewhere = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
        _, made = self.averaging(ROUND * 4)
        stepped(self.model, self.sgd, elsewhere)
        with self.assertRaisesRegex(Error, "was not given steps weight, bias: SGD"):
            stepped(self.model, other)
        made.detach()
        process, made = attached(ROUND * 4, self.model, [self.sgd])
        for _ in range(30):
            stepped(self.model, other, elsewhere)
        said = [call[1]["text"] for call in process.session.calls]
        self.assertEqual(len(said), 1)
        self.assertIn("without a turn: an optimizer that DistributedOptimizer was not given", said[0])
        made.detach()

        class Around(torch.optim.SGD):
            def step(self, closure=None):
                inner.step()
        inner = torch.optim.SGD(self.model.parameters(), lr=0.5)
        _, made = self.averaging(ROUND * 4)
        made.change([inner], ())
        stepped(self.model, Around(self.model.parameters(), lr=0.5))

    def resumed(self, aware, steps):
        process = ScriptedProcess(ScriptedSession(ROUND * 5))
        process.progress.aware = aware
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5, momentum=0.5)
        made = Attached(process, [optimizer], TrainedSet(self.model, None, [optimizer]), self.model, None, None, ())
        for _ in range(steps):
            stepped(self.model, optimizer)
        block = made.save()
        made.detach()
        process = ScriptedProcess(ScriptedSession(ROUND * 5, rejoined=True))
        process.session.take_state = lambda: block
        again = torch.optim.SGD(self.model.parameters(), lr=0.5, momentum=0.5)
        made = Attached(process, [again], TrainedSet(self.model, None, [again]), self.model, None, None, ())
        process.session.calls.clear()
        return process, optimizer, again

    def test_a_loop_that_counts_from_the_beginning_makes_its_steps_again_without_training(self):
        process, before, optimizer = self.resumed(aware=False, steps=3)
        value = self.model.weight.tolist()
        for left in (2, 1, 0):
            optimizer.zero_grad()
            stepped(self.model, optimizer)
            self.assertEqual(self.model.weight.tolist(), value)
            self.assertEqual(len(optimizer.state) > 0, left == 0)       # it has its momentum again behind the last one
        self.assertEqual([call[0] for call in process.session.calls], ["say"])
        stepped(self.model, optimizer)
        self.assertNotEqual(self.model.weight.tolist(), value)

    def test_a_loop_that_asks_for_its_place_resumes_at_once(self):
        process, before, optimizer = self.resumed(aware=True, steps=3)
        self.assertEqual(optimizer.state_dict()["param_groups"], before.state_dict()["param_groups"])
        self.assertGreater(len(optimizer.state), 0)
        value = self.model.weight.tolist()
        stepped(self.model, optimizer)
        self.assertNotEqual(self.model.weight.tolist(), value)

    def test_where_servers_step_the_optimizer_does_not(self):
        _, _ = attached([lib.GRADIENT] * 3, self.model, [self.sgd], gradients="read")
        value = self.model.weight.tolist()
        stepped(self.model, self.sgd)
        self.assertEqual(self.model.weight.tolist(), value)

    def servers(self, **step):
        usual = {"kind": "sgd", "lr": 0.5, "momentum": 0.0, "nesterov": False, "weight_decay": 0.0, "beta1": 0.9,
                 "beta2": 0.999, "epsilon": 1e-8, "schedule": "constant"}
        return {"algorithm": "parameter-server", "gradients": "read", "servers_step": {**usual, **step}}

    def test_servers_that_step_otherwise_than_the_script_are_refused(self):
        parameters = list(self.model.parameters())
        unlike = [({"lr": 0.1}, self.sgd, "kind: sgd, lr: 0.1 of the fleet file.*kind: sgd, lr: 0.5"),
                  ({"momentum": 0.9}, self.sgd, "lr: 0.5, momentum: 0.9 of the fleet file"),
                  ({"kind": "adam"}, self.sgd, "kind: adam"),
                  ({}, torch.optim.AdamW(parameters, lr=0.5), "kind: adamw, lr: 0.5$"),
                  ({}, torch.optim.RMSprop(parameters, lr=0.5), "kind: RMSprop, lr: 0.5: the servers have no RMSprop"),
                  ({}, torch.optim.SGD(parameters, lr=0.5, momentum=0.9, dampening=0.1), "servers have no dampening"),
                  ({}, torch.optim.SGD(parameters[:1], lr=0.5), "would step bias, which the script's optimizer does"),
                  ({"kind": "adagrad", "lr": 0.1}, self.sgd, "rate is 0.5, and the servers step at 0.1"),
                  ({}, torch.optim.SGD([{"params": parameters[:1]}, {"params": parameters[1:], "lr": 1.0}], lr=0.5),
                   "lr: 1.0$")]
        for step, optimizer, words in unlike:
            with self.subTest(words), self.assertRaisesRegex(Error, "(?m)" + words):
                attached([lib.GRADIENT], self.model, [optimizer], **self.servers(**step))

    def test_servers_that_step_as_the_script_does_are_taken(self):
        parameters = list(self.model.parameters())
        adam = torch.optim.Adam(parameters, lr=1e-3, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1)
        for step, optimizer in [({}, self.sgd), ({"kind": "adagrad"}, self.sgd), (
                {"kind": "adam", "lr": 1e-3, "beta1": 0.8, "beta2": 0.99, "epsilon": 1e-6, "weight_decay": 0.1}, adam)]:
            _, made = attached([lib.GRADIENT] * 2, self.model, [optimizer], **self.servers(**step))
            stepped(self.model, optimizer)
            made.detach()

    def test_what_servers_move_without_a_gradient_is_said_once(self):
        parameters = list(self.model.parameters())
        for values, said in [({"momentum": 0.0}, 0), ({"momentum": 0.9}, 1)]:
            optimizer = torch.optim.SGD(parameters, lr=0.5, **values)
            process, made = attached([lib.GRADIENT] * 4, self.model, [optimizer], **self.servers(**values))
            self.model.bias.requires_grad_(False)
            for _ in range(2):
                optimizer.zero_grad(set_to_none=True)
                stepped(self.model, optimizer)
            texts = [call[1]["text"] for call in process.session.calls if isinstance(call, tuple) and call[0] == "say"]
            self.assertIn("bias: frozen by the script from now on. The fleet still takes their values", texts[0])
            self.assertEqual([text[:26] for text in texts[1:]], ["bias: no gradient here. The"[:26]] * said)
            self.model.bias.requires_grad_(True)
            made.detach()

    def test_a_schedule_of_the_script_alone_is_refused_under_servers(self):
        _, made = attached([lib.GRADIENT] * 3, self.model, [self.sgd], **self.servers())
        stepped(self.model, self.sgd)
        scheduler = torch.optim.lr_scheduler.StepLR(self.sgd, 1)
        stepped(self.model, self.sgd)
        scheduler.step()
        with self.assertRaisesRegex(Error, "rate is 0.05, and the servers step at 0.5"):
            stepped(self.model, self.sgd)
        made.detach()
        with self.assertRaisesRegex(Error, "a scheduler"):
            again = torch.optim.SGD(self.model.parameters(), lr=0.5)
            torch.optim.lr_scheduler.StepLR(again, 1)
            attached([lib.GRADIENT], self.model, [again], **self.servers())
        attached([lib.GRADIENT], self.model, [again], **self.servers(schedule="cosine"))

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

    def test_without_calibrate_the_data_of_the_sampler_or_of_evaluate_count_and_never_the_initial_ones(self):
        torch.manual_seed(1)
        data = torch.randn(64, 3) * 2 + 5
        rows = torch.utils.data.TensorDataset(data)
        for datasets, evaluate in (([rows], None), ([], lambda model: model(data)),
                                   ([range(3)], lambda model: model(data))):
            model = torch.nn.Sequential(torch.nn.BatchNorm1d(3)).eval()
            statistics = Statistics(model, None, datasets, evaluate and (lambda: evaluate(model)))
            self.assertIn("evaluate" if evaluate else "gv.Sampler", statistics.tried())
            self.assertEqual((model[0].running_mean.abs().sum().item(), model[0].training), (0, False))
            statistics.renew()
            self.assertTrue(torch.allclose(model[0].running_mean, data.mean(0), atol=1e-5))
        words = "have no statistics.*evaluate failed: a batch norm has seen no batch\n.*calibrate="
        with self.assertRaisesRegex(Error, words):
            Statistics(model, None, [], lambda: None).renew()
        self.assertIn("no statistics", Statistics(model, None, [], None).tried())
        self.assertIsNone(Statistics(torch.nn.Linear(1, 1), None, [], None).tried())

    def test_without_a_sampler_the_data_of_a_loader_count_and_those_in_a_random_order_first(self):
        torch.manual_seed(1)
        data = torch.randn(64, 3) * 2 + 5
        test = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data + 9))
        train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), shuffle=True)
        model = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
        statistics = Statistics(model, None, [], None)
        self.assertIn("the data set of a DataLoader", statistics.tried())
        statistics.renew()
        self.assertTrue(torch.allclose(model[0].running_mean, data.mean(0), atol=1e-5))
        del test, train

    def test_samples_may_be_dictionaries_and_what_does_not_run_is_said_before_the_start(self):
        class Named(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm1d(3)

            def forward(self, pixels):
                return self.norm(pixels)

        class Whole(Named):
            def forward(self, batch):
                return self.norm(batch["pixels"])

        data = torch.randn(64, 3) * 2 + 5
        rows = [{"pixels": row, "label": i} for i, row in enumerate(data)]
        for model in (Named(), Whole(), torch.nn.Sequential(torch.nn.BatchNorm1d(3))):
            statistics = Statistics(model, None, [rows], None)
            self.assertIn("the data set of gv.Sampler", statistics.tried())
            statistics.renew()
            norm, = (module for module in model.modules() if isinstance(module, torch.nn.BatchNorm1d))
            self.assertTrue(torch.allclose(norm.running_mean, data.mean(0), atol=1e-5))
        odd = [{"label": i, "pixels": row} for i, row in enumerate(data)]
        self.assertRegex(Statistics(torch.nn.Sequential(torch.nn.BatchNorm1d(3)), None, [odd], None).tried(),
                         "(?s)neither evaluated nor saved whole.*gv.Sampler failed.*help: DistributedOptimizer")

    def test_batches_lie_evenly_over_a_data_set(self):
        batches = list(batches_of(list(range(5000))))
        self.assertEqual((len(batches), sum(map(len, batches))), (16, 1024))
        self.assertEqual(sorted(int(row) for batch in batches for row in batch)[-1], 4995)
        self.assertEqual([batch.tolist() for batch in batches_of([7, 8, 9])], [[7], [8], [9]])


if __name__ == "__main__":
    unittest.main()
