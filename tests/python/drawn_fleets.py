"""Drawn scripts as virtual peers of a fleet, and how far these end from the reference."""

import itertools
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import torch

import grapevine.torch as gv
from drawn_reference import Reference
from drawn_scripts import Life, Script

EXACT = ("all-reduce", "d-psgd", "local-sgd", "parameter-server")     # with a reference to the last step
EXACTLY = 1e-5
ROUNDINGS = 4.0     # of float32 in the script itself, which another order of sums may make


def fleet(script: Script, folder: str) -> Dict[str, Any]:
    """Returns the fleet file of a script; the graph's file goes into the folder."""
    graph = Path(folder) / f"graph{script.seed}.txt"
    graph.write_text("".join(f"{i} {j}\n" for i, j in script.edges))
    algorithm: Dict[str, Any] = {"kind": script.method}
    if script.order:
        algorithm["order"] = script.order
    train: Dict[str, Any] = {"local_steps": script.local_steps}
    if script.method == "parameter-server":
        train["optimizer"] = servers_optimizer(script)
    words: Dict[str, Any] = {"seed": script.seed, "peers": script.peers, "algorithm": algorithm, "train": train}
    if script.method in ("d-psgd", "ad-psgd"):
        words["topology"] = f"file:{graph}"
    if script.habits["loop"] in ("stopped", "running"):
        words["stop"] = {"rounds": script.rounds}
    return words


def servers_optimizer(script: Script) -> Dict[str, Any]:
    values = dict(script.optimizer["values"])
    if "betas" in values:
        values["beta1"], values["beta2"] = values.pop("betas")
        values["epsilon"] = values.pop("eps")
    return {"kind": script.optimizer["kind"].lower(), **values}


def given(life: Life) -> Tuple[Any, Dict[str, Any]]:
    """Returns the arguments of DistributedOptimizer after the optimizer."""
    how = life.habits["given"]
    if how == "nothing" and not life.script.optimizer["outside"]:
        return (), {}
    if how == "pairs":
        return (), {"named_parameters": list(life.model.named_parameters())}
    if how == "generator":
        return (life.model.named_parameters(),), {}
    return (life.model,), {}


def loop(script: Script, rank: int) -> Iterator[int]:
    """Yields as often as a script steps, in the manner that was drawn."""
    how, steps = script.habits["loop"], script.steps + (script.habits["more"][rank] if script.habits["more"] else 0)
    if how == "counted":
        yield from range(steps)
    elif how == "stopped":
        yield from itertools.count()
    elif how == "running":
        yield from gv.running(itertools.count())
    else:
        for _ in gv.epochs(script.rounds):
            yield from gv.running(range(script.local_steps))


class Virtual:
    """The peers of a script in one process."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.lives: Dict[int, Life] = {}
        self.ended: Dict[int, Dict[str, torch.Tensor]] = {}
        self.begun: List[torch.Tensor] = []

    def peer(self) -> None:
        """Is the function of a peer."""
        gv.init()
        life = Life(self.script, gv.rank())
        words, names = given(life)
        gv.DistributedOptimizer(life.optimizers if len(life.optimizers) > 1 else life.optimizer, *words, **names)
        life.joined()
        self.lives[gv.rank()] = life
        self.begun = [p.detach().clone() for p in life.model.parameters()]
        for _ in loop(self.script, gv.rank()):
            life.whole_step()
            life.after_step()
            gv.log(life.loss)
        self.ended[gv.rank()] = life.values()

    def run(self) -> Dict[str, Any]:
        """Trains, and returns the summary."""
        with tempfile.TemporaryDirectory() as folder:
            summary = gv.simulate(fleet(self.script, folder), self.peer, step=0.01)
        for rank, life in self.lives.items():
            self.ended.setdefault(rank, life.values())      # of one that step() ended
        return summary

    def apart(self) -> float:
        """Returns how far the peers end from the reference: the largest difference of a tensor, relative to its size.

        A script in which float32 itself rounds by more than that counts by the share of this rounding.
        """
        expected = Reference(self.script).run()
        worst = max(difference(self.ended[rank][name], value) for rank, name, value in each(expected))
        if worst <= EXACTLY:
            return worst
        doubles = Reference(self.script, torch.float64).run()
        rounding = max(difference(expected[rank][name], value) for rank, name, value in each(doubles))
        return worst * min(1.0, EXACTLY / max(ROUNDINGS * rounding, 1e-30))

    def finite(self) -> bool:
        """Returns whether all that the peers end with is finite."""
        return all(bool(value.isfinite().all()) for values in self.ended.values() for value in values.values())

    def lost(self) -> float:
        """Returns how much of the sum of all steps is missing in the sum of all models, relative to these."""
        worst = 0.0
        lives = [self.lives[rank] for rank in sorted(self.lives)]
        for k, parts in enumerate(zip(*[list(life.model.parameters()) for life in lives])):
            moved = sum(p.detach().double() for p in parts) - len(parts) * self.begun[k].double()
            steps = sum(life.moved(p).double() for life, p in zip(lives, parts))
            worst = max(worst, difference(moved, steps, len(parts) * size(self.begun[k])))
        return worst


def each(ends: List[Dict[str, torch.Tensor]]) -> Iterator[Tuple[int, str, torch.Tensor]]:
    """Yields rank, name and value of all tensors."""
    for rank, values in enumerate(ends):
        for name, value in values.items():
            yield rank, name, value


def size(x: torch.Tensor) -> float:
    return float(x.double().norm())


def difference(x: torch.Tensor, expected: torch.Tensor, least: float = 0.0) -> float:
    if not x.numel():
        return 0.0
    return size(x.double() - expected.double()) / max(size(expected), least, 0.1)
