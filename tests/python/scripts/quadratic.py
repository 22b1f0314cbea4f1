"""A quadratic in PyTorch: f(x) = curvature / 2 |x - center|^2, stepped as `way` says."""

import json
import os
import sys

import torch

import grapevine._tensors
import grapevine.torch as gv

given = json.loads(sys.argv[1])
if "RANK" in os.environ:
    gv.init(given["fleet"])
else:
    gv.init(given["fleet"], given["id"], meet=given["meet"])
center = torch.tensor(given["centers"][gv.rank()])
way = given.get("way", "plain")
if way == "copied":     # as where the parameters are on a device
    grapevine._tensors.on_cpu = lambda p: False


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.x = torch.nn.Parameter(torch.zeros_like(center))
        self.frozen = torch.nn.Parameter(torch.full((3,), float(gv.rank())), requires_grad=False)

    def forward(self):
        return given["curvature"] / 2 * ((self.x - center) ** 2).sum()


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=given["rate"])
gv.DistributedOptimizer(optimizer, model, evaluate=lambda m: m() if way == "plain" else (m(), 0.5))
steps = 0


def gradient():
    optimizer.zero_grad()
    loss = model()
    loss.backward()
    return loss


def accumulated():
    optimizer.zero_grad()
    for _ in range(4):
        (model() / 4).backward()


def moved():
    model.x.data = model.x.data.clone()
    return gradient()


def stepped():
    if way == "closure":
        optimizer.step(gradient)
    elif way == "scaler" and steps % 3 == 1:
        gradient()          # as GradScaler where a gradient overflowed: no step
    else:
        {"accumulation": accumulated, "moved": moved}.get(way, gradient)()
        optimizer.step()


def batches():
    while True:
        yield center


for _ in gv.epochs():
    for _ in gv.running(batches()):
        stepped()
        steps += 1
        gv.log(model().detach(), distance=(model.x - center).norm().detach())
answer = {"x": model.x.tolist(), "frozen": model.frozen.tolist(), "round": gv.round(), "steps": steps,
          "neighbors": gv.neighbors(), "weights": sum(gv.weights().values()), "size": gv.size()}
gv.shutdown()
with open(given["answer"], "w") as file:
    json.dump(answer, file)
