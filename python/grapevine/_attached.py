"""A script's model, optimizers and state as a peer."""

import random
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence

import torch

from grapevine._errors import Error, Stopped
from grapevine._hooks import Hooks
from grapevine._process import Process
from grapevine._session import Told
from grapevine._state import packed, unpacked
from grapevine._tensors import Named, Tensors
from grapevine._turns import Evaluations, Turns, finite

Optimizers = Sequence[torch.optim.Optimizer]


class Attached:
    """What DistributedOptimizer makes: the hooks of the last optimizer end the turns of the peer."""

    def __init__(self, process: Process, optimizers: Optimizers, parameters: Named,
                 model: Optional[torch.nn.Module], evaluate: Optional[Callable], calibrate: Optional[Iterable],
                 state: Sequence[Any]) -> None:
        objections(process.info, optimizers)
        self._process, self._model, self._evaluate, self._calibrate = process, model, evaluate, calibrate
        self._optimizers, self._state = optimizers, list(state)
        self._tensors = Tensors(parameters)
        self._evaluations = Evaluations(process.session)
        self._losses: List[Any] = []
        self._scalars: Dict[str, Any] = {}
        self._hooks = Hooks(optimizers[-1], self._before, self._after)
        self._place: Optional[Dict[str, int]] = None      # of a checkpoint that waits
        try:
            self._attach()
        except BaseException:
            self._hooks.remove()
            raise

    def _attach(self) -> None:
        process = self._process
        process.keeps = self
        rows = [len(sampler) for sampler in process.progress.samplers]
        process.session.attach(self._tensors.described(), {
            "evaluates": self._evaluate is not None, "saves": True, "whole": self._model is not None,
            "arithmetic": "lent" if self._tensors.in_place else "own", "samples": sum(rows) or None,
            "optimizer": type(self._optimizers[-1]).__name__, "versions": {"torch": str(torch.__version__)}})
        self._tensors.take()
        self._turns = Turns(process.session, self)
        if not self._restored() and process.seeds:
            seed_all(process.info["peer_seed"])
        process.progress.over = lambda: self._turns.over
        process.progress.steps = lambda: self._turns.done
        process.progress.behind = self._turns.go_on
        process.progress.random, process.progress.be_random = random_state, be_random
        process.progress.warn = lambda text: process.session.say(text=text)
        process.begin()
        self._turns.start(Told(rate=self._rate()))
        if process.info["task"] == "ask":
            raise Stopped()

    def log(self, loss: Any, scalars: Dict[str, Any]) -> None:
        """Keeps what a script logs until the turn ends: reading a number now would wait for the device."""
        if loss is not None:
            self._losses.append(loss.detach() if isinstance(loss, torch.Tensor) else loss)
        self._scalars.update(scalars)

    @property
    def lends(self) -> bool:
        """Says whether the library finds x in the parameters whenever it looks, and not only in its turns."""
        return self._tensors.in_place

    def detach(self) -> None:
        """Takes the hooks off the optimizer."""
        self._hooks.remove()

    def _before(self, loss: Any) -> bool:
        self._leave_if_over()
        if loss is not None:
            self.log(loss, {})
        reads = self._process.info["gradients"]
        gradients = self._tensors.gradients() if reads != "kept" and not self._turns.over else None
        steps = self._turns.before(self._told(), gradients)
        if steps and reads == "written":
            self._tensors.take_gradients()
        return steps

    def _after(self) -> None:
        self._turns.after()
        self._leave_if_over()

    def _leave_if_over(self) -> None:
        """Ends a script whose fleet has stopped, but for one inside `running`, which ends by itself."""
        if self._turns.over and not self._process.progress.active:
            raise Stopped()

    def _told(self) -> Told:
        losses, self._losses = [float(loss) for loss in self._losses], []
        scalars, self._scalars = {name: float(value) for name, value in self._scalars.items()}, {}
        if finite(scalars):
            self._process.session.say(log=finite(scalars))
        return Told(loss=sum(losses) / len(losses) if losses else None, rate=self._rate(),
                    samples=self._process.progress.take_samples())

    def _rate(self) -> Optional[float]:
        if not self._process.info["rate"]:
            return None
        rates = {float(group["lr"]) for optimizer in self._optimizers for group in optimizer.param_groups}
        if len(rates) > 1:
            raise Error(f"{self._process.info['algorithm']} needs one learning rate, and the parameter groups have "
                        f"{', '.join(map(str, sorted(rates)))}\nhelp: one rate, or d-psgd, which needs none")
        return rates.pop()

    def give(self) -> None:
        """Makes the library's memory hold the parameters."""
        self._tensors.give(self._process.session)

    def take(self) -> None:
        """Makes the parameters what the library's memory holds."""
        self._tensors.take()

    def settle(self) -> None:
        """Waits until no device reads the library's memory."""
        self._tensors.settle()

    def evaluate(self) -> Told:
        """Answers the turn of an evaluation; the model is in eval() mode and without gradients meanwhile."""
        model, asked = self._model, self._process.info["task"] == "ask"
        modes = {module: module.training for module in model.modules()} if model is not None else {}
        if asked and self._calibrate is not None:
            recalibrate(model, self._calibrate)
        for module in modes:
            module.training = False
        try:
            with torch.no_grad():
                return self._evaluations.told(self._evaluate, *([] if model is None else [model]))
        finally:
            for module, mode in modes.items():
                module.training = mode

    def waits(self) -> bool:
        """Says whether the script comes back for its next batch; the place in the data is that of now."""
        if self._process.progress.within:
            self._place = self._process.progress.place()
        return self._process.progress.within

    def save(self) -> bytes:
        """Answers the turn before a checkpoint, or writes the whole model of the fleet where the launcher asks for it.

        Raises Error for a state that cannot be written.
        """
        place, self._place = self._place, None
        path = self._process.session.info().get("save_to")
        if path:
            self._write(path)
            return b""
        return packed({
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "state": [part.state_dict() for part in self._state],
            "buffers": dict(self._model.named_buffers()) if self._model is not None else {},
            "random": random_state(), "began": self._process.progress.began,
            "place": place or self._process.progress.place()})

    def _write(self, path: str) -> None:
        """Writes the model's state_dict, on the CPU, so that any machine can read it. A failure is told and no more."""
        try:
            if self._calibrate is not None:
                recalibrate(self._model, self._calibrate)
            state = self._model.state_dict()
            for name, value in state.items():
                state[name] = value.cpu() if isinstance(value, torch.Tensor) else value
            torch.save(state, path)
        except Exception:
            import traceback
            self._process.session.say(text="the model could not be written:\n" + traceback.format_exc())

    def _restored(self) -> bool:
        """Goes on from the state of a checkpoint; begins the optimizer anew, and says so, where it does not load."""
        block = self._process.session.take_state()
        if not block:
            if self._process.session.info()["rejoined"]:
                self._process.session.say(text="goes on with the fleet's model; the optimizer begins anew")
            return False
        try:
            kept = unpacked(block)
            for optimizer, values in zip(self._optimizers, kept["optimizers"]):
                optimizer.load_state_dict(values)
            for part, values in zip(self._state, kept["state"]):
                part.load_state_dict(values)
            for name, values in kept["buffers"].items():
                self._model.get_buffer(name).copy_(values)
            be_random(kept["random"])
            self._process.progress.go_on(kept["place"], kept["began"])
            return True
        except Exception as why:
            self._process.session.say(text=f"the state of the checkpoint does not load ({why}): the optimizer and "
                                           "the place in the data begin anew")
            return False


def seed_all(seed: int) -> None:
    """Seeds torch on all devices, random, and NumPy where it is imported."""
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def random_state() -> Dict[str, Any]:
    """Returns where the random numbers are: torch's on all devices, and those of random."""
    return {"torch": torch.get_rng_state(), "python": random.getstate(),
            "devices": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}


def be_random(state: Dict[str, Any]) -> None:
    """Goes back to such a state; on another number of devices these go on as they are."""
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if state["devices"] and len(state["devices"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["devices"])


@torch.no_grad()
def recalibrate(model: torch.nn.Module, loader: Iterable, batches: int = 16) -> None:
    """Computes the running statistics of batch norms anew, over some batches: those of an averaged model are nobody's.

    loader: gives inputs, or tuples that begin with them.
    """
    norms = [module for module in model.modules() if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    kept = [(norm.momentum, norm.training) for norm in norms]
    place = next(model.parameters()).device
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum, norm.training = None, True     # None: the mean over all batches
    try:
        for _, batch in zip(range(batches), loader):
            model((batch[0] if isinstance(batch, (list, tuple)) else batch).to(place))
    finally:
        for norm, (momentum, training) in zip(norms, kept):
            norm.momentum, norm.training = momentum, training


def objections(info: Dict[str, Any], optimizers: Optimizers) -> None:
    """Raises Error for optimizers that the fleet's method does not go with."""
    name = info["algorithm"]
    if len(optimizers) > 1 and info["gradients"] != "kept":
        raise Error(f"{name} sends gradients, of one optimizer, and there are {len(optimizers)}\n"
                    "help: one optimizer with several parameter groups, or a method that averages models")
    momenta = [group.get("momentum", 0) for optimizer in optimizers for group in optimizer.param_groups]
    plain = all(isinstance(optimizer, torch.optim.SGD) for optimizer in optimizers) and not any(momenta)
    if name == "quasi-global-momentum" and not plain:
        raise Error(f"{name} is the momentum: it goes with SGD without one\nhelp: torch.optim.SGD(..., momentum=0)")
