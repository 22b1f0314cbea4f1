"""Two calls around the step of the user's own optimizer object, in every version of PyTorch."""

import types
from typing import Any, Callable, Optional, Tuple

import torch

from grapevine._errors import Error

Before = Callable[[Any], bool]      # takes the loss, where it is known; False: this step must do nothing
After = Callable[[], None]


class Hooks:
    """Calls `before` when a step begins, or where a closure computes the gradient when that is done, and `after`."""

    def __init__(self, optimizer: torch.optim.Optimizer, before: Before, after: After) -> None:
        if isinstance(optimizer, torch.optim.LBFGS):
            raise Error("LBFGS computes several gradients a step, and a peer has one a turn\n"
                        "help: an optimizer of one gradient a step")
        self._before, self._after = before, after
        self._handles: list = []
        self._optimizer = optimizer
        if hasattr(optimizer, "register_step_pre_hook"):
            self._handles = [optimizer.register_step_pre_hook(self._pre), optimizer.register_step_post_hook(self._post)]
        else:
            self._step = optimizer.__dict__.get("step")
            optimizer.step = wrapped(optimizer, self._pre, self._post)

    def remove(self) -> None:
        """Leaves the optimizer as it was."""
        for handle in self._handles:
            handle.remove()
        if self._handles:
            return
        del self._optimizer.step
        if self._step is not None:
            self._optimizer.step = self._step

    def _pre(self, optimizer: torch.optim.Optimizer, args: tuple, kwargs: dict) -> Optional[Tuple[tuple, dict]]:
        """args: the optimizer itself, and perhaps the closure."""
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
        self._after()


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
