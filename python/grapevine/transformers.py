"""A Trainer of Hugging Face's Transformers as a peer of a fleet.

    gv.init()                                             # before the model, so that all peers make the same one
    Trainer(model, arguments, train_dataset=gv.shard(data), callbacks=[grapevine.transformers.Callback()]).train()

The Trainer stays as it is. Each step of its optimizer is a round of the peer, even if it accumulates several batches.
"""

from typing import Any, Callable, Dict, List, Optional

from transformers import TrainerCallback

import grapevine.torch as gv
from grapevine import _process


class Callback(TrainerCallback):
    """Joins the fleet when training begins and leaves when it ends. Ends training when the fleet stops."""

    def __init__(self, evaluate: Optional[Callable] = None) -> None:
        """evaluate: as for DistributedOptimizer; it gets the Trainer's model."""
        self._evaluate = evaluate
        self._parts: List[Any] = []
        if not gv.is_initialized():
            gv.init()

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None,
                       lr_scheduler: Any = None, **others: Any) -> None:
        plain = getattr(optimizer, "optimizer", optimizer)      # accelerate wraps it
        gv.DistributedOptimizer(plain, model, evaluate=self._evaluate, state=[lr_scheduler] if lr_scheduler else [])
        self._hook = model.register_forward_hook(self._noted, with_kwargs=True)
        _process.current().progress.active = True      # this callback ends the loop, and no exception

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if self._parts:
            gv.log(sum(self._parts))
            self._parts.clear()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        _process.current().progress.samples += args.per_device_train_batch_size * args.gradient_accumulation_steps
        control.should_training_stop = control.should_training_stop or _process.current().progress.over()

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._hook.remove()
        gv.shutdown()

    def _noted(self, model: Any, arguments: Any, named: Dict[str, Any], output: Any) -> None:
        """Notes the loss of a batch, which the Trainer tells nobody before it logs.

        Where the Trainer names the items of all batches of a step, each loss is a part of the step's, and else a mean.
        """
        loss = output.get("loss") if isinstance(output, dict) else None
        if not model.training or loss is None:
            return
        if named.get("num_items_in_batch") is None:
            gv.log(loss)
        else:
            self._parts.append(loss.detach())
