"""Models and batches drawn from a seed: linear, convolutional and embedding layers, norms, ties and unused parts."""

import random
from typing import Any, Dict, Tuple

import torch

WIDTH, CLASSES, WORDS = 6, 4, 9
ACTIVATIONS = {"tanh": torch.nn.Tanh, "gelu": torch.nn.GELU, "relu": torch.nn.ReLU, "none": torch.nn.Identity}


def draw_model(draw: random.Random) -> Dict[str, Any]:
    """Returns the values by which DrawnModel is built."""
    kind = draw.choice(["dense", "dense", "image", "tokens"])
    norms = ["none", "none", "batch", "layer", "group"]
    layers = [(draw.choice(norms), draw.choice(list(ACTIVATIONS))) for _ in range(draw.randint(1, 3))]
    for i in range(1, len(layers)):
        if layers[i][0] == "batch" and layers[i - 1][1] == "none":
            layers[i - 1] = layers[i - 1][0], "tanh"
    return {"kind": kind,
            "layers": layers,
            "tied": draw.random() < 0.3,
            "spare": draw.choice([None, None, "never", "some ranks", "some steps"]),
            "gain": draw.random() < 0.3,
            "empty": draw.random() < 0.1,
            "dropout": draw.random() < 0.2,
            "sparse": False,
            "channels_last": kind == "image" and draw.random() < 0.5}


def norm(kind: str) -> torch.nn.Module:
    """Returns a norm whose eps is large, because a small one makes rounding visible in its gradients."""
    return {"none": torch.nn.Identity, "batch": lambda: torch.nn.BatchNorm1d(WIDTH, eps=0.05),
            "layer": lambda: torch.nn.LayerNorm(WIDTH, eps=0.05),
            "group": lambda: torch.nn.GroupNorm(2, WIDTH, eps=0.05)}[kind]()


class DrawnModel(torch.nn.Module):
    """A small network. No bias goes into a batch norm as it is, because its gradient would be rounding alone."""

    def __init__(self, values: Dict[str, Any]) -> None:
        super().__init__()
        self.values = values
        if values["kind"] == "dense":
            self.first: torch.nn.Module = torch.nn.Linear(WIDTH, WIDTH, bias=values["layers"][0][0] != "batch")
        elif values["kind"] == "image":
            self.first = torch.nn.Conv2d(3, WIDTH, 3)
        else:
            self.first = torch.nn.Embedding(WORDS, WIDTH, sparse=values["sparse"])
        self.body = torch.nn.ModuleList()
        for kind, activation in values["layers"]:
            linear = torch.nn.Linear(WIDTH, WIDTH, bias=kind != "batch")
            self.body.append(torch.nn.Sequential(linear, norm(kind), ACTIVATIONS[activation]()))
        self.head = torch.nn.Linear(WIDTH, WORDS if values["kind"] == "tokens" else CLASSES)
        if values["tied"] and values["kind"] == "tokens":
            self.head.weight = self.first.weight
        elif values["tied"] and len(self.body) > 1:
            self.body[-1][0].weight = self.body[0][0].weight
        self.spare = torch.nn.Linear(WIDTH, WIDTH) if values["spare"] else None
        self.gain = torch.nn.Parameter(torch.tensor(1.25)) if values["gain"] else None
        self.empty = torch.nn.Parameter(torch.zeros(0, 3)) if values["empty"] else None
        if values["channels_last"]:
            self.to(memory_format=torch.channels_last)

    def forward(self, x: torch.Tensor, spare: bool, seed: int) -> torch.Tensor:
        h = self.first(x)
        if self.values["kind"] == "image":
            h = torch.tanh(h).mean((2, 3))
        elif self.values["kind"] == "tokens":
            h = h.mean(1)
        for layer in self.body:
            h = layer(h)
        if self.values["dropout"]:
            h = h * (torch.rand(h.shape, generator=torch.Generator().manual_seed(seed % 2**31)) > 0.3)
        if spare:
            h = h + self.spare(h)
        h = self.head(h)
        return h if self.gain is None else h * self.gain


def uses_spare(values: Dict[str, Any], rank: int, step: int) -> bool:
    """Returns whether a rank computes with the spare layer in a step."""
    return values["spare"] == "some ranks" and rank % 2 == 1 or values["spare"] == "some steps" and step % 3 == 1


def batch(values: Dict[str, Any], seed: Tuple[int, ...], size: int) -> Tuple[torch.Tensor, torch.Tensor]:
    """Returns inputs and labels, the same ones for the same seed."""
    numbers = torch.Generator().manual_seed(hash(seed) % 2**31)
    classes = WORDS if values["kind"] == "tokens" else CLASSES
    labels = torch.randint(classes, (size,), generator=numbers)
    if values["kind"] == "tokens":
        return torch.randint(WORDS, (size, 5), generator=numbers), labels
    if values["kind"] == "dense":
        return torch.randn(size, WIDTH, generator=numbers), labels
    images = torch.randn(size, 3, 5, 5, generator=numbers)
    return images.to(memory_format=torch.channels_last) if values["channels_last"] else images, labels
