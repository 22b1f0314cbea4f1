"""The arithmetic of the methods in one process, by PyTorch alone: nothing here comes from the library."""

from typing import Any, Dict, List, Optional, Tuple

import torch

from drawn_scripts import Life, Script


def metropolis(peers: int, edges: Tuple[Tuple[int, int], ...]) -> List[List[float]]:
    """Returns W of a graph: 1 / (1 + the larger degree) for each edge, and what is left for a peer itself."""
    degree = [sum(i in edge for edge in edges) for i in range(peers)]
    w = [[0.0] * peers for _ in range(peers)]
    for i, j in edges:
        w[i][j] = w[j][i] = 1 / (1 + max(degree[i], degree[j]))
    for i in range(peers):
        w[i][i] = 1 - sum(w[i])
    return w


class Reference:
    """All ranks of a script, which all begin with the trained tensors of rank 0."""

    def __init__(self, script: Script, kind: torch.dtype = torch.float32) -> None:
        self.script, self.kind = script, kind
        self.lives = [Life(script, rank, kind) for rank in range(script.peers)]
        self.trained = [[p for p in life.model.parameters() if p.requires_grad] for life in self.lives]
        self.set([[p.detach().clone() for p in self.trained[0]]] * script.peers)
        for life in self.lives:
            life.joined()

    def set(self, values: List[List[torch.Tensor]]) -> None:
        with torch.no_grad():
            for parameters, others in zip(self.trained, values):
                for p, value in zip(parameters, others):
                    p.copy_(value)

    def mixed(self, w: List[List[float]]) -> List[List[torch.Tensor]]:
        """Returns W x, computed in double."""
        return [[sum(row[j] * self.trained[j][k].detach().double() for j in range(len(row))).to(self.kind)
                 for k in range(len(self.trained[0]))] for row in w]

    def mean_gradients(self) -> List[Optional[torch.Tensor]]:
        """Returns the mean gradient of each tensor; None if no rank has one."""
        means: List[Optional[torch.Tensor]] = []
        for parts in zip(*self.trained):
            gradients = [p.grad.double() for p in parts if p.grad is not None]
            means.append((sum(gradients) / len(parts)).to(self.kind) if gradients else None)
        return means

    def run(self) -> List[Dict[str, torch.Tensor]]:
        """Trains; returns what each rank ends with."""
        method = {"all-reduce": self.all_reduce, "local-sgd": self.local_sgd,
                  "parameter-server": self.parameter_server}.get(self.script.method) or getattr(
                      self, str(self.script.order))
        method()
        return [life.values() for life in self.lives]

    def all_reduce(self) -> None:
        """As DistributedDataParallel: clipping and scaling see the mean gradient."""
        for _ in range(self.script.steps):
            for life in self.lives:
                life.gradient()
            means = self.mean_gradients()
            for life, parameters in zip(self.lives, self.trained):
                for p, mean in zip(parameters, means):
                    p.grad = None if mean is None else mean.clone()
                life.bound()
                life.make_step()
                life.after_step()

    def alone(self, life: Life) -> None:
        """Makes a step that counts: one which a scaler leaves out is no turn."""
        self.gradient(life)
        life.make_step()
        life.after_step()

    def gradient(self, life: Life) -> None:
        life.gradient()
        while life.scaler and any(p.grad is not None and not p.grad.isfinite().all() for p in life.model.parameters()):
            life.bound()
            life.make_step()
            life.after_step()
            life.gradient()
        life.bound()

    def rounds(self, exchange: Any) -> None:
        for _ in range(self.script.rounds):
            for life in self.lives:
                for _ in range(self.script.local_steps - 1):
                    self.alone(life)
            exchange(metropolis(self.script.peers, self.script.edges))

    def lian(self) -> None:
        """x <- W x - step, with the gradient at x."""
        def exchange(w: List[List[float]]) -> None:
            for life in self.lives:
                self.gradient(life)
            self.set(self.mixed(w))
            for life in self.lives:
                life.make_step()
                life.after_step()
        self.rounds(exchange)

    def atc(self) -> None:
        """x <- W (x - step)."""
        def exchange(w: List[List[float]]) -> None:
            for life in self.lives:
                self.alone(life)
            self.set(self.mixed(w))
        self.rounds(exchange)

    def cta(self) -> None:
        """x <- W x - step, with the gradient at W x."""
        def exchange(w: List[List[float]]) -> None:
            self.set(self.mixed(w))
            for life in self.lives:
                self.alone(life)
        self.rounds(exchange)
        if self.script.local_steps == 1 and self.script.habits["loop"] in ("counted", "epochs"):
            self.set(self.mixed(metropolis(self.script.peers, self.script.edges)))      # for a step that never comes

    def local_sgd(self) -> None:
        """Steps alone, and then the mean of all models."""
        n = self.script.peers

        def exchange(w: List[List[float]]) -> None:
            for life in self.lives:
                self.alone(life)
            self.set(self.mixed([[1 / n] * n] * n))
        self.rounds(exchange)

    def parameter_server(self) -> None:
        """The server has an optimizer of its own, and steps on the mean of the gradients as the ranks send them."""
        model = [torch.nn.Parameter(p.detach().clone()) for p in self.trained[0]]
        values = self.script.optimizer
        server = getattr(torch.optim, values["kind"])(model, **values["values"])
        for _ in range(self.script.steps):
            for life in self.lives:
                life.gradient()
                life.bound()
            for p, mean in zip(model, self.mean_gradients()):
                p.grad = torch.zeros_like(p) if mean is None else mean
            server.step()
            self.set([[p.detach() for p in model]] * self.script.peers)
            for life in self.lives:
                life.after_step()
