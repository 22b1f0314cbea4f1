#!/usr/bin/env python3
"""Samples per second of the models of gpu_bench in PyTorch on the first CUDA device, in its best mode and others.

    pytorch_bench.py [--seconds N]      what is not begun after N seconds is left out

A gradient and its step of SGD with momentum on random data that lies on the device already. bf16 is autocast.
Prints a table in Markdown as it goes, the best modes first; exit code 77 without torch or a device."""
import statistics
import sys
import time
import typing

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    print("no torch in", sys.executable)
    sys.exit(77)


class Block(nn.Module):
    """He et al. 2016, arXiv:1512.03385, section 4.2, with the shortcut that has no parameters."""

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.stride, self.more = stride, width - before

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.stride > 1:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.more // 2, self.more // 2))
        return F.relu(y + x)


def resnet20():
    blocks, before = [], 16
    for width in (16, 32, 64):
        for k in range(3):
            blocks.append(Block(before, width, 2 if k == 0 and width > 16 else 1))
            before = width
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(3072, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                         nn.Linear(4096, 10))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        rows, positions, width = x.shape
        q, k, v = (t.view(rows, positions, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.ln_1(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(rows, positions, width))
        return x + self.proj(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, vocabulary=96, context=128, width=256, heads=8, layers=4):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        return self.head(self.ln_f(self.layers(x))).flatten(0, 1)


class Way(typing.NamedTuple):
    """How PyTorch is asked to train."""
    precision: str          # fp32 | tf32 | bf16 (autocast)
    mode: str               # eager | compiled (as it is by itself) | best (recorded as CUDA graphs)

    @property
    def name(self):
        return f"{self.precision} {self.mode}"


def samples_per_second(make, batch, text, way):
    """Both with what costs nobody a bit: cuDNN tries its algorithms, pictures lie channels last, one kernel steps."""
    torch.manual_seed(1)
    torch._dynamo.reset()
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = way.precision != "fp32"
    model = make().cuda()
    if text:
        x = torch.randint(96, (batch, 128), device="cuda")
        labels = torch.randint(96, (batch * 128,), device="cuda")
    else:
        model = model.to(memory_format=torch.channels_last)
        x = torch.randn(batch, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
        labels = torch.randint(10, (batch,), device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, fused=True)
    run = {"eager": lambda: model, "compiled": lambda: torch.compile(model),
           "best": lambda: torch.compile(model, mode="reduce-overhead")}[way.mode]()
    times = []
    for _ in range(40):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=way.precision == "bf16"):
            loss = F.cross_entropy(run(x).float(), labels)
        loss.backward()
        optimizer.step()
        loss.item()  # as a replica returns its loss
        times.append(time.perf_counter() - begin)
    return batch / statistics.median(times[10:])


MODELS = (("ResNet-20, 3 x 32 x 32, batch 128", resnet20, 128, False),
          ("transformer, 4 layers of 256, 128 tokens, batch 64", Transformer, 64, True),
          ("ResNet-20, 3 x 32 x 32, batch 1024", resnet20, 1024, False),
          ("MLP 3072-4096-4096-10, batch 1024", mlp, 1024, False))


def main():
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else float("inf")
    if not torch.cuda.is_available():
        print("torch finds no CUDA device")
        sys.exit(77)
    print(f"PyTorch {torch.__version__}, samples per second, on {torch.cuda.get_device_name()}\n")
    ways = [Way(precision, mode) for mode in ("best", "eager", "compiled") for precision in ("bf16", "tf32", "fp32")]
    print("| model | " + " | ".join(way.name for way in ways) + " |")
    print("|---" * (1 + len(ways)) + "|")
    begin = time.perf_counter()
    for name, make, batch, text in MODELS:
        print(f"| {name} |", end="", flush=True)
        for way in ways:
            if time.perf_counter() - begin > seconds:
                print(" no time |", end="", flush=True)
                continue
            try:
                print(f" {samples_per_second(make, batch, text, way):.0f} |", end="", flush=True)
            except Exception as error:  # a compiler that is missing fails one column, not the table
                print(" failed |", end="", flush=True)
                print(f"{name}, {way.name}: {error}", file=sys.stderr)
        print(flush=True)


main()
