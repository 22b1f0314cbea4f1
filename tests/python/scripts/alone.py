"""A fleet of one beside the same steps without it; and what is refused on the way."""

import json
import os
import sys

import torch

import grapevine.torch as gv


def trained(model, optimizer, steps):
    torch.manual_seed(3)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 5)).square().mean().backward()
        optimizer.step()
    return [p.tolist() for p in model.parameters()]


def made():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    return model, torch.optim.AdamW(model.parameters(), lr=0.01)


def refusal(call):
    try:
        call()
        return "none"
    except gv.Error as error:
        return str(error).splitlines()[0]


refused = {"before init": refusal(gv.rank)}
gv.init()
refused["init twice"] = refusal(gv.init)
plain = trained(*made(), 20)
model, optimizer = made()
same = gv.DistributedOptimizer(optimizer, model) is optimizer
refused["twice"] = refusal(lambda: gv.DistributedOptimizer(optimizer, model))
refused["sum"] = refusal(lambda: gv.DistributedOptimizer(optimizer, model, op=gv.Sum))
refused["compression"] = refusal(lambda: gv.DistributedOptimizer(optimizer, model, compression=gv.Compression.fp16))
gv.broadcast_parameters(model.state_dict(), root_rank=0)
mine = trained(model, optimizer, 20)
if os.fork() == 0:
    os._exit(0 if "child" in refusal(gv.rank) else 1)
child = os.wait()[1]
where = [gv.rank(), gv.size(), gv.local_rank(), gv.local_size(), gv.neighbors(), gv.batch(17), str(gv.device())]
gv.shutdown()
once_more = trained(model, optimizer, 1)
with open(sys.argv[1], "w") as answer:
    json.dump({"plain": plain, "mine": mine, "same": same, "refused": refused, "child": child, "where": where,
               "went on": once_more != mine}, answer)
