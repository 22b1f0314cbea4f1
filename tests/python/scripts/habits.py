"""What people's scripts do: habit(argv[1]) with ranks that differ, and a line RESULT of what each ends with."""

import json
import os
import signal
import sys
import time

import torch

import grapevine.torch as gv


def trained(model, optimizer, steps, factor=1.0):
    for _ in range(steps):
        optimizer.zero_grad()
        (factor * sum(p.sum() for p in model.parameters() if p.requires_grad)).backward()
        optimizer.step()


def broadcast_after():
    """Horovod's resume: rank 0 loads after wrapping, and broadcasts."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0 if gv.rank() == 0 else 1.0, momentum=0.9)
    gv.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    if gv.rank() == 0:
        model.load_state_dict({"weight": torch.full((1, 4), 7.0), "bias": torch.ones(1)})
    gv.broadcast_parameters(model.state_dict(), root_rank=0)
    gv.broadcast_optimizer_state(optimizer, root_rank=0)
    trained(model, optimizer, 5)
    return model.weight[0, 0].item(), model.bias.item(), optimizer.param_groups[0]["lr"]


def together_before():
    """Rank 0 prepares, the others wait; a frozen tensor and a buffer are made alike before there is an optimizer."""
    gv.barrier()
    mean = gv.allreduce(torch.tensor([float(gv.rank())])).item()
    count = gv.allreduce(torch.tensor(gv.rank() + 1), op="sum").item()
    epoch = gv.broadcast(torch.tensor(gv.rank() + 5), root=1).item()
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model[0].bias.requires_grad_(False).fill_(gv.rank())
    model[1].running_mean.fill_(gv.rank())
    gv.broadcast_parameters(model.state_dict(), root_rank=gv.size() - 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    gv.DistributedOptimizer(optimizer, model, calibrate=[torch.randn(8, 3)])
    trained(model, optimizer, 2)
    return mean, count, epoch, model[0].bias[0].item(), model[1].running_mean[0].item()


def served():
    """Steps at the rate of argv[2], with momentum, where servers step."""
    model = torch.nn.Linear(3, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[2]), momentum=0.5)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 3, gv.rank() + 1.0)
    return model.weight[0].tolist()


def makes():
    """Rank 0 makes the folder of its results before DistributedOptimizer, which must be new."""
    if gv.rank() == 0:
        os.makedirs(os.path.join(sys.argv[2], "results", "of rank 0"))
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 3)
    return os.path.isdir(os.path.join(sys.argv[2], "results", "of rank 0"))


def unfreeze():
    """A body that was there at the start, frozen meanwhile, and trained from step 10 on."""
    body, head = torch.nn.Linear(3, 1, bias=False), torch.nn.Linear(3, 1, bias=False)
    model = torch.nn.Sequential(body, head)
    for p in model.parameters():
        torch.nn.init.zeros_(p)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    body.requires_grad_(False)
    trained(model, optimizer, 10, gv.rank() + 1.0)
    body.requires_grad_(True)
    trained(model, optimizer, 30, gv.rank() + 1.0)
    return body.weight[0, 0].item(), head.weight[0, 0].item()


def unfreezes():
    """A body that was frozen at the start is trained."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False), torch.nn.Linear(3, 1, bias=False))
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 3)
    model[0].requires_grad_(True)
    trained(model, optimizer, 3)


def clip():
    """clip_grad_norm_ of gradients whose mean is clipped alone."""
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gv.DistributedOptimizer(optimizer, model)
    for _ in range(10):
        optimizer.zero_grad()
        ((0.5 if gv.rank() else 50.0) * model.weight.sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.weight.item()


def unused():
    """A layer that no rank uses, and one that rank 1 alone uses, with weight decay."""
    model = torch.nn.ModuleList(torch.nn.Linear(2, 1, bias=False) for _ in range(3))
    for p in model.parameters():
        torch.nn.init.ones_(p)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)
    gv.DistributedOptimizer(optimizer, model)
    for _ in range(10):
        optimizer.zero_grad()
        sum(layer.weight.sum() for layer in model[:2 if gv.rank() == 1 else 1]).backward()
        optimizer.step()
    return [layer.weight[0, 0].item() for layer in model]


def scaler():
    """A scaler on the CPU; rank 1 has an infinite gradient at two steps."""
    if not hasattr(torch.amp, "GradScaler"):
        return None
    model = torch.nn.Linear(10, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused="fused" in sys.argv)
    grows = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=5)
    gv.DistributedOptimizer(optimizer, model, state=[grows])
    for step in range(20):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 10)).mean()
        if gv.rank() == 1 and step in (3, 7):
            loss = loss * float("inf")
        grows.scale(loss).backward()
        grows.step(optimizer)
        grows.update()
    return model.weight[0, 0].item(), grows.get_scale()


def nan():
    """One batch of rank 1 gives NaN."""
    model = torch.nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    for step in range(20):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 3)).mean()
        (loss * float("nan") if step == 10 and gv.rank() == 1 else loss).backward()
        optimizer.step()
    return model.weight.isfinite().all().item()


def norms():
    """Batch norms without calibrate=; the data are far from the initial statistics."""
    rows = torch.utils.data.TensorDataset(torch.randn(64, 3) + 50.0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    loader = torch.utils.data.DataLoader(rows, 8, sampler=gv.Sampler(rows))
    gv.DistributedOptimizer(optimizer, model, evaluate=lambda m: m(rows.tensors[0]).square().mean())
    for x, in gv.running(loader):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def counted():
    """The least script: its loop counts to 60 in every life."""
    model = torch.nn.Linear(10, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    gv.DistributedOptimizer(optimizer, model)
    for step in range(60):
        optimizer.zero_grad()
        model(torch.randn(4, 10)).square().mean().backward()
        optimizer.step()
        if step == 40 and gv.rank() == 0 and os.environ.get("DIES"):
            os.kill(os.getppid(), signal.SIGKILL)
    return step + 1


def leaves():
    """Rank 1 ends with a code of its own."""
    model = torch.nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 20)
    if gv.rank() == 1:
        sys.exit(3)
    trained(model, optimizer, 20)


def uneven():
    """Rank 1 makes argv[2] more steps than the others, and each has code after its loop. argv[3]: elements."""
    model = torch.nn.Linear(int(sys.argv[3]) if len(sys.argv) > 3 else 3, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    lost = ""
    try:
        trained(model, optimizer, 10 + (int(sys.argv[2]) if gv.rank() == 1 else 0))
    except gv.PeerLost as why:
        lost = str(why)
        raise
    finally:
        print("BEHIND", json.dumps([gv.rank(), model.weight[0, 0].item(), lost]), flush=True)


def replaces():
    """Rank 1 gives the parameter another storage with other values, in the middle of training at rate 0."""
    model = torch.nn.Linear(3, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 5)
    if gv.rank() == 1:
        model.weight.data = torch.full((1, 3), 3.0)
    trained(model, optimizer, 20)
    return gv.rank(), model.weight[0, 0].item()


def hangs():
    """The evaluation of rank 1 does not end in the middle of training."""
    model = torch.nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def evaluate(of):
        if gv.rank() == 1 and gv.round() > 5:
            time.sleep(1e6)
        return of.weight.sum().item() ** 2
    gv.DistributedOptimizer(optimizer, model, evaluate=evaluate)
    trained(model, optimizer, 30)
    return gv.rank()


def interrupted():
    """Trains until Ctrl-C, which reaches `finally`."""
    model = torch.nn.Linear(3, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    try:
        while True:
            trained(model, optimizer, 1)
            time.sleep(0.01)
            if gv.rank() == 0 and gv.round() == 20:
                os.kill(os.getppid(), signal.SIGINT)
    except KeyboardInterrupt:
        print("REACHED KeyboardInterrupt", flush=True)
    finally:
        print("REACHED finally", flush=True)


def adds():
    """A layer is added to the model, or with `later`, another optimizer of it trains from then on."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 3, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    gv.DistributedOptimizer(optimizer, model)
    trained(model, optimizer, 3)
    model.append(torch.nn.Linear(3, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01) if "later" in sys.argv else optimizer
    trained(model, optimizer, 30)


def horovod():
    """Calls of Horovod beside those that other tests make, before and after there is an optimizer."""
    def together():
        r = gv.rank()
        x = torch.full((r + 1, 2), float(r), requires_grad=True)
        rows = gv.allgather(x)
        (rows * torch.arange(2.0 * len(rows)).view(-1, 2)).sum().backward()
        y = torch.ones(2, requires_grad=True)
        ((r + 1.0) * gv.broadcast(y, 1)).sum().backward()
        parts, counts = gv.alltoall(torch.arange(6) + 10 * r, splits=[1, 2, 3])
        handle = gv.allreduce_async(torch.tensor([float(r)]), op=gv.Sum, name="sum")
        return {"rows": rows[:, 0].tolist(), "gradient": x.grad[:, 0].tolist(), "root": y.grad.tolist(),
                "types": [gv.allgather(torch.tensor(value)).tolist() for value in (r == 1, float("-inf"), -0.0)],
                "half": str(gv.allgather(torch.full((r,), 0.5, dtype=torch.bfloat16)).dtype),
                "least": [gv.allreduce(torch.tensor([r, -r]), op=op).tolist() for op in (gv.Min, gv.Max, gv.Product)],
                "parts": [parts.tolist(), counts.tolist(), gv.alltoall(torch.arange(3) + 10 * r).tolist()],
                "scattered": gv.reducescatter(torch.arange(4.0) + r).tolist(),
                "objects": [gv.allgather_object({"rank": r, "seen": {r}})[2]["rank"],
                            gv.broadcast_object({"best": [r, None]}, root_rank=2)["best"]],
                "handle": [gv.poll(handle), gv.synchronize(handle).item()],
                "grouped": [t.item() for t in gv.grouped_allreduce([torch.tensor(float(r)), torch.tensor(2.0 * r)])],
                "scaled": gv.allreduce(torch.tensor(1.0), prescale_factor=2.0, postscale_factor=3.0).item(),
                "built": gv.nccl_built() or gv.mpi_threads_supported()}
    before = together()
    model = torch.nn.Embedding(4, 2, sparse=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    optimizer = gv.DistributedOptimizer(optimizer, model.named_parameters(), sparse_as_dense=True, num_groups=2)
    optimizer.set_backward_passes_per_step(1)
    begun = model.weight[:, 0].tolist()
    optimizer.zero_grad()
    model(torch.tensor([gv.rank()])).sum().backward()
    optimizer.step()
    return [before, together(), [round(a - b, 5) for a, b in zip(begun, model.weight[:, 0].tolist())]]


def again():
    """Shuts down, and begins again."""
    model = torch.nn.Linear(3, 1, bias=False)
    gv.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model)
    gv.shutdown()
    gv.init()


def by_hand():
    """Changes its parameters without an optimizer, and gives one that makes no step."""
    model = torch.nn.Linear(3, 1, bias=False)
    gv.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), model)
    for _ in range(5):
        model.weight.sum().backward()
        model.weight.data.add_(model.weight.grad, alpha=-0.01)


def warm_up():
    """A rate that begins at 0, and a parameter without elements."""
    model = torch.nn.Linear(4, 1, bias=False)
    model.register_parameter("empty", torch.nn.Parameter(torch.empty(0, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 10))
    gv.DistributedOptimizer(optimizer, model, state=[scheduler])
    for _ in range(150):
        optimizer.zero_grad()
        (model(torch.ones(4, 4)) - gv.rank()).square().mean().backward()
        optimizer.step()
        scheduler.step()
    return model.weight.sum().item()


gv.init()
torch.manual_seed(gv.rank() if sys.argv[1] == "counted" else 0)
print("RESULT", json.dumps(globals()[sys.argv[1]]()), flush=True)
