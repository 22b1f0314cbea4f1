"""Two calls around the step of the user's own optimizer object, in every version of PyTorch."""

import contextlib
import functools
import sys
import types
from types import FrameType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.optim import optimizer as steps     # a module, which torch.optim does not show

from grapevine._errors import Error

Before = Callable[[Any], bool]      # takes the loss, where it is known; False: this step must do nothing
After = Callable[[], None]
GLOBALLY = getattr(steps, "register_optimizer_step_post_hook", None)      # since torch 2.1
MARK = "_grapevine_hooks"           # of an optimizer that has some


class Hooks:
    """Calls `before` when a step begins, or where a closure computes the gradient when that is done, and `after`."""

    def __init__(self, optimizer: torch.optim.Optimizer, before: Before, after: After,
                 synchronize: After = lambda: None,
                 goes_by: Callable[[Any], None] = lambda optimizer: None) -> None:
        """synchronize: averages the gradients before the step where the method averages gradients; the optimizer gets
        it as a method, with Horovod's skip_synchronize, and scalers and clipping call it. goes_by: is called after each
        step that another optimizer has made while this one made none.
        """
        if isinstance(optimizer, torch.optim.LBFGS):
            raise Error("LBFGS computes several gradients a step, and a peer has one a turn\n"
                        "help: an optimizer of one gradient a step")
        self._before, self._after = before, after
        self.synchronize = synchronize
        self._handles: list = []
        self._goes_by, self._inside, self._steps = goes_by, False, 0
        self._outermost: Optional[FrameType] = None     # the call of step() under way, or one that failed
        self._began: Dict[int, int] = {}        # how many steps this optimizer had made when another one began
        self._optimizer = optimizer
        vars(optimizer).update({"synchronize": synchronize, "skip_synchronize": contextlib.nullcontext, MARK: self,
                                "set_backward_passes_per_step": lambda passes: None})
        for kind in scalers():
            average_before(kind, "unscale_", lambda scaler, optimizer, *rest, **named: [optimizer])
            average_before(kind, "step", lambda scaler, optimizer, *rest, **named: [optimizer])
        for name in ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"):
            for place in (torch.nn.utils, torch.nn.utils.clip_grad):
                if hasattr(place, name):
                    average_before(place, name, lambda parameters, *rest, **named: _trains(parameters))
        _hooked.append(self)
        self._global = [] if GLOBALLY is None else [
            steps.register_optimizer_step_pre_hook(self._other_begins), GLOBALLY(self._other_ends)]
        if hasattr(optimizer, "_optimizer_step_pre_hooks"):
            self._handles = [optimizer.register_step_pre_hook(self._pre), optimizer.register_step_post_hook(self._post)]
        else:
            self._step = optimizer.__dict__.get("step")
            optimizer.step = wrapped(optimizer, self._pre, self._post)

    def remove(self) -> None:
        """Leaves the optimizer as it was."""
        _hooked.remove(self)
        for handle in self._global:
            handle.remove()
        for name in ("synchronize", "skip_synchronize", "set_backward_passes_per_step", MARK):
            vars(self._optimizer).pop(name, None)
        for handle in self._handles:
            handle.remove()
        if self._handles:
            return
        del self._optimizer.step
        if self._step is not None:
            self._optimizer.step = self._step

    def skips(self) -> bool:
        """Says whether a scaler has found values that are not finite, and told the optimizer to do nothing."""
        found = getattr(self._optimizer, "found_inf", None)
        return found is not None and bool(found)

    def _other_begins(self, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
        self._began[id(optimizer)] = self._steps

    def _other_ends(self, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
        """Passes over this optimizer, those that it steps, and those that step it, as SAM does with its base."""
        began = self._began.pop(id(optimizer), None)
        if optimizer is self._optimizer or self._inside or began != self._steps:
            return
        self._goes_by(optimizer)

    def _pre(self, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict) -> Optional[Tuple[tuple, dict]]:
        """args: the optimizer itself, and perhaps the closure.

        Does nothing inside another step: PyTorch calls hooks again when a subclass's step calls its base's.
        """
        step = sys._getframe(1)
        if self._outermost is not None and is_within(self._outermost, step):
            return None
        self._outermost = step
        self._inside = True
        self._steps += 1
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            self._gradient_is_there(None)
            return None
        once = self._once(closure)
        if len(args) > 1:
            return (args[0], once, *args[2:]), kwargs
        return args, {**kwargs, "closure": once}

    def _once(self, closure: Callable[[], Any]) -> Callable[[], Any]:
        calls = 0

        def called() -> Any:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise Error(f"{type(self._optimizer).__name__} calls its closure more than once a step, and a peer "
                            "has one gradient a turn\nhelp: an optimizer of one gradient a step")
            loss = closure()
            self._gradient_is_there(loss)
            return loss
        return called

    def _gradient_is_there(self, loss: Any) -> None:
        if not self._before(loss):
            for group in self._optimizer.param_groups:
                for p in group["params"]:
                    p.grad = None       # of which every optimizer makes no step

    def _post(self, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
        if self._outermost is not sys._getframe(1):
            return
        self._outermost = None
        self._inside = False
        self._after()


def is_within(outer: FrameType, frame: Optional[FrameType]) -> bool:
    """Returns whether a call is made by another one, directly or not."""
    while frame is not None and frame is not outer:
        frame = frame.f_back
    return frame is outer


def wrapped(optimizer: torch.optim.Optimizer, pre: Callable, post: Callable) -> Callable:
    """Returns a step with hooks, for PyTorch before 2.0. Schedulers count steps by a mark on it, which is kept."""
    inner = optimizer.step

    def step(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        changed = pre(self, (self, *args), kwargs)
        given, named = changed if changed is not None else ((self, *args), kwargs)
        result = inner(*given[1:], **named)
        post(self, given, named)
        return result
    if getattr(inner, "_with_counter", False):
        step._with_counter = True     # type: ignore[attr-defined]
    return types.MethodType(step, optimizer)


_hooked: List[Hooks] = []


def listen(kind: type) -> None:
    """Tells all hooks of the steps of a class of optimizers and its subclasses, for PyTorch before 2.1."""
    for below in kind.__subclasses__():
        listen(below)
    inner = kind.step       # type: ignore[attr-defined]
    if kind is torch.optim.Optimizer or hasattr(inner, MARK):
        return

    @functools.wraps(inner)
    def step(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        for hooks in _hooked:
            hooks._other_begins(self, args, kwargs)
        result = inner(self, *args, **kwargs)
        for hooks in list(_hooked):
            hooks._other_ends(self, args, kwargs)
        return result
    setattr(step, MARK, True)
    kind.step = step        # type: ignore[attr-defined]


def listen_to_all() -> None:
    """Does so for all classes, those that come later included: each optimizer that is made asks for its class's."""
    listen(torch.optim.Optimizer)
    inner = torch.optim.Optimizer._hook_for_profile

    def hook_for_profile(self: torch.optim.Optimizer) -> None:
        inner(self)
        listen(type(self))
    torch.optim.Optimizer._hook_for_profile = hook_for_profile       # type: ignore[method-assign]


if GLOBALLY is None:
    listen_to_all()


def plain(optimizer: Any) -> Any:
    """Returns the optimizer of PyTorch inside others that wrap it, as accelerate's does."""
    while not hasattr(optimizer, "_optimizer_step_pre_hooks") and hasattr(
            getattr(optimizer, "optimizer", None), "param_groups"):
        optimizer = optimizer.optimizer
    return optimizer


def scalers() -> List[type]:
    """Returns the classes of PyTorch's scalers of losses: two, of which one may be the other's base."""
    found = [getattr(getattr(torch, "amp", None), "GradScaler", None), torch.cuda.amp.GradScaler]
    return [kind for kind in found if kind is not None and "step" in vars(kind)]


def _trains(parameters: Any) -> Sequence[Any]:
    """Returns the optimizers with hooks that have any of these parameters."""
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    ids = {id(p) for p in parameters}
    return [hooks._optimizer for hooks in _hooked
            if any(id(p) in ids for group in hooks._optimizer.param_groups for p in group["params"])]


def average_before(owner: Any, name: str, optimizers: Callable) -> None:
    """Makes a function of PyTorch average the gradients first, once; it stays what it was for other optimizers.

    optimizers: those whose gradients it looks at, of its arguments.
    """
    inner = getattr(owner, name)
    if hasattr(inner, MARK):
        return

    @functools.wraps(inner)
    def averaging(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = listed(args, kwargs)
        for optimizer in optimizers(*args, **kwargs):
            hooks = getattr(plain(optimizer), MARK, None)
            if hooks is not None:
                hooks.synchronize()
        return inner(*args, **kwargs)
    setattr(averaging, MARK, True)
    setattr(owner, name, averaging)


def listed(args: tuple, kwargs: dict) -> Tuple[tuple, dict]:
    """Returns the arguments with a list in the place of an iterator, which can be read once."""
    def kept(value: Any) -> Any:
        return list(value) if isinstance(value, Iterator) else value
    return tuple(map(kept, args)), {name: kept(value) for name, value in kwargs.items()}
