"""A script's model, optimizers and state as a peer."""

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from grapevine._errors import Disagreement, Error, PeerLost, Stopped
from grapevine._hooks import Hooks
from grapevine._norms import Statistics
from grapevine._process import Process
from grapevine._servers import ServersStep
from grapevine._session import Told
from grapevine._state import be_random, filled, packed, random_state, seed_all, unpacked
from grapevine._tensors import Tensors, TrainedSet
from grapevine._turns import Evaluations, Turns, finite

Optimizers = Sequence[torch.optim.Optimizer]
QUIET_STEPS = 20        # of other optimizers, after which a turn is missed


class Attached:
    """What DistributedOptimizer makes: the hooks of the last optimizer end the turns of the peer."""

    def __init__(self, process: Process, optimizers: Optimizers, trained: TrainedSet,
                 model: Optional[torch.nn.Module], evaluate: Optional[Callable], calibrate: Any,
                 state: Sequence[Any], densifies: bool = False) -> None:
        """densifies: whether sparse gradients become dense ones where the method sends gradients."""
        objections(process.info, optimizers)
        self._servers = ServersStep(process.info)
        self._servers.check(optimizers, trained.parameters)
        self._process, self._model, self._evaluate = process, model, evaluate
        self._optimizers, self._state = optimizers, list(state)
        self._trained, self._tensors = trained, Tensors(trained.parameters)
        self._densifies = densifies
        self._evaluations = Evaluations(process.session, process.patience)
        self._statistics = Statistics(model, calibrate, [sampler.dataset for sampler in process.progress.samplers],
                                      None if evaluate is None else lambda: evaluate(model))
        self._losses: List[Any] = []
        self._scalars: Dict[str, Any] = {}
        self._place: Optional[Dict[str, int]] = None      # of a checkpoint that waits
        self._early: Optional[bool] = None      # what synchronize() found out; None: the step exchanges by itself
        self._fresh = False                     # a backward pass has run since the gradients were averaged
        self._steps = 0                         # of the script's optimizer, in all its lives
        self._quiet = 0                         # steps of other optimizers since the last turn
        self._again = Again()
        self._broken = self._unsaid = False     # a gradient was not finite; the fleet has not been told
        self._marks = [p.register_hook(self._mark) for p in self._tensors.parameters] if self._averages else []
        self._hooks = Hooks(optimizers[-1], self._before, self._after, self.synchronize, self._goes_by)
        try:
            self._attach()
        except BaseException:
            self.detach()
            raise

    @property
    def _averages(self) -> bool:
        """Says whether the method changes the gradients by which the script steps."""
        return self._process.info["gradients"] == "written"

    def _attach(self) -> None:
        process = self._process
        process.keeps = self
        if process.tries:
            self._try()
        rows = [len(sampler) for sampler in process.progress.samplers]
        process.attach(self._tensors.described(), {
            "evaluates": self._evaluate is not None, "saves": True, "whole": self._model is not None,
            "arithmetic": "lent" if self._tensors.in_place else "own", "samples": sum(rows) or None,
            "optimizer": type(self._optimizers[-1]).__name__, "versions": {"torch": str(torch.__version__)}})
        self._tensors.take()
        self._turns = Turns(process.session, self, [p.numel() for p in self._tensors.parameters])
        if not self._restored() and process.seeds:
            seed_all(process.info["peer_seed"])
        process.progress.over = lambda: self._turns.over
        process.progress.steps = lambda: self._turns.done
        process.progress.behind = self._behind
        process.progress.random, process.progress.be_random = random_state, be_random
        process.progress.warn = lambda text: process.session.say(text=text)
        process.begin()
        if process.info["task"] == "peer" and process.info["id"] == 0:
            self._say_statistics()
        for call in process.take_waiting():
            call()
        self._turns.start(Told(rate=self._rate()))
        if process.info["task"] == "ask":
            raise Stopped()

    def _try(self) -> None:
        """Evaluates and packs the state once before anything trains. Raises Error for what would fail later."""
        random = random_state()
        if self._evaluate is not None:
            self._evaluated(self._evaluations.tried)
        packed(self._state_now())
        be_random(random)

    def _say_statistics(self) -> None:
        """Logs where the statistics of the fleet's batch norms come from."""
        random = random_state()
        said = self._statistics.tried()
        if said:
            self._process.session.say(text=said)
        be_random(random)

    def change(self, optimizers: Optimizers, state: Sequence[Any]) -> None:
        """Goes on with other optimizers of the same tensors, as a script of several phases does.

        Raises Disagreement if they train a tensor that does not travel.
        """
        objections(self._process.info, optimizers)
        self._servers.check(optimizers, self._trained.parameters)
        before, self._trained.optimizers = self._trained.optimizers, optimizers
        try:
            self._trained.look()
        except Disagreement:
            self._trained.optimizers = before
            raise
        self._hooks.remove()
        self._hooks = Hooks(optimizers[-1], self._before, self._after, self.synchronize, self._goes_by)
        self._optimizers, self._state = optimizers, list(state)

    @property
    def optimizers(self) -> Optimizers:
        return self._optimizers

    def _goes_by(self, optimizer: torch.optim.Optimizer) -> None:
        """Hears of a step of another optimizer. Raises Error if it leaves out what the method must average."""
        if self._turns.over or any(optimizer is own for own in self._optimizers):
            return
        names = self._trained.names_of(optimizer)
        text = (f"an optimizer that DistributedOptimizer was not given steps {', '.join(names[:3])}: "
                f"{type(optimizer).__name__}\nhelp: give it to DistributedOptimizer, which may be called again for "
                "another phase, and takes a list of optimizers that step in turn")
        if names and self._averages:
            raise Error(text)
        self._quiet += bool(names)
        if names and self._quiet == QUIET_STEPS:
            self._process.session.say(text=f"{self._quiet} steps without a turn: {text}")

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
        """Takes the hooks off the optimizer and its parameters."""
        self._hooks.remove()
        for mark in self._marks:
            mark.remove()

    def synchronize(self) -> None:
        """Averages the gradients now, so that clipping and unscaling see their mean, and the step does not do it again.

        Does nothing for methods that leave the gradients alone, and before another backward pass.
        """
        if not self._averages or self._turns.over or self._again.goes_on:
            return
        self._end_left_out()
        if self._early is None:
            self._early = self._exchange()

    def _mark(self, gradient: torch.Tensor) -> None:
        self._fresh = True

    def _end_left_out(self) -> None:
        """Ends the turn of a step that the script left out after its gradients were averaged, as a scaler does."""
        if self._early is not None and self._fresh:
            self._early = None
            self._turns.after()

    def _before(self, loss: Any) -> bool:
        self._come_back()
        self._leave_if_over()
        if loss is not None:
            self.log(loss, {})
        if self._again.goes_on:
            self._steps += 1
            self._losses, self._scalars = [], {}
            return False
        self._end_left_out()
        early, self._early = self._early, None
        finite = self._averages or self._finite()
        if not finite and self._process.info["gradients"] == "read":
            return False        # servers must not have it
        steps = self._exchange() if early is None else early
        return steps and finite and (not self._averages or self._finite())

    def _finite(self) -> bool:
        """Says whether the gradients are finite, as far as no scaler has said so to the optimizer.

        If they are not, the step is left out, so that the model stays finite, and the next word of this peer to the
        fleet is a loss of NaN.
        """
        if self._hooks.skips() or self._tensors.finite_gradients():
            return True
        if not self._broken:
            self._process.session.say(
                text=f"the gradient of {', '.join(self._tensors.broken_gradients()[:3])} is not finite after "
                     f"{self._steps} steps: such steps are left out, and the model stays as it was")
        self._broken = self._unsaid = True
        return False

    def _exchange(self) -> bool:
        """Ends the gradient's turn; returns False if the optimizer must not step."""
        self._quiet = 0
        self._servers.look(self._optimizers)
        frozen = self._trained.look()
        reads = self._process.info["gradients"]
        if frozen:
            self._process.session.say(text=f"{', '.join(frozen)}: frozen by the script from now on. The fleet still "
                                           + ("takes their values from the servers" if reads == "read" else
                                              "averages their values until all peers have the same"))
        moved = self._servers.moves(self._tensors.without_gradients()) if reads == "read" else None
        if moved:
            self._process.session.say(text=moved)
        if reads == "read" and self._hooks.skips():
            return False
        self._steps += 1
        if self._densifies and reads != "kept":
            self._tensors.densify_gradients()
        gradients = self._tensors.gradients() if reads != "kept" and not self._turns.over else None
        steps = self._turns.before(self._told(), gradients)
        if steps and self._averages:
            self._tensors.take_gradients(means=self._process.info["algorithm"] == "all-reduce")
        self._fresh = False
        return steps

    def _after(self) -> None:
        if self._again.step():
            if not self._process.progress.within:
                self._come_back()
            return
        self._turns.after()
        self._leave_if_over()

    def _behind(self) -> None:
        """Is called when the code of a batch is done."""
        self._come_back()
        self._turns.go_on()

    def _come_back(self) -> None:
        """Takes the state of a checkpoint when the script is at the step of that checkpoint again."""
        kept = self._again.take()
        if kept is not None:
            self._process.progress.take_samples()
            self._take_state(kept)
            self._process.session.say(text=f"is at step {self._steps} again, and trains from here on")

    def _leave_if_over(self) -> None:
        """Ends a script whose fleet has stopped, but for one inside `running`, which ends by itself.

        Raises PeerLost if a collective ended because another script has fewer steps than this one.
        """
        if not self._turns.over or self._process.progress.active:
            return
        info = self._process.session.info()
        if info.get("left_by") is None:
            raise Stopped()
        raise PeerLost(f"peer {info['left_by']} has left, and {info['algorithm']} cannot continue without it\n"
                       "help: all scripts make equally many steps: gv.Sampler and gv.running see to that")

    def _told(self) -> Told:
        losses, self._losses = [float(loss) for loss in self._losses], []
        if self._unsaid:
            losses, self._unsaid = [float("nan")], False
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
        """Makes the library's memory hold the parameters. Logs values that the script has replaced, if they stay here
        alone.
        """
        self._tensors.give(self._process.session)
        names = self._tensors.take_replaced()
        if names and self._process.info["algorithm"] == "all-reduce":
            self._process.session.say(
                text=f"the script has replaced the values of {', '.join(names[:3])} before step {self._steps}, and "
                     "all-reduce averages gradients alone: the other peers keep theirs\nhelp: "
                     f"gv.broadcast_parameters(model.state_dict(), root_rank={self._process.info['id']})")
        elif names and self._process.info["gradients"] == "read":
            self._process.session.say(
                text=f"the script has replaced the values of {', '.join(names[:3])} before step {self._steps}: the "
                     "servers do not receive them, and write theirs over them after this step")

    def take(self) -> None:
        """Makes the parameters what the library's memory holds."""
        self._tensors.take()

    def settle(self) -> None:
        """Waits until no device reads the library's memory."""
        self._tensors.settle()

    def leave(self, limit: float) -> None:
        """Tells the others that this peer makes no further step; see Turns."""
        self._turns.leave(limit)

    def evaluate(self) -> Told:
        """Answers the turn of an evaluation."""
        return self._evaluated(self._evaluations.told)

    def _evaluated(self, evaluates: Callable) -> Told:
        """Evaluates; the model is in eval() mode and without gradients meanwhile."""
        model, asked = self._model, self._process.info["task"] == "ask"
        if asked:
            self._statistics.renew()
        modes = {module: module.training for module in model.modules()} if model is not None else {}
        for module in modes:
            module.training = False
        try:
            with torch.no_grad():
                return evaluates(self._evaluate, *([] if model is None else [model]))
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
        path = self._process.session.info().get("save_to")
        if path:
            self._write(path)
            return b""
        try:
            return packed(self._state_now())
        except Exception as why:
            self._process.session.say(text=f"this checkpoint holds the model alone: {why}")
            return b""

    def _state_now(self) -> Dict[str, Any]:
        place, self._place = self._place, None
        progress = self._process.progress
        return {
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "state": [part.state_dict() for part in self._state],
            "buffers": dict(self._model.named_buffers()) if self._model is not None else {},
            "random": random_state(), "began": progress.began, "place": place or progress.place(),
            "steps": self._steps, "aware": progress.aware}

    def _write(self, path: str) -> None:
        """Writes the model's state_dict, on the CPU, so that any machine can read it. A failure is told and no more."""
        try:
            self._statistics.renew()
            state = self._model.state_dict()
            for name, value in state.items():
                state[name] = value.cpu() if isinstance(value, torch.Tensor) else value
            torch.save(state, path)
        except Error as why:
            self._process.session.say(text=f"the model could not be written: {why}")
        except Exception:
            import traceback
            self._process.session.say(text="the model could not be written:\n" + traceback.format_exc())

    def _restored(self) -> bool:
        """Resumes from the state of a checkpoint. Returns False if random numbers begin as in a new script.

        A script whose loop counts from its beginning again goes through the steps that it has done, without training.
        """
        block = self._process.session.take_state()
        if not block:
            if self._process.session.info()["rejoined"]:
                self._process.session.say(text="goes on with the fleet's model; the optimizer begins anew")
            return False
        try:
            kept = unpacked(block)
        except Exception as why:
            return self._does_not_load(why)
        if kept.get("aware", True):
            return self._take_state(kept)
        self._again = Again(kept["steps"], kept)
        self._process.session.say(
            text=f"goes through its first {kept['steps']} steps again without training, because its loop counts from "
                 f"the beginning. help: `for epoch in gv.epochs(n)`, or `range(gv.round(), n)`, resumes at once")
        return False

    def _take_state(self, kept: Dict[str, Any]) -> bool:
        try:
            for optimizer, values in zip(self._optimizers, kept["optimizers"]):
                optimizer.load_state_dict(filled(values, optimizer.state_dict()))
            for part, values in zip(self._state, kept["state"]):
                part.load_state_dict(filled(values, part.state_dict()))
            for name, values in kept["buffers"].items():
                self._model.get_buffer(name).copy_(values)
            be_random(kept["random"])
            self._steps = kept.get("steps", 0)
            if kept.get("aware", True):
                self._process.progress.go_on(kept["place"], kept["began"])
            return True
        except Exception as why:
            return self._does_not_load(why)

    def _does_not_load(self, why: Exception) -> bool:
        self._process.session.say(text=f"the state of the checkpoint does not load ({why}): the optimizer and "
                                       "the place in the data begin anew")
        return False


class Again:
    """The steps that a resumed script makes once more, and the state that it has after them."""

    def __init__(self, steps: int = 0, kept: Optional[Dict[str, Any]] = None) -> None:
        self._left, self._kept = steps, kept

    @property
    def goes_on(self) -> bool:
        return self._left > 0

    def step(self) -> bool:
        """Counts a step; returns False if it is a new one."""
        if self._left == 0:
            return False
        self._left -= 1
        return True

    def take(self) -> Optional[Dict[str, Any]]:
        """Returns, once, the state after the last of these steps."""
        if self._left > 0:
            return None
        kept, self._kept = self._kept, None
        return kept


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
