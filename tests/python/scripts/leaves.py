"""One peer goes in the middle, as its `way` says, while the others wait for it in a sum; then they train on."""

import json
import os
import signal
import sys

import torch

import grapevine.torch as gv

given, = json.loads(sys.argv[1])
gv.init(given["fleet"], given["id"], meet=given["meet"])
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
gv.DistributedOptimizer(optimizer, model)


def step():
    optimizer.zero_grad()
    model(torch.randn(2, 3)).square().mean().backward()
    optimizer.step()


step()
total = gv.allreduce(torch.ones(3), op="sum").tolist()
step()
if gv.rank() == given["who"]:
    if given["way"] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if given["way"] == "fails":
        raise RuntimeError("as a script fails")
    gv.shutdown()
    sys.exit(0)
why = []
for _ in range(3):
    try:
        gv.allreduce(torch.ones(3))
        why.append("none")
    except gv.PeerLost as lost:
        why.append(str(lost).splitlines()[0])
step()
step()
with open(given["answer"], "w") as answer:
    json.dump({"total": total, "why": why, "round": gv.round()}, answer)
