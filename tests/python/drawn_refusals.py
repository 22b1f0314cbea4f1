"""What a script may not do, by the rows of docs/how-to/pytorch.md, drawn into scripts that would run without it."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

import torch

import grapevine.torch as gv
from drawn_fleets import Virtual
from drawn_scripts import Life, Script, draw_script, make_optimizers

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "pytorch.md"
MODELS = ("d-psgd", "local-sgd", "ad-psgd")
GRADIENTS = ("all-reduce", "parameter-server")


def nothing(life: Life) -> None:
    pass


@dataclass(frozen=True)
class Refusal:
    """A row of the page: its words there, the message, and what a script does that it forbids."""
    page: str
    message: str
    model: Callable[[Life], None] = nothing     # before there is an optimizer
    joins: Optional[Callable[[Life], Tuple[Any, Dict[str, Any]]]] = None      # the arguments of DistributedOptimizer
    step: Callable[[Life], None] = nothing      # in place of a step
    methods: Tuple[str, ...] = (*MODELS, *GRADIENTS)
    kind: Type[BaseException] = gv.Error
    fleet: Callable[[Script], Script] = lambda script: script


def replaces_head(make: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Life], None]:
    def model(life: Life) -> None:
        life.model.head.bias = torch.nn.Parameter(make(life.model.head.bias.detach()))
    return model


def several_steps(life: Life) -> Tuple[Any, Dict[str, Any]]:
    class Twice(torch.optim.SGD):
        """Computes two gradients a step."""

        def step(self, closure: Any = None) -> Any:
            closure()
            return super().step(closure)
    life.optimizer = Twice(life.model.parameters(), lr=0.1)
    return (life.optimizer, life.model), {}


def calls_twice(life: Life) -> None:
    life.optimizer.step(lambda: life.gradient() or life.loss)


def two(life: Life) -> Tuple[Any, Dict[str, Any]]:
    parameters = list(life.model.parameters())
    return ([torch.optim.SGD(parameters[:1], lr=0.1), torch.optim.SGD(parameters[1:], lr=0.1)], life.model), {}


def two_rates(life: Life) -> Tuple[Any, Dict[str, Any]]:
    parameters = list(life.model.parameters())
    return (torch.optim.SGD([{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.2}], lr=0.1),
            life.model), {}


def unfreezes(life: Life) -> None:
    life.model.head.bias.requires_grad_(True)
    life.whole_step()


def adds_a_group(life: Life) -> None:
    life.optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(2))]})
    life.whole_step()


def reshapes(life: Life) -> None:
    life.model.head.bias.data = life.model.head.bias.data[:2]
    life.model.head.bias.grad = None
    life.optimizer.step()


def steps_another(life: Life) -> None:
    life.gradient()
    torch.optim.SGD(life.model.parameters(), lr=0.1).step()


def freezes(life: Life) -> None:
    life.model.head.bias.requires_grad_(False)


def other_rate(life: Life) -> Tuple[Any, Dict[str, Any]]:
    life.optimizer.param_groups[0]["lr"] *= 2
    return (life.optimizer, life.model), {}


def without_the_last(life: Life) -> torch.optim.Optimizer:
    life.optimizer.param_groups[0]["params"] = [
        p for p in life.optimizer.param_groups[0]["params"] if p is not life.model.head.bias]
    return life.optimizer


def scheduled(life: Life) -> Tuple[Any, Dict[str, Any]]:
    life.scheduler = torch.optim.lr_scheduler.StepLR(life.optimizer, 1, 0.5)
    return (life.optimizer, life.model), {}


REFUSALS: Dict[str, Refusal] = {
    "float64": Refusal("Parameters are float32", "parameters travel as float32", replaces_head(torch.Tensor.double)),
    "float16": Refusal("weights in half precision are refused", "would round away", replaces_head(torch.Tensor.half)),
    "bfloat16": Refusal("float16, bfloat16", "would round away", replaces_head(torch.Tensor.bfloat16)),
    "complex": Refusal("complex", "is complex64", replaces_head(lambda p: p.to(torch.complex64))),
    "expanded": Refusal("expanded tensors", "is expanded", replaces_head(lambda p: p[:1].expand(len(p)))),
    "lbfgs": Refusal("| LBFGS", "computes several gradients a step", methods=(*MODELS, "all-reduce"),
                     joins=lambda life: ((torch.optim.LBFGS(life.model.parameters()), life.model), {})),
    "two gradients": Refusal("whatever computes several gradients a step", "calls its closure more than once",
                             joins=several_steps, step=calls_twice, methods=(*MODELS, "all-reduce")),
    "two optimizers": Refusal("several optimizers, with a method that sends gradients", "there are 2", joins=two,
                              methods=GRADIENTS),
    "two rates": Refusal("several learning rates, with a method that needs the rate", "needs one learning rate",
                         joins=two_rates, methods=("d-psgd",),
                         fleet=lambda script: script.changed(method="slowmo", order=None)),
    "unfreezes": Refusal("unfreezes what was frozen at the start", "is trained now, and was not", freezes,
                         step=unfreezes, kind=gv.Disagreement),
    "adds a group": Refusal("adds a layer or a parameter group", "is trained now, and was not", step=adds_a_group,
                            kind=gv.Disagreement, methods=(*MODELS, "all-reduce")),
    "reshapes": Refusal("changes its shape, type or device", "has changed", step=reshapes, kind=gv.Disagreement),
    "another optimizer": Refusal("steps with an optimizer that `DistributedOptimizer` was not given",
                                 "was not given steps", step=steps_another,
                                 methods=("all-reduce",)),
    "a sum": Refusal("a sum is refused", "peers average",
                     joins=lambda life: ((life.optimizer, life.model), {"op": gv.Sum})),
    "compression": Refusal("`Compression.fp16`", "is compressed by the fleet file", joins=lambda life: (
        (life.optimizer, life.model), {"compression": gv.Compression.fp16})),
    "other rate than the servers": Refusal("optimizer must be the same one", "the servers step, by", joins=other_rate,
                                           methods=("parameter-server",)),
    "an optimizer that servers lack": Refusal(
        "(SGD, Adam or AdamW, with the same numbers)", "the servers have no RMSprop", methods=("parameter-server",),
        joins=lambda life: ((torch.optim.RMSprop(life.model.parameters()), life.model), {})),
    "a tensor that servers would step": Refusal(
        "It must have all tensors that are trained", "would step head.bias", methods=("parameter-server",),
        joins=lambda life: ((without_the_last(life), life.model), {})),
    "a schedule that servers lack": Refusal("A rate that changes during the run is `train.optimizer.schedule`",
                                            "a scheduler of the script changes its own", joins=scheduled,
                                            methods=("parameter-server",)),
}


def draw_refused(seed: int) -> Script:
    """Returns a script that must be refused; its habits are those that do not hide what is wrong."""
    draw = random.Random(f"refused {seed}")
    script = draw_script(seed)
    names: List[str] = [name for name, refusal in REFUSALS.items() if script.method in refusal.methods]
    wrong = draw.choice(names)
    script = script.changed(wrong=wrong, optimizer={**script.optimizer, "groups": False, "two": False,
                                                    "outside": False, "subclass": False},
                            model={**script.model, "tied": False, "sparse": False})
    script = script.habit(frozen=None, later=None, closure=False, scaler=False, infinite=None, more=None,
                          given="model", loop="counted")
    return REFUSALS[wrong].fleet(script)


class Refused(Virtual):
    """The peers of a script that must be refused."""

    def peer(self) -> None:
        """Is the function of a peer."""
        gv.init()
        refusal = REFUSALS[str(self.script.wrong)]
        life = Life(self.script, gv.rank())
        refusal.model(life)
        life.optimizers = make_optimizers(self.script, life.model)
        life.optimizer = life.optimizers[-1]
        words, names = refusal.joins(life) if refusal.joins else ((life.optimizer, life.model), {})
        gv.DistributedOptimizer(*words, **names)
        for step in range(self.script.steps):
            if step == 1:
                refusal.step(life)
            if refusal.step is not calls_twice:
                life.whole_step()
            life.step += 1

    def complaint(self) -> str:
        """Returns what is wrong with the refusal; empty if it says what the page does, and what to do."""
        refusal = REFUSALS[str(self.script.wrong)]
        try:
            self.run()
        except refusal.kind as why:
            return "" if refusal.message in str(why) and "\nhelp: " in str(why) else f"is refused otherwise: {why}"
        except Exception as why:
            return f"ends with {type(why).__name__}: {why}"
        return "is not refused"
