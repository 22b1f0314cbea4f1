#!/usr/bin/env python3
"""Training steps of Grapevine's models beside PyTorch's, one thread each, in turn.

usage: models.py PROGRAM [ROUNDS [SECONDS]] > results.md

Needs PyTorch (pip install torch). Each round measures every model once with either, PyTorch in this
process and `PROGRAM bench step` as a child. The table has medians over the rounds of the medians of
single steps: by the clock, and of processor time, which other work on the machine disturbs less.
"""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Block(nn.Module):
    def __init__(self, i, o, stride, norm):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn1, self.bn2 = norm(o), norm(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.pad = (o - i) // 2

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.pad:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.pad, self.pad))
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), norm(16)
        layers = []
        for i, o, stride in ((16, 16, 1), (16, 32, 2), (32, 64, 2)):
            layers += [Block(i, o, stride, norm), Block(o, o, 1, norm), Block(o, o, 1, norm)]
        self.layers, self.fc = nn.Sequential(*layers), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc(self.layers(F.relu(self.bn1(self.conv1(x)))).mean((2, 3)))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            z.view(b, t, self.heads, -1).transpose(1, 2)
            for z in self.c_attn(self.ln_1(x)).split(c, 2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, vocabulary=65, context=64, width=64, heads=4, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.h = nn.Sequential(*(TransformerBlock(width, heads) for _ in range(layers)))
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.lm_head(self.ln_f(self.h(x))).flatten(0, 1)


def pictures(shape):
    return lambda: (torch.randn(shape), torch.randint(0, 10, (shape[0],)))


def texts(batch):
    return lambda: (torch.randint(0, 65, (batch, 64)), torch.randint(0, 65, (batch * 64,)))


CASES = [  # name, arguments of `bench step`, PyTorch's model, a minibatch
    ("LeNet-5, batch 64", "--model lenet5 --batch 64", LeNet5, pictures((64, 1, 28, 28))),
    ("ResNet-20, batch norm, batch 32", "--model resnet20 --batch 32",
     lambda: ResNet20(nn.BatchNorm2d), pictures((32, 3, 32, 32))),
    ("ResNet-20, group norm, batch 32", "--model resnet20 --norm group --batch 32",
     lambda: ResNet20(lambda c: nn.GroupNorm(2, c)), pictures((32, 3, 32, 32))),
    ("transformer, batch 32", "--model transformer --batch 32", Transformer, texts(32)),
]


def make_step(make_model, make_batch, channels_last):
    torch.manual_seed(0)
    model, batches = make_model(), [make_batch() for _ in range(8)]
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
        batches = [(x.to(memory_format=torch.channels_last), y) for x, y in batches]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(k):
        x, y = batches[k % 8]
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step, sum(p.numel() for p in model.parameters())


def measure(step, seconds):
    """Medians of a step's seconds by the clock and of processor time."""
    for k in range(3):
        step(k)
    wall, cpu, end = [], [], time.perf_counter() + seconds
    while len(wall) < 5 or time.perf_counter() < end:
        a, b = time.perf_counter(), time.thread_time()
        step(len(wall))
        cpu.append(time.thread_time() - b)
        wall.append(time.perf_counter() - a)
    return statistics.median(wall), statistics.median(cpu)


def ours(program, arguments, seconds):
    command = [program, "bench", "step", "--json", "--seconds", str(seconds), *arguments.split()]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return report["seconds_per_step"], report["cpu_seconds_per_step"], report["parameters"]


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    torch.set_num_threads(1)
    rows = []
    for name, arguments, make_model, make_batch in CASES:
        layouts = [False] if name.startswith("transformer") else [False, True]
        steps = [make_step(make_model, make_batch, last) for last in layouts]
        rows.append({"name": name, "arguments": arguments, "steps": steps, "ours": [],
                     "torch": [[] for _ in steps]})
    for _ in range(rounds):
        for row in rows:
            wall, cpu, parameters = ours(program, row["arguments"], seconds)
            row["ours"].append((wall, cpu))
            for (step, theirs), times in zip(row["steps"], row["torch"]):
                assert theirs == parameters, (row["name"], theirs, parameters)
                times.append(measure(step, seconds))
    print(f"PyTorch {torch.__version__}, one thread; {rounds} rounds of {seconds:g} s\n")
    print("| model | ours, steps/s | PyTorch, steps/s | PyTorch channels_last | ours / best, clock "
          "| ours / best, processor time |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        middle = lambda times, k: statistics.median(t[k] for t in times)
        rates = [1 / middle(t, 0) for t in row["torch"]]
        best = [min(middle(t, k) for t in row["torch"]) for k in (0, 1)]
        last = f"{rates[1]:.1f}" if len(rates) > 1 else ""
        print(f"| {row['name']} | {1 / middle(row['ours'], 0):.1f} | {rates[0]:.1f} | {last} "
              f"| {best[0] / middle(row['ours'], 0):.2f} | {best[1] / middle(row['ours'], 1):.2f} |")


if __name__ == "__main__":
    main()
