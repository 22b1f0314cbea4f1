"""Quadratics in PyTorch, f(x) = curvature / 2 |x - center|^2: one fleet after the other, stepped as its `way` says."""

import itertools
import json
import os
import sys

import torch

import grapevine._tensors
import grapevine.torch as gv

ON_CPU = grapevine._tensors.on_cpu


class Model(torch.nn.Module):
    def __init__(self, center, curvature):
        super().__init__()
        self.center, self.curvature = center, curvature
        self.x = torch.nn.Parameter(torch.zeros_like(center))
        self.frozen = torch.nn.Parameter(torch.full((3,), float(gv.rank())), requires_grad=False)

    def forward(self):
        return self.curvature / 2 * ((self.x - self.center) ** 2).sum()


def stepped(way, step, model, optimizer):
    """One batch of a way."""
    def gradient():
        optimizer.zero_grad()
        loss = model()
        loss.backward()
        return loss

    if way == "closure":
        return optimizer.step(gradient)
    if way == "scaler" and step % 3 == 1:
        return gradient()          # as GradScaler where a gradient overflowed: no step
    if way == "accumulation":
        optimizer.zero_grad()
        for _ in range(4):
            (model() / 4).backward()
        return optimizer.step()
    if way == "moved":
        model.x.data = model.x.data.clone()
    gradient()
    return optimizer.step()


def train(given):
    way = given.get("way", "plain")
    # copied: as where the parameters are on a device
    grapevine._tensors.on_cpu = (lambda p: False) if way == "copied" else ON_CPU
    if "RANK" in os.environ or "id" not in given:
        gv.init(given["fleet"])
    else:
        gv.init(given["fleet"], given["id"], meet=given["meet"])
    model = Model(torch.tensor(given["centers"][gv.rank()]), given["curvature"])
    optimizer = torch.optim.SGD(model.parameters(), lr=given["rate"])
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda m: m() if way == "plain" else (m(), 0.5))
    steps = 0
    for _ in gv.epochs():
        for x in gv.running(itertools.repeat(model.center)):
            stepped(way, steps, model, optimizer)
            steps += 1
            gv.log(model().detach(), distance=(model.x - x).norm().detach())
    answer = {"x": model.x.tolist(), "frozen": model.frozen.tolist(), "round": gv.round(), "steps": steps,
              "neighbors": gv.neighbors(), "weights": sum(gv.weights().values()), "size": gv.size()}
    gv.shutdown()
    if "id" in given:
        with open(given["answer"], "w") as file:
            json.dump(answer, file)


for fleet in json.loads(sys.argv[1]):
    train(fleet)
