"""A drawn script as a real peer: argv says its seed and method, and which rank ends how, in which step."""

import json
import os
import signal
import sys

import torch

import grapevine.torch as gv
from drawn_deaths import Death
from drawn_scripts import Life


def end(way: str) -> None:
    if way == "raises":
        raise ValueError("drawn to fail")
    if way == "exits":
        sys.exit(9)
    os.kill(os.getpid(), signal.SIGKILL)


death = Death(*json.loads(sys.argv[1]))
torch.set_num_threads(1)
gv.init()
life = Life(death.script(), gv.rank())
gv.DistributedOptimizer(life.optimizer, life.model)
for step in range(death.steps):
    if (gv.rank(), step) == (death.rank, death.step):
        end(death.way)
    life.whole_step()
    life.after_step()
    gv.log(life.loss)
whole = all(p.isfinite().all() for p in life.model.parameters())
print("RESULT", json.dumps([gv.rank(), step + 1, bool(whole)]), flush=True)
