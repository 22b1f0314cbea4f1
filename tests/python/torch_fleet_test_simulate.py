"""One function as virtual peers and as real ones. GRAPEVINE_LIBRARY and GRAPEVINE_PROGRAM name library and program."""

import contextlib
import importlib.util
import io
import os
import random
import tempfile
import threading
import unittest

import torch

import grapevine
import grapevine.torch as gv
from fleets import Fleet

CENTERS = [[float(i * 6 + k) / 4 for k in range(6)] for i in range(4)]
QUADRATIC = {"peers": 4, "seed": 5, "algorithm": "d-psgd", "topology": "ring", "stop": {"rounds": 12},
             "evaluate": {"every": "6 rounds"}}


def quadratic():
    """Every product is exact, so that all ways of computing it end with the same bits."""
    gv.init()
    center = torch.tensor(CENTERS[gv.rank()])
    x = torch.nn.Parameter(torch.zeros(6))
    optimizer = torch.optim.SGD([x], lr=0.5)
    gv.DistributedOptimizer(optimizer, named_parameters=[("x", x)], evaluate=lambda: float(x.detach().sum()))
    for _ in gv.epochs():
        for _ in gv.running([center] * 4):
            optimizer.zero_grad()
            loss = ((x - center) ** 2).sum() / 4
            loss.backward()
            optimizer.step()
            gv.log(loss)
    return x.detach().tolist()


def network():
    """A small network with drawn batches and dropout, by random numbers of torch and of Python."""
    gv.init()
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda m: m(torch.ones(1, 8)).sum())
    for _ in gv.epochs(3):
        for x in gv.running([torch.randn(4, 8) for _ in range(5)]):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([random.randrange(2) for _ in x]))
            loss.backward()
            optimizer.step()
            gv.log(loss)
    return torch.nn.utils.parameters_to_vector(model.parameters()).tolist(), random.random()


def together():
    """What a script does with the others before its first step, in it and between two, with random numbers of its
    own in between."""
    gv.init()
    center = torch.tensor(CENTERS[gv.rank()])
    x = torch.nn.Parameter(torch.zeros(6))
    optimizer = torch.optim.SGD([x], lr=0.5)
    gv.DistributedOptimizer(optimizer, named_parameters=[("x", x)])
    said = [gv.allreduce(torch.tensor(float(gv.rank())), op="sum").item(), torch.rand(()).item()]
    for _ in gv.running([center] * 12):
        optimizer.zero_grad()
        loss = ((x - center) ** 2).sum() / 4
        gv.allreduce(loss.detach())
        loss.backward()
        pushed = gv.push(torch.tensor([gv.rank()]), (gv.rank() + 1) % gv.size())
        said.append(gv.wait(gv.pull(torch.tensor([0]), (gv.rank() - 1) % gv.size())).item())
        gv.wait(pushed)
        said.append(torch.rand(()).item())
        optimizer.step()
    return said


class SimulateTest(unittest.TestCase):
    def in_a_folder(self):
        place, here = tempfile.TemporaryDirectory(), os.getcwd()
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, here)
        os.chdir(place.name)

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "apt-get install python3-cloudpickle")
    def test_virtual_peers_end_with_the_bits_of_real_ones(self):
        self.in_a_folder()
        simulated = gv.simulate(QUADRATIC, quadratic, step=0.001)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            launched = gv.launch(quadratic, QUADRATIC)
        self.assertEqual(simulated["params_hash"], launched["params_hash"])
        self.assertEqual(simulated["loss"], launched["loss"])
        self.assertEqual([record["round"] for record in simulated["records"]], [6, 12])
        self.assertEqual(launched["exit_code"], 0)
        self.assertIn("12 rounds", shown.getvalue())
        table = grapevine.runs(launched["folder"])
        self.assertEqual(list(table["round"]), [6, 12])

    def test_what_peers_do_together_is_the_same_in_virtual_time(self):
        first, again = (gv.simulate(QUADRATIC, together, step=0.001) for _ in range(2))
        self.assertEqual(first["returned"], again["returned"])
        self.assertEqual(first["params_hash"], gv.simulate(QUADRATIC, quadratic, step=0.001)["params_hash"])
        for i, said in enumerate(first["returned"]):
            self.assertEqual(said[0], 6)
            self.assertEqual(said[2::2], [(i - 1) % 4] * 12)
        streams = {tuple(said[1::2]) for said in first["returned"]}
        self.assertEqual(len(streams), 4, "random numbers are each peer's own")

    def test_each_returns_what_its_function_returned(self):
        simulated = gv.simulate(QUADRATIC, quadratic, step=0.001)
        self.assertEqual(len(simulated["returned"]), 4)
        self.assertEqual(len({tuple(x) for x in simulated["returned"]}), 4)
        self.assertEqual(simulated["rounds"], 12)

    def test_results_repeat_to_the_bit_and_leave_the_random_numbers_here_alone(self):
        for algorithm in ("d-psgd", "ad-psgd", "local-sgd"):
            with self.subTest(algorithm):
                fleet = {**QUADRATIC, "peers": 5, "algorithm": algorithm, "stop": {"rounds": 12}}
                torch.manual_seed(9)
                first = gv.simulate(fleet, network, step=0.01)
                torch.manual_seed(9)
                drawn = torch.rand(3)
                torch.manual_seed(9)
                second = gv.simulate(fleet, network, step=0.01)
                self.assertEqual(torch.rand(3).tolist(), drawn.tolist())
                self.assertEqual(first, second)
                draws = {random_number for _, random_number in first["returned"]}
                self.assertEqual(len(draws), 5)

    def test_a_function_may_leave_by_itself(self):
        def leaving():
            returned = quadratic()
            gv.shutdown()
            return returned
        simulated, left = (gv.simulate(QUADRATIC, function, step=0.001) for function in (quadratic, leaving))
        self.assertEqual(simulated["returned"], left["returned"])
        self.assertEqual(simulated["params_hash"], left["params_hash"])

    def test_the_clock_goes_by_the_given_step_or_by_a_measured_one(self):
        once = gv.simulate(QUADRATIC, quadratic, step=0.5)
        self.assertGreaterEqual(once["seconds"], 12 * 0.5)
        measured = gv.simulate(QUADRATIC, quadratic)
        self.assertGreater(measured["step"], 0)
        self.assertEqual(measured["params_hash"], once["params_hash"])

    def test_a_failure_is_raised_once_and_ends_all(self):
        def failing():
            gv.init()
            x = torch.nn.Parameter(torch.zeros(6))
            optimizer = torch.optim.SGD([x], lr=0.5)
            gv.DistributedOptimizer(optimizer, named_parameters=[("x", x)])
            for step in range(9):
                x.sum().backward()
                optimizer.step()
                if gv.rank() == 2 and step == 3:
                    raise ValueError("on purpose")
        before = threading.active_count()
        with self.assertRaisesRegex(ValueError, "on purpose"):
            gv.simulate(QUADRATIC, failing, step=0.001)
        self.assertEqual(threading.active_count(), before)
        with self.assertRaisesRegex(grapevine.Error, "ended before DistributedOptimizer"):
            gv.simulate(QUADRATIC, gv.init, step=0.001)
        self.assertFalse(gv.is_initialized())

    def test_a_peer_that_makes_fewer_steps_is_named_as_in_a_fleet(self):
        def uneven():
            gv.init()
            x = torch.nn.Parameter(torch.zeros(6))
            optimizer = torch.optim.SGD([x], lr=0.5)
            gv.DistributedOptimizer(optimizer, named_parameters=[("x", x)])
            for _ in range(5 if gv.rank() == 2 else 9):
                x.sum().backward()
                optimizer.step()
            return "through"
        with self.assertRaisesRegex(gv.PeerLost, "peer [1-3] has left, and all-reduce cannot continue without it"):
            gv.simulate({**QUADRATIC, "algorithm": "all-reduce", "stop": {}}, uneven, step=0.001)
        without = gv.simulate({**QUADRATIC, "stop": {}}, uneven, step=0.001)       # d-psgd continues
        self.assertEqual(without["returned"], ["through"] * 4)

    def test_plain_buffers_and_the_first_mistakes(self):
        fleet = Fleet(peers=3, algorithm="all-reduce")
        self.addCleanup(fleet.close)

        def buffers():
            from array import array
            x, gradient = array("f", [0.0] * 6), array("f", [0.0] * 6)
            peer = grapevine.Peer([x])
            center = CENTERS[peer.info["id"]]
            while peer.running:
                for k in range(6):
                    gradient[k] = x[k] - center[k]
                if peer.before(0.0, [gradient]):
                    for k in range(6):
                        x[k] -= 0.5 * gradient[k]
                peer.after()
            return list(x)
        path = fleet.write("program", "program: [python3, train.py]\n")
        returned = grapevine.simulate(path, buffers, step=0.001)["returned"]
        self.assertEqual(returned, [returned[0]] * 3)
        with self.assertRaisesRegex(grapevine.Error, "topolgy"):
            gv.simulate({**QUADRATIC, "topolgy": "ring"}, quadratic)


if __name__ == "__main__":
    unittest.main()
