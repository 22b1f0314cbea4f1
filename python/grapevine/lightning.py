"""A Lightning Trainer as a peer of a fleet.

    gv.init()                                             # before the model, so that all peers make the same one
    trainer = Trainer(devices=1, callbacks=[grapevine.lightning.Callback(evaluate=loss_and_accuracy)])

Use one device per process and no strategy, because Lightning does not start the fleet. Lightning's loop, schedulers and
logger stay. Each step of the last optimizer is a round of the peer.
"""

from typing import Any, Callable, Iterable, Optional

import grapevine.torch as gv
from grapevine import _process
from grapevine._progress import length

try:
    from lightning.pytorch import Callback as Base
except ImportError:
    from pytorch_lightning import Callback as Base


class Callback(Base):
    """Joins the fleet when fitting begins and leaves when it ends. Ends fitting when the fleet stops."""

    def __init__(self, evaluate: Optional[Callable] = None, calibrate: Optional[Iterable] = None) -> None:
        """evaluate, calibrate: as for DistributedOptimizer; evaluate gets the LightningModule."""
        self._evaluate, self._calibrate = evaluate, calibrate

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit" and not gv.is_initialized():     # Trainer.test after it trains nothing
            gv.init()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        schedulers = [config.scheduler for config in trainer.lr_scheduler_configs]
        gv.DistributedOptimizer(trainer.optimizers, pl_module, evaluate=self._evaluate, calibrate=self._calibrate,
                                state=schedulers)
        _process.current().progress.active = True      # this callback ends the loop, and no exception

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        _process.current().progress.samples += length(batch)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        gv.log(loss)
        trainer.should_stop = trainer.should_stop or _process.current().progress.over()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        gv.shutdown()
