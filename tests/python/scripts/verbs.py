"""What peers do together, before the first step, between steps and at their ends; each writes down what it got."""

import hashlib
import json
import sys

import torch

import grapevine.torch as gv


def refusal(call):
    """The kind of an error and the first line of it."""
    try:
        call()
        return "none"
    except gv.Error as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def digest(tensor):
    return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()


def gradient_of(op):
    """Of what all peers weigh by their numbers, with respect to the own share."""
    x = torch.ones(2, requires_grad=True)
    ((gv.rank() + 1) * gv.allreduce(3 * x, op=op, name="shared")).sum().backward()
    return x.grad.tolist()


def together(answer, when):
    """Sums, means, broadcasts and averages of tensors of several types and sizes."""
    mine, n = gv.rank(), gv.size()
    half = torch.arange(6, dtype=torch.float64).view(2, 3).t() + mine     # not contiguous
    answer[when] = {
        "mean": gv.allreduce(torch.tensor(float(mine)), name="metric").item(),
        "sum": gv.allreduce(torch.full((3,), mine + 1, dtype=torch.int32), op="sum").tolist(),
        "double": gv.allreduce(half, average=False).tolist(),
        "gradient": [gradient_of(op) for op in ("sum", "mean")],
        "half": [str(gv.allreduce(torch.full((2,), 0.5 * mine, dtype=torch.bfloat16), op=gv.Sum).dtype),
                 gv.allreduce(torch.full((2,), 0.5 * mine, dtype=torch.float16), op=gv.Sum).tolist()],
        "root": gv.broadcast(torch.tensor([[mine, 7]], dtype=torch.uint8), root=n - 1).tolist(),
        "horovod": gv.broadcast(torch.tensor(mine), root_rank=1, name="epoch").item(),
        "neighbors": gv.neighbor_average(torch.tensor([float(mine), 1.0])).tolist(),
        "empty": gv.allreduce(torch.zeros(0)).tolist(),
        "large": digest(gv.allreduce(torch.randn(300_000), op="sum"))}
    after, before = (mine + 1) % n, (mine - 1) % n
    pushed = [gv.push(torch.full((3,), float(mine)), after, name="model"),
              gv.push(torch.tensor([[mine]], dtype=torch.float16), after)]
    pulled = [gv.pull(torch.zeros(3), before, name="model"), gv.pull(torch.zeros(1, 1, dtype=torch.float16), before)]
    answer[when]["pulled"] = [gv.wait(handle).tolist() for handle in reversed(pulled)]
    answer[when]["pushed"] = [gv.wait(handle) for handle in pushed]
    gv.barrier()


def train(given):
    answer = {}
    gv.init(given["fleet"], given["id"], meet=given["meet"])
    answer["before"] = refusal(lambda: gv.allreduce(torch.zeros(1)))
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gv.DistributedOptimizer(optimizer, model)
    together(answer, "before the first step")
    for step in range(4 + gv.rank()):      # so that they are in different rounds
        optimizer.zero_grad()
        loss = model(torch.randn(8, 3)).square().mean()
        if step == 1:
            gv.allreduce(loss, name="between forward and backward")
        loss.backward()
        if step == 2:
            gv.allreduce(loss.detach(), name="between backward and step")
        optimizer.step()
    together(answer, "after some steps")
    mismatched = torch.zeros(2 if gv.rank() == 2 else 3)
    answer["size"] = refusal(lambda: gv.allreduce(mismatched))
    answer["name"] = refusal(lambda: gv.allreduce(torch.zeros(1), name=f"loss of {gv.rank() % 2}"))
    answer["whole"] = refusal(lambda: gv.allreduce(torch.tensor([1])))
    answer["link"] = refusal(lambda: gv.push(torch.zeros(1), (gv.rank() + 2) % gv.size()))
    last = gv.push(torch.zeros(2), (gv.rank() + 1) % gv.size())
    answer["type"] = refusal(gv.pull(torch.zeros(1, dtype=torch.float64), (gv.rank() - 1) % gv.size()).wait)
    answer["other type"] = refusal(last.wait)
    answer["root"] = refusal(lambda: gv.broadcast(torch.zeros(1), root=gv.size()))
    together(answer, "after mistakes")
    gv.shutdown()
    with open(given["answer"], "w") as file:
        json.dump(answer, file)


for fleet in json.loads(sys.argv[1]):
    train(fleet)
