"""A small GPT on a text of its own; the lines with `gv` make it a peer, and without them it trains alone."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

import grapevine.torch as gv

words = argparse.ArgumentParser()
words.add_argument("--steps", type=int, default=60)
words.add_argument("--accumulate", type=int, default=2)
words.add_argument("--batch", type=int, default=8)
words.add_argument("--block", type=int, default=24)
words.add_argument("--width", type=int, default=32)
words.add_argument("--heads", type=int, default=4)
words.add_argument("--layers", type=int, default=2)
words.add_argument("--lr", type=float, default=3e-3)
words.add_argument("--warmup", type=int, default=5)
words.add_argument("--clip", type=float, default=1.0)
given = words.parse_args()

TEXT = "the quick brown fox jumps over the lazy dog and the lazy dog sleeps on while the quick brown fox runs. " * 40
LETTERS = sorted(set(TEXT))
DATA = torch.tensor([LETTERS.index(letter) for letter in TEXT])


class Attention(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).bool())

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        scores = (q @ k.transpose(2, 3)) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        return self.out((scores.softmax(3) @ v).transpose(1, 2).reshape(n, t, width))


class Block(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, block)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, letters, width, heads, layers, block):
        super().__init__()
        self.token, self.place = nn.Embedding(letters, width), nn.Embedding(block, width)
        self.blocks = nn.Sequential(*[Block(width, heads, block) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
        self.head.weight = self.token.weight      # tied

    def forward(self, x, y):
        places = torch.arange(x.shape[1], device=x.device)
        logits = self.head(self.norm(self.blocks(self.token(x) + self.place(places))))
        return F.cross_entropy(logits.flatten(0, 1), y.flatten())


def batch(device):
    begins = torch.randint(len(DATA) - given.block - 1, (given.batch,))
    rows = torch.stack([DATA[i:i + given.block + 1] for i in begins]).to(device)
    return rows[:, :-1], rows[:, 1:]


def rate(step):
    if step < given.warmup:
        return (step + 1) / given.warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - given.warmup) / max(1, given.steps - given.warmup)))


gv.init()
device = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT(len(LETTERS), given.width, given.heads, given.layers, given.block).to(device)
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                              lr=given.lr, betas=(0.9, 0.95))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
scaler = torch.cuda.amp.GradScaler(enabled=device == "cuda")
gv.DistributedOptimizer(optimizer, model, state=[scheduler, scaler])
for step in range(given.steps):
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for _ in range(given.accumulate):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = model(*batch(device)) / given.accumulate
        scaler.scale(loss).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), given.clip)
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    gv.log(total)
    if step % 10 == 0 or step + 1 == given.steps:
        print(f"step {step}: loss {total:.4f}, rate {scheduler.get_last_lr()[0]:.2e}", flush=True)
