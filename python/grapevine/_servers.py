"""The step of parameter servers beside the script's optimizer, which must mean the same."""

import math
from typing import Any, Dict, Optional, Sequence

import torch

from grapevine._errors import Error

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

    def check(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        """Raises Error if the servers would step otherwise than the script's optimizer."""
        if self._step is None:
            return
        (optimizer,) = optimizers
        if self._step["kind"] not in KEYS:      # chosen for the servers by the method's own option
            return self.look(optimizers)
        given = [written(optimizer, group) for group in optimizer.param_groups]
        here = {key: self._step[key] for key in ("kind", *KEYS[self._step["kind"]])}
        if self._varies:
            for group, each in zip(optimizer.param_groups, given):
                each["lr"] = float(group.get("initial_lr", each["lr"]))
        other = next((each for each in given if not alike(each, here)), None)
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
