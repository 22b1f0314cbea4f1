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
    if way == "raises after shutdown":
        gv.shutdown()
    if way.startswith("raises"):
        raise ValueError("drawn to fail")
    if way == "is interrupted":
        raise KeyboardInterrupt
    if way == "exits":
        sys.exit(3)
    if way == "exits at once":
        os._exit(4)
    os.kill(os.getpid(), signal.SIGKILL)


death = Death(*json.loads(sys.argv[1]))
torch.set_num_threads(1)
gv.init()
life = Life(death.script(), gv.rank())
gv.DistributedOptimizer(life.optimizer, life.model)
mine = gv.rank() == death.rank
steps = range(death.steps - (mine and death.way == "makes a step less"))
try:
    for step in gv.running(steps) if death.running else steps:
        if mine and step == death.step and death.way != "makes a step less":
            if death.way == "breaks":
                break
            end(death.way)
        life.whole_step()
        life.after_step()
        gv.log(life.loss)
finally:
    print("FINALLY", json.dumps([gv.rank() if gv.is_initialized() else death.rank]), flush=True)
whole = all(p.isfinite().all() for p in life.model.parameters())
print("RESULT", json.dumps([gv.rank(), step + 1, bool(whole)]), flush=True)
