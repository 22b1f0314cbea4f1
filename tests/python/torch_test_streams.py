"""When the library may have the memory of a model on a device: a played device copies as late as it is allowed to."""

import random
import unittest
from unittest import mock

import torch

from grapevine import _library as lib
from grapevine import _tensors
from grapevine._attached import Attached
from grapevine._streams import Streams
from grapevine._tensors import TrainedSet
from scripted import ScriptedProcess, ScriptedSession

RATE = 0.25


class PlayedDevice:
    """A stream of a device whose memory is the processor's: what it is given is done when somebody waits for it."""

    def __init__(self):
        self._work = []
        self._done = 0

    def copy(self, targets, sources):
        self._work += [(target, source) for target, source in zip(targets, sources)]

    def run_until(self, end):
        with torch.no_grad():
            for target, source in self._work[self._done:end]:
                target.copy_(source)
        self._done = max(self._done, end)

    def synchronize(self):
        self.run_until(len(self._work))

    def record_event(self):
        return mock.Mock(synchronize=lambda end=len(self._work): self.run_until(end))

    def idle(self):
        return self._done == len(self._work)


class PlayedLibrary(ScriptedSession):
    """Reads and writes the memory between two turns, when the device must be done with it."""

    def __init__(self, device, turns, **info):
        super().__init__(turns, **info)
        self._device = device
        self.memory = None
        self.gradients = []
        self.seen = []       # x at the end of each turn

    def attach(self, tensors, options):
        self.options = options
        return super().attach(tensors, options)

    def point(self, what, addresses):
        self.gradients.append(addresses)

    def turn(self, told, timeout_ms=0):
        if not self._device.idle():
            raise AssertionError("the library has the memory while the device still copies")
        self.seen.append([m.clone() for m in self.memory()])
        for m in self.memory():
            m += 1                           # as if it were averaged
        return super().turn(told, timeout_ms)


class Model(torch.nn.Module):
    """Computes on the played device, in order with its copies."""

    def __init__(self, device):
        super().__init__()
        self.device = device
        self.x = torch.nn.Parameter(torch.zeros(3))

    def forward(self):
        self.device.synchronize()
        return (self.x * torch.arange(3.0)).sum()


class Step(torch.optim.SGD):
    """The same for the optimizer's step."""

    def step(self, closure=None):
        self.device.synchronize()
        return super().step(closure)


def played(turns, **info):
    """Returns what of a script is attached on a played device, and where the patches are to end."""
    device = PlayedDevice()
    patches = [mock.patch("grapevine._tensors.on_cpu", lambda p: False),
               mock.patch("grapevine._tensors.copy", device.copy),
               mock.patch("torch.cuda.current_stream", lambda given: device),
               mock.patch("grapevine._tensors.Streams", lambda devices: Streams([torch.device("cuda", 0)]))]
    for patch in patches:
        patch.start()
    model = Model(device)
    optimizer = Step(model.parameters(), lr=RATE)
    optimizer.device = device
    session = PlayedLibrary(device, turns, **info)
    session.memory = lambda: tensors[0]._memory
    tensors = []
    made = _tensors.Tensors.__init__

    def noted(self, parameters):
        made(self, parameters)
        tensors.append(self)

    with mock.patch.object(_tensors.Tensors, "__init__", noted):
        attached = Attached(ScriptedProcess(session), [optimizer], TrainedSet(model, None, [optimizer]), model,
                            lambda m: 0.5, None, ())
    return session, model, optimizer, attached, patches


class StreamsTest(unittest.TestCase):
    def tearDown(self):
        mock.patch.stopall()

    def course(self, turns, **info):
        """Trains until the fleet stops; returns the session and the model."""
        session, model, optimizer, attached, _ = played(turns, **info)
        attached._process.progress.active = True
        while not attached._turns.over:
            model().backward()
            optimizer.step()
            optimizer.zero_grad()
        model.device.synchronize()
        return session, model

    def test_the_library_never_has_the_memory_while_the_device_copies(self):
        draw = random.Random(5)
        for _ in range(50):
            turns, rounds = [lib.GRADIENT], draw.randint(1, 6)
            for _ in range(rounds):
                between = [draw.choice([lib.EVALUATE, lib.SAVE, lib.NONE]) for _ in range(draw.randint(0, 3))]
                turns += [lib.STEP, *between, lib.GRADIENT]
            info = draw.choice([{}, {"gradients": "read"}, {"gradients": "written"}])
            session, model = self.course(turns, **info)
            self.assertEqual(session.options["arithmetic"], "own")
            # x follows what the library adds in each of its turns and what SGD subtracts in each step.
            x = torch.zeros(3)
            expected = []
            for turn in [None] + turns:
                if turn == lib.STEP:
                    x = x - RATE * torch.arange(3.0)
                expected.append(x.clone())
                x = x + 1
            self.assertEqual([seen[0].tolist() for seen in session.seen], [e.tolist() for e in expected])
            self.assertEqual(model.x.tolist(), x.tolist())
            mock.patch.stopall()

    def test_gradients_come_back_changed(self):
        session, model, optimizer, attached, _ = played([lib.GRADIENT, lib.STEP, lib.GRADIENT], gradients="written")
        model().backward()
        given = []
        session.point = lambda what, addresses: given.extend(attached._tensors._given)
        turn = session.turn

        def halved(told, timeout_ms=0):
            result = turn(told, timeout_ms)
            if result == lib.STEP:
                given[0].mul_(0.5)
            return result

        session.turn = halved
        before = model.x.clone()
        optimizer.step()
        model.device.synchronize()
        self.assertTrue(torch.equal(before + 2 - RATE * 0.5 * torch.arange(3.0), model.x))


if __name__ == "__main__":
    unittest.main()
