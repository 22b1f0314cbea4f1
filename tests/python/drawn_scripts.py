"""Scripts of PyTorch drawn from a seed. A peer of a fleet and the reference in one process follow the same Life."""

import math
import random
from dataclasses import asdict, dataclass, replace
from typing import Any, Dict, List, Optional, Tuple

import torch

from drawn_models import DrawnModel, batch, draw_model, uses_spare

METHODS = ("all-reduce", "d-psgd", "local-sgd", "parameter-server", "ad-psgd")
HAS_SCALER = hasattr(getattr(torch, "amp", None), "GradScaler")      # for the CPU, since torch 2.3


@dataclass(frozen=True)
class Script:
    """Values alone, so that a draw can be written down, changed and made again."""
    seed: int
    method: str
    order: Optional[str]
    peers: int
    edges: Tuple[Tuple[int, int], ...]
    rounds: int
    local_steps: int
    model: Dict[str, Any]
    optimizer: Dict[str, Any]
    habits: Dict[str, Any]
    wrong: Optional[str] = None

    @property
    def steps(self) -> int:
        return self.rounds * self.local_steps

    def changed(self, **values: Any) -> "Script":
        return replace(self, **values)

    def habit(self, **values: Any) -> "Script":
        return replace(self, habits={**self.habits, **values})

    def plain(self, **values: Any) -> "Script":
        """Returns it with other values of its optimizer."""
        return replace(self, optimizer={**self.optimizer, "values": {**self.optimizer["values"], **values}})

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in asdict(self).items())


def draw_script(seed: int, method: Optional[str] = None) -> Script:
    """Returns the script of a seed."""
    draw = random.Random(seed)
    method = method or METHODS[seed % len(METHODS)]
    peers = draw.randint(2, 5)
    order = draw.choice(["lian", "lian", "atc", "cta"]) if method == "d-psgd" else None
    local_steps = draw.randint(1, 4) if method == "local-sgd" or order and draw.random() < 0.3 else 1
    script = Script(seed, method, order, peers, draw_graph(draw, peers), draw.randint(2, 5), local_steps,
                    draw_model(draw), draw_optimizer(draw), {})
    if script.model["spare"] == "never" and seed % 3 == 0:
        script = script.changed(model={**script.model, "spare": "nothing of it"})
    script = script.changed(habits=draw_habits(draw, script))
    if script.habits["scaler"]:     # which would never look at what is outside, where infinite values would stay
        script = script.changed(optimizer={**script.optimizer, "outside": False})
    if method == "parameter-server":
        script = served(script)
    elif method != "all-reduce" and draw.random() < 0.15:
        script = with_two_optimizers(script)
    elif method != "all-reduce" and script.optimizer["kind"] == "SGD" and draw.random() < 0.2:
        script = script.changed(model={**script.model, "sparse": True})
        script = script.plain(weight_decay=0, momentum=0, nesterov=False)
        if script.habits["clip"] == "value":        # PyTorch does not clip sparse gradients so
            script = script.habit(clip="norm")
    if method in ("d-psgd", "ad-psgd") and sums_follow(script) and draw.random() < 0.25:
        script = script.habit(loop="counted", more=[draw.randrange(3) for _ in range(peers)], scheduler=None)
    return script


def draw_graph(draw: random.Random, peers: int) -> Tuple[Tuple[int, int], ...]:
    """Returns the edges of a random connected graph: a tree, and some more."""
    edges = {(draw.randrange(i), i) for i in range(1, peers)}
    edges |= {(i, j) for j in range(peers) for i in range(j) if draw.random() < 0.3}
    return tuple(sorted(edges))


def draw_optimizer(draw: random.Random) -> Dict[str, Any]:
    kind = draw.choice(["SGD", "SGD", "SGD", "Adam", "AdamW"])
    decay = draw.choice([0, 0, 0.01, 0.1])
    if kind == "SGD":
        momentum = draw.choice([0, 0, 0.5, 0.9])
        values = {"lr": draw.choice([0.05, 0.1, 0.3]), "momentum": momentum,
                  "nesterov": momentum > 0 and draw.random() < 0.5, "weight_decay": decay}
    else:
        values = {"lr": draw.choice([0.001, 0.01]), "betas": draw.choice([(0.9, 0.999), (0.8, 0.9)]),
                  "eps": draw.choice([1e-5, 1e-4]), "weight_decay": decay}
    return {"kind": kind, "values": values, "groups": draw.random() < 0.3, "outside": draw.random() < 0.1,
            "subclass": draw.random() < 0.15, "two": False}


def draw_habits(draw: random.Random, script: Script) -> Dict[str, Any]:
    steps, peers = script.steps, script.peers
    frozen = draw.choice([None, None, None, "first", "body.0", "head.bias"])
    later = draw.choice([None, None, "body.0", "first", "head.weight"])
    scaler = HAS_SCALER and script.method in ("all-reduce", "d-psgd", "local-sgd") and draw.random() < 0.25
    habits = {
        "accumulate": draw.choice([1, 1, 2, 3, 4]), "clip": draw.choice([None, None, "norm", "norm", "value"]),
        "zero": draw.choice(["optimizer", "optimizer", "model", "by hand", "zeros"]),
        "frozen": frozen, "later": later if later != frozen else None,
        "freeze_at": draw.randrange(1, steps + 1), "thaw_after": draw.choice([1, 2, 99]),
        "scheduler": draw.choice([None, None, "step", "cosine", "warm-up", "one cycle"]),
        "scheduler_last": draw.random() < 0.5,
        "given": draw.choice(["model", "model", "pairs", "generator", "nothing"]),
        "sizes": [draw.randint(4, 9) for _ in range(peers)], "alike": draw.random() < 0.7,
        "masked": (draw.randrange(peers), draw.randrange(steps)) if draw.random() < 0.2 else None,
        "moves": draw.randrange(1, steps + 1) if draw.random() < 0.15 else None, "more": None,
        "scaler": scaler, "unscales": draw.random() < 0.5, "closure": not scaler and draw.random() < 0.15,
        "infinite": (draw.randrange(peers), draw.randrange(steps)) if scaler and draw.random() < 0.6 else None,
        "loop": draw.choice(["counted", "stopped", "running", "epochs"])}
    if habits["infinite"] and script.method != "all-reduce":
        habits["loop"] = "stopped"      # a step that one rank leaves out is made by its next batch
        habits["scheduler"] = None
    return habits


def served(script: Script) -> Script:
    """Returns the script as servers take it: one rate, and the file's optimizer."""
    return script.changed(optimizer={**script.optimizer, "groups": False, "subclass": False, "outside": False},
                          habits={**script.habits, "scheduler": None})


def with_two_optimizers(script: Script) -> Script:
    """Returns the script with an optimizer for each half of the model, without what they would not share."""
    script = script.changed(optimizer={**script.optimizer, "groups": False, "two": True}).plain(weight_decay=0)
    return script.habit(scheduler=None, scaler=False, infinite=None, closure=False)


def sums_follow(script: Script) -> bool:
    """Returns whether a step follows from gradients alone, so that the sum of all models is that of all steps."""
    habits = script.habits
    return not script.optimizer["values"]["weight_decay"] and not habits["scaler"] and habits["alike"]


class Life:
    """What one rank's script has, and the parts of its loop."""

    def __init__(self, script: Script, rank: int, kind: torch.dtype = torch.float32) -> None:
        self.script, self.rank, self.habits, self.kind = script, rank, script.habits, kind
        torch.manual_seed(script.seed if self.habits["alike"] else script.seed * 10 + rank)
        self.model: Any = DrawnModel(script.model).to(kind)
        for name, p in self.model.named_parameters():
            if self.habits["frozen"] and name.startswith(self.habits["frozen"]):
                p.requires_grad_(False)
        self.optimizers = make_optimizers(script, self.model)
        self.optimizer = self.optimizers[-1]
        self.scheduler = None if self.habits["scheduler_last"] else self.make_scheduler()
        self.scaler: Any = None
        if self.habits["scaler"]:
            self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2)
        self.shadows = list(map(Shadow, self.optimizers))
        self.step = 0
        self.loss: Any = None

    def make_scheduler(self) -> Any:
        return make_scheduler(self.habits["scheduler"], self.optimizer, self.script.steps)

    def joined(self) -> None:
        """Follows DistributedOptimizer."""
        if self.habits["scheduler_last"]:
            self.scheduler = self.make_scheduler()

    def gradient(self) -> None:
        """Computes the gradient of a step, of several batches perhaps."""
        self._edit()
        self._zero()
        for part in range(self.habits["accumulate"]):
            seed = (self.script.seed, self.rank, self.step, part)
            x, y = batch(self.script.model, seed, self.habits["sizes"][self.rank])
            if x.is_floating_point():
                x = x.to(self.kind)
            output = self.model(x, spare=uses_spare(self.script.model, self.rank, self.step), seed=hash(seed))
            loss = torch.nn.functional.cross_entropy(output, y) / self.habits["accumulate"]
            if self.script.model["spare"] == "nothing of it" and self.rank % 2:
                loss = loss - 0.0 * sum(p.sum() for p in self.model.spare.parameters())     # a gradient of -0.0
            if self.habits["masked"] == (self.rank, self.step):
                loss = loss * 0.0
            if self.habits["infinite"] == (self.rank, self.step):
                loss = loss * math.inf
            (self.scaler.scale(loss) if self.scaler else loss).backward()
            self.loss = loss.detach()

    def bound(self) -> None:
        """Unscales and clips, as scripts do between backward and step."""
        if self.scaler and (self.habits["clip"] or self.habits["unscales"]):
            self.scaler.unscale_(self.optimizer)
        if self.habits["clip"] == "norm":
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 0.4)
        elif self.habits["clip"] == "value":
            torch.nn.utils.clip_grad_value_(self.model.parameters(), 0.05)

    def make_step(self) -> None:
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            for optimizer in self.optimizers:
                optimizer.step()

    def whole_step(self) -> None:
        """Makes a step as a peer's script does, by a closure perhaps."""
        def closure() -> Any:
            self.gradient()
            self.bound()
            return self.loss
        try:
            if self.habits["closure"]:
                self.optimizer.step(closure)
            else:
                closure()
                self.make_step()
        finally:
            for shadow, optimizer in zip(self.shadows, self.optimizers):
                shadow.follow(optimizer)        # after the last step too, which Stopped ends

    def after_step(self) -> None:
        """Does what follows a step."""
        self.step += 1
        if self.scheduler:
            self.scheduler.step()

    def moved(self, p: torch.Tensor) -> torch.Tensor:
        """Returns the sum of all steps of a parameter."""
        steps = [mine.detach() for shadow in self.shadows for other, mine in shadow.pairs if other is p]
        return steps[0] if steps else torch.zeros_like(p)

    def values(self) -> Dict[str, torch.Tensor]:
        """Returns a copy of all parameters and buffers."""
        return {name: value.clone() for name, value in self.model.state_dict().items()}

    def _edit(self) -> None:
        habits = self.habits
        for name, p in self.model.named_parameters():
            if habits["later"] and name.startswith(habits["later"]):
                if self.step == habits["freeze_at"]:
                    p.requires_grad_(False)
                elif self.step == habits["freeze_at"] + habits["thaw_after"]:
                    p.requires_grad_(not (habits["frozen"] and name.startswith(habits["frozen"])))
            if self.step == habits["moves"]:
                p.data = p.data.clone(memory_format=torch.preserve_format)

    def _zero(self) -> None:
        if self.habits["zero"] in ("optimizer", "zeros"):
            for optimizer in self.optimizers:
                optimizer.zero_grad(set_to_none=self.habits["zero"] == "optimizer")
        elif self.habits["zero"] == "model":
            self.model.zero_grad(set_to_none=True)
        else:
            for p in self.model.parameters():
                p.grad = None


class Shadow:
    """The sum of all steps: the same optimizer, by the same gradients, on tensors that begin at zero."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.pairs: List[Tuple[Any, Any]] = []
        groups = []
        for group in optimizer.param_groups:
            mine = [torch.nn.Parameter(torch.zeros_like(p)) for p in group["params"]]
            self.pairs += zip(group["params"], mine)
            groups.append({**{key: value for key, value in group.items() if key != "params"}, "params": mine})
        self._optimizer = next(kind for kind in type(optimizer).__mro__ if kind.__module__.startswith("torch.optim"))(
            groups, lr=0.1)

    def follow(self, optimizer: torch.optim.Optimizer) -> None:
        """Makes the step that the optimizer has just made."""
        for mine, group in zip(self._optimizer.param_groups, optimizer.param_groups):
            mine.update({key: value for key, value in group.items() if key != "params"})
        for p, mine in self.pairs:
            mine.grad = None if p.grad is None else p.grad.detach().clone()
        self._optimizer.step()


def make_optimizers(script: Script, model: Any) -> List[torch.optim.Optimizer]:
    values = script.optimizer
    base = getattr(torch.optim, values["kind"])
    kind = base
    if values["subclass"]:
        kind = type("Own" + values["kind"], (base,), {"step": lambda self, closure=None: base.step(self, closure)})
    parameters = [p for name, p in model.named_parameters() if not (values["outside"] and name == "head.bias")]
    half = len(parameters) // 2
    if values["two"]:
        return [kind(parameters[:half], **values["values"]), kind(parameters[half:], **values["values"])]
    if not values["groups"]:
        return [kind(parameters, **values["values"])]
    return [kind([{"params": parameters[:half], "lr": values["values"]["lr"] / 2, "weight_decay": 0},
                  {"params": parameters[half:]}], **values["values"])]


def make_scheduler(kind: Optional[str], optimizer: torch.optim.Optimizer, steps: int) -> Any:
    schedules = torch.optim.lr_scheduler
    if kind == "step":
        return schedules.StepLR(optimizer, 2, 0.5)
    if kind == "cosine":
        return schedules.CosineAnnealingLR(optimizer, steps + 1)
    if kind == "warm-up":
        return schedules.LambdaLR(optimizer, lambda step: min(1.0, step / 3))
    if kind == "one cycle":
        return schedules.OneCycleLR(optimizer, 0.1, total_steps=steps + 2, cycle_momentum=False)
    return None
