"""The step of parameter servers beside the script's optimizer, which must mean the same."""

import math
from typing import Any, Dict, Optional, Sequence, Set

import torch

from grapevine._errors import Error
from grapevine._tensors import Named

KINDS = {torch.optim.SGD: "sgd", torch.optim.Adam: "adam", torch.optim.AdamW: "adamw"}
KEYS = {"sgd": ("lr", "momentum", "nesterov", "weight_decay"),
        "adam": ("lr", "beta1", "beta2", "epsilon", "weight_decay"),
        "adamw": ("lr", "beta1", "beta2", "epsilon", "weight_decay")}
UNKNOWN = ("dampening", "amsgrad", "maximize")      # to the servers' optimizers
HELP = "or take a method whose peers step by themselves, such as all-reduce or d-psgd"


class ServersStep:
    """What the servers of a fleet step by; does nothing where no servers take gradients."""

    def __init__(self, info: Dict[str, Any]) -> None:
        self._step: Optional[Dict[str, Any]] = info.get("servers_step")
        self._method = info["algorithm"]
        self._idle: Set[str] = set()        # names of tensors that have had no gradient

    def check(self, optimizers: Sequence[torch.optim.Optimizer], trained: Named) -> None:
        """Raises Error if the servers would step otherwise than the script's optimizer.

        trained: the tensors that travel, all of which the servers step.
        """
        if self._step is None:
            return
        stepped = {id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
        others = [name for name, p in trained.items() if id(p) not in stepped]
        if others:
            raise Error(f"{self._method}: the servers would step {', '.join(others[:3])}, which the script's optimizer "
                        f"does not have\nhelp: freeze it by requires_grad_(False), give it to the optimizer, {HELP}")
        (optimizer,) = optimizers
        if self._step["kind"] not in KEYS:      # chosen for the servers by the method's own option
            return self.look(optimizers)
        given = [written(optimizer, group) for group in optimizer.param_groups]
        here = {key: self._step[key] for key in ("kind", *KEYS[self._step["kind"]])}
        if self._varies:
            for group, each in zip(optimizer.param_groups, given):
                each["lr"] = float(group.get("initial_lr", each["lr"]))
        other = next((each for each in given if not alike(each, here)), None)
        if other is not None and unknown(other):
            raise Error(f"{self._method}: the servers step, by {text(here)} of the fleet file, and the script's "
                        f"optimizer is {text(other)}: the servers have no {unknown(other)}\nhelp: take "
                        f"torch.optim.SGD, Adam or AdamW, without {', '.join(UNKNOWN)}, {HELP}")
        if other is not None:
            raise Error(f"{self._method}: the servers step, by {text(here)} of the fleet file, and the script's "
                        f"optimizer is {text(other)}\nhelp: write `train: {{ optimizer: {{ {text(other)} }} }}` into "
                        f"the fleet file if all parameter groups are alike, {HELP}")
        if not self._varies and any("initial_lr" in group for group in optimizer.param_groups):
            raise Error(f"{self._method}: the servers step at a rate of {self._step['lr']}, and a scheduler of the "
                        f"script changes its own\nhelp: write `train: {{ optimizer: {{ schedule: ... }} }}` into the "
                        f"fleet file, {HELP}")

    def look(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        """Raises Error if the script has changed its rate and the servers have not."""
        if self._step is None or self._varies:
            return
        for group in optimizers[0].param_groups:
            if not math.isclose(float(group["lr"]), self._step["lr"], rel_tol=1e-9):
                raise Error(f"{self._method}: the script's rate is {float(group['lr'])}, and the servers step at "
                            f"{self._step['lr']}\nhelp: give the fleet file the script's rate, by "
                            f"`train.optimizer.lr`, and its schedule, by `train.optimizer.schedule`, {HELP}")

    def moves(self, without: Sequence[str]) -> Optional[str]:
        """Returns, once for each name, what the servers do with tensors that have no gradient, if that moves them."""
        step, new = self._step, [name for name in without if name not in self._idle]
        if step is None or not new or (step["kind"] == "sgd" and not step["momentum"] and not step["weight_decay"]) \
                or step["kind"] not in KEYS:
            return None
        self._idle.update(new)
        return (f"{', '.join(new[:3])}: no gradient here. The servers take zeros for it, and their {step['kind']} may "
                "move such a tensor further, by momentum or weight decay")

    @property
    def _varies(self) -> bool:
        assert self._step is not None
        return self._step["schedule"] != "constant"


def written(optimizer: torch.optim.Optimizer, group: Dict[str, Any]) -> Dict[str, Any]:
    """Returns a parameter group in the fleet file's words, and what the file has no word for by PyTorch's."""
    kind = KINDS.get(type(optimizer), type(optimizer).__name__)
    values = {"lr": float(group.get("lr", 0)), "weight_decay": group.get("weight_decay", 0)}
    if kind == "sgd":
        values.update(momentum=group["momentum"], nesterov=group["nesterov"])
    elif kind in KEYS:
        values.update(beta1=float(group["betas"][0]), beta2=float(group["betas"][1]), epsilon=group["eps"])
    more = {key: group[key] for key in UNKNOWN if group.get(key)}
    return {"kind": kind, **{key: values[key] for key in KEYS.get(kind, ("lr",))}, **more}


def unknown(optimizer: Dict[str, Any]) -> str:
    """Returns what of a script's optimizer the servers have no counterpart of; empty if there is nothing."""
    return optimizer["kind"] if optimizer["kind"] not in KEYS else ", ".join(key for key in UNKNOWN if key in optimizer)


def alike(one: Dict[str, Any], other: Dict[str, Any]) -> bool:
    """Says whether two optimizers have the same words and values."""
    def same(a: Any, b: Any) -> bool:
        return a == b if isinstance(a, (str, bool)) else math.isclose(float(a), float(b), rel_tol=1e-9)
    return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)


def text(optimizer: Dict[str, Any]) -> str:
    """Returns it as the fleet file writes it, without what is usual."""
    usual = {"momentum": 0, "nesterov": False, "weight_decay": 0.01 if optimizer["kind"] == "adamw" else 0,
             "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    return ", ".join(f"{key}: {str(value).lower() if isinstance(value, bool) else value}"
                     for key, value in optimizer.items() if key not in usual or value != usual[key])
