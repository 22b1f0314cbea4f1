"""Which tensors travel, which are refused and why, and what keeps memory and parameters the same."""

import unittest
from unittest import mock

import torch

from grapevine import _library as lib
from grapevine._errors import Disagreement, Error
from grapevine._tensors import Tensors, TrainedSet, dense
from scripted import ScriptedSession


class TrainedTest(unittest.TestCase):
    def test_frozen_parameters_stay_out_and_those_without_optimizer_come(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
        model[0].weight.requires_grad_(False)
        optimizer = torch.optim.SGD(model[0].parameters(), lr=1)
        self.assertEqual(list(TrainedSet(model, None, [optimizer]).parameters), ["0.bias", "1.weight", "1.bias"])

    def test_what_only_the_optimizer_has_comes_too(self):
        model, extra = torch.nn.Linear(2, 2), torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([*model.parameters(), extra], lr=1)
        self.assertEqual(list(TrainedSet(model, None, [optimizer]).parameters), ["weight", "bias", "optimizer0.2"])
        self.assertEqual(list(TrainedSet(None, None, [optimizer]).parameters),
                         ["optimizer0.0", "optimizer0.1", "optimizer0.2"])
        self.assertEqual(list(TrainedSet(None, model.named_parameters(), [optimizer]).parameters),
                         ["weight", "bias", "optimizer0.2"])

    def test_shared_parameters_travel_once(self):
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        model[1].weight = model[0].weight
        self.assertEqual(list(TrainedSet(model, None, []).parameters), ["0.weight", "0.bias", "1.bias"])

    def test_what_cannot_travel_is_refused_by_name(self):
        zeros = torch.zeros(4, 2)
        refused = [
            ("float16, in which a small difference", zeros.half()), ("bfloat16, in which a small", zeros.bfloat16()),
            ("float64: parameters travel as float32", zeros.double()), ("complex64", zeros.to(torch.complex64)),
            ("sparse_coo: parameters travel dense", zeros.to_sparse()), ("expanded", torch.zeros(1, 2).expand(4, 2)),
            ("expanded, or a part of another tensor", torch.zeros(4, 4)[:, :2])]
        for words, tensor in refused:
            with self.assertRaisesRegex(Error, f"fc.weight is {words}"):
                TrainedSet(None, [("fc.weight", tensor.requires_grad_())], [])

    def test_a_lazy_model_needs_a_batch_first(self):
        with self.assertRaisesRegex(Error, "weight has no shape yet"):
            TrainedSet(torch.nn.LazyLinear(2), None, [])

    def test_what_is_trained_later_is_named_before_the_step(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
        model[0].requires_grad_(False)
        optimizer = torch.optim.SGD(model[1].parameters(), lr=1)
        trained = TrainedSet(model, None, [optimizer])
        self.assertEqual(trained.look(), [])
        extra = torch.nn.Parameter(torch.zeros(3))
        model[0].weight.requires_grad_(True)
        with self.assertRaisesRegex(Disagreement, r"0.weight \[2, 3\] is trained now, and was not"):
            trained.look()
        model[0].weight.requires_grad_(False)
        optimizer.add_param_group({"params": [extra]})
        with self.assertRaisesRegex(Disagreement, r"optimizer0.2 \[3\] is trained now"):
            trained.look()
        optimizer.param_groups.pop()
        model.add_module("more", torch.nn.Linear(1, 1))
        with self.assertRaisesRegex(Disagreement, r"more.weight \[1, 1\] is trained now"):
            trained.look()
        del model.more
        model[1] = torch.nn.Linear(2, 1)
        with self.assertRaisesRegex(Disagreement, r"1.weight .*another tensor had its name"):
            trained.look()

    def test_what_is_frozen_later_is_said_once_and_may_be_trained_again(self):
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
        trained = TrainedSet(model, None, [torch.optim.SGD(model.parameters(), lr=1)])
        model[0].requires_grad_(False)
        self.assertEqual(trained.look(), ["0.bias", "0.weight"])
        self.assertEqual(trained.look(), [])
        model[0].requires_grad_(True)
        self.assertEqual(trained.look(), [])

    def test_a_model_without_parameters_is_refused(self):
        with self.assertRaisesRegex(Error, "nothing of the model can be trained"):
            TrainedSet(torch.nn.ReLU(), None, [])

    def test_dense_in_any_order(self):
        self.assertTrue(dense(torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)))
        self.assertTrue(dense(torch.zeros(3, 4).t()))
        self.assertTrue(dense(torch.zeros(0, 4)))
        self.assertTrue(dense(torch.zeros(())))
        self.assertFalse(dense(torch.zeros(3, 4)[:, ::2]))


class MemoryTest(unittest.TestCase):
    def tensors(self, *shapes):
        model = {f"x{i}": torch.nn.Parameter(torch.randn(shape)) for i, shape in enumerate(shapes)}
        return Tensors(model), list(model.values())

    def test_they_are_described_where_they_lie(self):
        parameter = torch.nn.Parameter(torch.randn(4, 3).t())
        described = Tensors({"w": parameter}).described()
        self.assertEqual(described, [("w", "float32", (3, 4), (1, 3), parameter.data_ptr())])

    def test_a_tensor_that_moved_is_pointed_at(self):
        tensors, (x, y) = self.tensors((3,), (2, 2))
        session = ScriptedSession([])
        tensors.give(session)
        self.assertEqual(session.calls, [])
        x.data = torch.ones(3)
        tensors.give(session)
        self.assertEqual(session.calls, [("point", lib.PARAMETERS, [x.data_ptr(), y.data_ptr()])])

    def test_values_that_a_script_replaces_by_other_memory_are_named_once(self):
        model = torch.nn.Linear(3, 2)
        tensors, session = Tensors(dict(model.named_parameters())), ScriptedSession([])
        model.weight.data = model.weight.data.clone()
        tensors.give(session)
        self.assertEqual(tensors.take_replaced(), [])
        model.weight.data.add_(1)       # as a step does
        tensors.give(session)
        self.assertEqual(tensors.take_replaced(), [])
        model.weight.data = torch.ones(2, 3)
        tensors.give(session)
        self.assertEqual((tensors.take_replaced(), tensors.take_replaced()), (["weight"], []))

    def test_a_tensor_that_became_another_is_a_disagreement(self):
        for other in (torch.ones(4), torch.ones(3, dtype=torch.float64)):
            tensors, (x,) = self.tensors((3,))
            x.data = other
            with self.assertRaisesRegex(Disagreement, "x0 has changed"):
                tensors.give(ScriptedSession([]))

    def test_a_part_of_itself_is_another_tensor_at_the_same_address(self):
        tensors, (x,) = self.tensors((8, 2))
        x.data = x.data[:4]
        with self.assertRaisesRegex(Disagreement, r"x0 has changed: \[8, 2\].*now \[4, 2\]"):
            tensors.give(ScriptedSession([]))

    def test_a_gradient_that_no_peer_has_stays_none(self):
        for mean, means, expected in ((-0.0, True, None), (0.0, True, [0.0] * 3), (0.0, False, None),
                                      (2.0, True, [2.0] * 3)):
            tensors, (x,) = self.tensors((3,))
            tensors.gradients()
            self.assertTrue(bool(torch.signbit(tensors._given[0]).all()))
            tensors._given[0].fill_(mean)       # as the fleet makes it
            tensors.take_gradients(means)
            self.assertEqual(x.grad if x.grad is None else x.grad.tolist(), expected)

    def test_a_gradient_of_negative_zeros_is_there(self):
        tensors, (x, y) = self.tensors((3,), (2, 2))
        x.grad = torch.full((3,), -0.0)
        y.grad = torch.full((2, 2), -0.0).t()       # another layout: a copy
        tensors.gradients()
        for given in tensors._given:
            self.assertFalse(bool(torch.signbit(given).all()))
            self.assertFalse(bool(given.any()))

    def test_gradients_that_are_not_finite_are_named(self):
        tensors, (x, y) = self.tensors((3,), (2,))
        self.assertTrue(tensors.finite_gradients())
        x.grad, y.grad = torch.full((3,), 1e30), torch.ones(2)      # whose norm is too large for a float
        self.assertTrue(tensors.finite_gradients())
        for value in (float("nan"), float("inf")):
            y.grad = torch.tensor([1.0, value])
            self.assertFalse(tensors.finite_gradients())
            self.assertEqual(tensors.broken_gradients(), ["x1"])

    def test_gradients_lie_in_place_where_their_layout_is_the_parameters(self):
        tensors, (x, y, z) = self.tensors((3,), (2, 3), (2,))
        x.grad, y.grad = torch.ones(3), torch.ones(3, 2).t()
        addresses = tensors.gradients()
        self.assertEqual(addresses[0], x.grad.data_ptr())
        self.assertNotEqual(addresses[1], y.grad.data_ptr())      # another order of memory: a copy
        tensors._given[1].fill_(5)
        tensors._given[2].fill_(7)                                 # there was none: zeros until now
        tensors.take_gradients(means=True)
        self.assertEqual(y.grad.tolist(), [[5.0] * 3] * 2)
        self.assertEqual(z.grad.tolist(), [7.0, 7.0])

    def test_autograd_sees_that_the_values_changed(self):
        if not hasattr(torch.autograd.graph, "increment_version"):
            self.skipTest(f"torch {torch.__version__} has no increment_version")
        tensors, (x,) = self.tensors((3,))
        y = (x * x).sum()
        tensors.take()
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    def test_on_another_device_there_is_a_copy(self):
        with mock.patch("grapevine._tensors.on_cpu", lambda p: False):
            tensors, (x,) = self.tensors((3,))
        with torch.no_grad():
            x.fill_(2)
        tensors.give(ScriptedSession([]))
        self.assertEqual(tensors._memory[0].tolist(), [2.0] * 3)
        tensors._memory[0].fill_(4)
        tensors.take()
        self.assertEqual(x.tolist(), [4.0] * 3)


if __name__ == "__main__":
    unittest.main()
