"""A model's tensors as the library sees them: in place where they are float32 on the CPU, else in a copy there."""

from ctypes import c_float
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

import torch
from torch import Tensor as TorchTensor

from grapevine import _library as lib
from grapevine._errors import Disagreement, Error
from grapevine._session import Session, Tensor
from grapevine._streams import Streams

Named = Dict[str, TorchTensor]
ABSENT = -0.0       # each element of a gradient that a script has not computed


class TrainedSet:
    """The tensors that a script trains, looked at in every turn: what joins them later would never be averaged."""

    def __init__(self, model: Optional[torch.nn.Module], named: Optional[Iterable[Tuple[str, TorchTensor]]],
                 optimizers: Sequence[torch.optim.Optimizer]) -> None:
        """model, or without one named: whose tensors travel under their names. What only an optimizer has travels too.

        Frozen tensors stay out. Tensors that no optimizer has are averaged all the same, because a script may step
        them itself. Raises Error if nothing is trained, or if a tensor cannot travel.
        """
        self.optimizers = optimizers
        self._pairs = list(named) if named is not None else []
        self._model = model if named is None else None
        self.parameters: Named = dict(self._all())
        if not self.parameters:
            raise Error("nothing of the model can be trained: each parameter is frozen, or there is none")
        for name, parameter in self.parameters.items():
            check(name, parameter)
        self._known = {id(p) for p in self.parameters.values()}
        self._frozen: Set[str] = set()

    def look(self) -> List[str]:
        """Returns the names of tensors that have been frozen since the last look.

        Raises Disagreement if a tensor is trained that does not travel, and names it.
        """
        for name, p in self._all():
            if id(p) not in self._known:
                raise Disagreement(self._why_not(name, p))
        frozen = {name for name, p in self.parameters.items() if not p.requires_grad}
        new, self._frozen = frozen - self._frozen, frozen
        return sorted(new)

    def names_of(self, optimizer: torch.optim.Optimizer) -> List[str]:
        """Returns the names of the tensors here that an optimizer has."""
        ids = {id(p) for group in optimizer.param_groups for p in group["params"]}
        return [name for name, p in self.parameters.items() if id(p) in ids]

    def _all(self) -> Iterator[Tuple[str, TorchTensor]]:
        """Yields what needs a gradient now, by name."""
        known = set()
        for name, p in self._pairs if self._model is None else self._model.named_parameters():
            known.add(id(p))
            if p.requires_grad:
                yield name, p
        for i, optimizer in enumerate(self.optimizers):
            trains = [p for group in optimizer.param_groups for p in group["params"]]
            for j, p in enumerate(trains):
                if id(p) not in known:
                    known.add(id(p))
                    if p.requires_grad:
                        yield f"optimizer{i}.{j}", p

    def _why_not(self, name: str, p: TorchTensor) -> str:
        text = f"{name} {list(p.shape)} is trained now, and was not when DistributedOptimizer was called"
        if name in self.parameters:
            return (f"{text}: another tensor had its name\nhelp: change values in place ({name}.copy_()), or begin "
                    "with the new tensor")
        return (f"{text}: the fleet would never average it\nhelp: have it trainable when DistributedOptimizer is "
                "called, and freeze it afterwards, by requires_grad_(False) or a rate of 0, until it is its turn")


def check(name: str, p: TorchTensor) -> None:
    """Raises Error where a parameter cannot travel, with what to do."""
    if isinstance(p, torch.nn.parameter.UninitializedTensorMixin):
        raise Error(f"{name} has no shape yet\nhelp: give the model one batch before DistributedOptimizer")
    kind = type(p.data).__name__
    if kind not in ("Tensor", "Parameter"):
        raise Error(f"{name} is a {kind}: the fleet averages whole tensors of one process")
    if p.layout is not torch.strided or p.is_quantized:
        raise Error(f"{name} is {'quantized' if p.is_quantized else str(p.layout).replace('torch.', '')}: "
                    "parameters travel dense")
    if p.is_complex():
        raise Error(f"{name} is {type_name(p)}\nhelp: train torch.view_as_real of it")
    if p.dtype in (torch.float16, torch.bfloat16):
        raise Error(f"{name} is {type_name(p)}, in which a small difference between peers would round away\n"
                    "help: keep the weights in float32 and compute under torch.autocast")
    if p.dtype is not torch.float32:
        raise Error(f"{name} is {type_name(p)}: parameters travel as float32\nhelp: model.float()")
    if not dense(p):
        raise Error(f"{name} is expanded, or a part of another tensor\nhelp: torch.nn.Parameter({name}.clone())")


def type_name(p: TorchTensor) -> str:
    return str(p.dtype).replace("torch.", "")


def on_cpu(p: TorchTensor) -> bool:
    """Says whether the library can read and write a tensor where it lies."""
    return p.device.type == "cpu"


def dense(p: TorchTensor) -> bool:
    """Says whether the elements fill the memory without a gap and without meeting twice, in any order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(p.stride(), p.shape)):
        if size == 1:
            continue
        if stride != expected and p.numel() > 0:
            return False
        expected *= size
    return True


class Tensors:
    """The memory that the library reads and writes, and what keeps it and the parameters the same."""

    def __init__(self, parameters: Named) -> None:
        self.names = list(parameters)
        self.parameters = list(parameters.values())
        self.in_place = all(on_cpu(p) for p in self.parameters)
        self._streams = Streams([p.device for p in self.parameters])
        self._shapes = [(tuple(p.shape), p.stride(), p.dtype, p.device) for p in self.parameters]
        self._memory = [p.data for p in self.parameters] if self.in_place else self._copies()
        self._places = self._now()
        self._held = [p.data for p in self.parameters]      # what a script had before it replaces p.data
        self._replaced: List[str] = []
        self._spare: List[Optional[TorchTensor]] = [None] * len(self.parameters)
        self._given: List[TorchTensor] = []

    def described(self) -> List[Tensor]:
        """Returns names, shapes, strides and places, as the library is told of them."""
        return [Tensor(name, "float32", tuple(m.shape), m.stride(), m.data_ptr())
                for name, m in zip(self.names, self._memory)]

    def give(self, session: Session) -> None:
        """Makes the memory hold x: copies it there, or says where it has moved. What take() began is over then."""
        now = self._now()
        if now != self._places:
            self._check_moved()
            self._replaced += [name for name, p, held in zip(self.names, self.parameters, self._held)
                               if p.data_ptr() != held.data_ptr() and not torch.equal(p.data, held)]
            self._held = [p.data for p in self.parameters]
        if not self.in_place:
            self.settle()
            copy(self._memory, self.parameters)
            self._streams.wait()
        elif now != self._places:
            self._memory = [p.data for p in self.parameters]
            session.point(lib.PARAMETERS, [p.data_ptr() for p in self.parameters])
        self._places = now

    def take_replaced(self) -> List[str]:
        """Returns, once, the names of tensors that have other memory and other values than before."""
        names, self._replaced = self._replaced, []
        return names

    def take(self) -> None:
        """Makes the parameters what the memory holds; autograd is told that they changed.

        A device may still copy when this returns, in order with what the script gives it: until settle() the library
        must not have the memory back.
        """
        if not self.in_place:
            copy(self.parameters, self._memory)
            self._streams.mark()
            return
        increment = getattr(torch.autograd.graph, "increment_version", None)
        for p in self.parameters if increment is not None else ():
            increment(p)

    def settle(self) -> None:
        """Waits until no device reads the memory any more."""
        self._streams.wait_for_marks()

    def gradients(self) -> List[int]:
        """Returns where the gradients lie: in place where their layout is the parameter's, else in a copy.

        A copy is there after the next give().
        """
        self._given = [self._gradient(i, p) for i, p in enumerate(self.parameters)]
        return [g.data_ptr() for g in self._given]

    def take_gradients(self, means: bool) -> None:
        """Writes gradients that were copied, and changed in the copy, back into .grad.

        A .grad of None stays None if no peer has that gradient, so that the optimizer leaves the tensor alone.
        means: whether the gradients are means of all peers' gradients.
        """
        for p, given in zip(self.parameters, self._given):
            if p.grad is None:
                if is_absent(given, means):
                    continue
                p.grad = torch.empty_like(p.data)
            if p.grad.data_ptr() != given.data_ptr():
                copy([p.grad], [given])
        self._streams.mark()

    def densify_gradients(self) -> None:
        """Makes sparse gradients dense."""
        for p in self.parameters:
            if p.grad is not None and p.grad.is_sparse:
                p.grad = p.grad.to_dense()

    def finite_gradients(self) -> bool:
        """Says whether all gradients are finite: their norms are, or else each is looked at."""
        given = [values(p.grad) for p in self.parameters if p.grad is not None]
        norms = torch._foreach_norm(given) if given else []
        devices = {norm.device for norm in norms}
        return all(bool(torch.isfinite(torch.stack([norm for norm in norms if norm.device == device]).sum()))
                   for device in devices) or not self.broken_gradients()

    def without_gradients(self) -> List[str]:
        """Returns the names of tensors whose gradient the script has not computed."""
        return [name for name, p in zip(self.names, self.parameters) if p.grad is None]

    def broken_gradients(self) -> List[str]:
        """Returns the names of tensors whose gradient is not finite."""
        return [name for name, p in zip(self.names, self.parameters)
                if p.grad is not None and not torch.isfinite(values(p.grad)).all()]

    def _gradient(self, i: int, p: TorchTensor) -> TorchTensor:
        """Returns what is sent. A first element of -0.0 becomes +0.0, so that no gradient of -0.0 counts as ABSENT."""
        grad = p.grad
        if grad is not None and grad.is_sparse:
            raise Error(f"the gradient of {self.names[i]} is sparse, and this method sends gradients\n"
                        "help: sparse=False, DistributedOptimizer(..., sparse_as_dense=True), or a method that "
                        "averages models, such as d-psgd")
        if grad is not None and grad.device.type == "cpu" and grad.stride() == p.stride() and grad.dtype is p.dtype:
            if grad.numel() > 0:
                first = c_float.from_address(grad.data_ptr())       # much faster than the same through torch
                first.value += 0.0
            return grad
        if self._spare[i] is None:
            self._spare[i] = on_host(p)
        spare = self._spare[i]
        if grad is None:
            return spare.fill_(ABSENT)
        if grad.numel() > 0:
            grad.detach().as_strided((1,), (1,)).add_(0.0)
        copy([spare], [grad])
        return spare

    def _copies(self) -> List[TorchTensor]:
        """Returns a copy of each parameter on the CPU."""
        copies = [on_host(p) for p in self.parameters]
        copy(copies, self.parameters)
        self._streams.wait()
        return copies

    def _now(self) -> List[Tuple[int, torch.Size, Tuple[int, ...]]]:
        """Returns what changes when a parameter gets other memory, or becomes a part of its own."""
        return [(p.data_ptr(), p.shape, p.stride()) for p in self.parameters]

    def _check_moved(self) -> None:
        for name, p, known in zip(self.names, self.parameters, self._shapes):
            now = (tuple(p.shape), p.stride(), p.dtype, p.device)
            if now != known:
                raise Disagreement(f"{name} has changed: {list(known[0])} {known[2]} on {known[3]} with the strides "
                                   f"{list(known[1])}, and now {list(now[0])} {now[2]} on {now[3]} with "
                                   f"{list(now[1])}\nhelp: shape, type and device of a tensor stay as they were when "
                                   "DistributedOptimizer was called; a mask keeps them")


def values(gradient: TorchTensor) -> TorchTensor:
    """Returns the numbers of a gradient, dense or sparse."""
    return gradient.detach().coalesce().values() if gradient.is_sparse else gradient.detach()


def is_absent(gradient: TorchTensor, means: bool) -> bool:
    """Says whether no peer has computed a gradient that this one has not.

    A mean keeps the sign of ABSENT, and becomes +0.0 if another peer's gradient is zero. Methods that mix gradients
    lose the sign: there, zeros count as absent.
    """
    return not gradient.any() and (not means or bool(torch.signbit(gradient).all()))


def on_host(p: TorchTensor) -> TorchTensor:
    """Returns room for a tensor on the CPU, of its layout; pinned where CUDA copies from and to it by itself."""
    return torch.empty_strided(p.shape, p.stride(), dtype=torch.float32, pin_memory=p.device.type == "cuda")


@torch.no_grad()
def copy(targets: Sequence[TorchTensor], sources: Sequence[TorchTensor]) -> None:
    """Copies values, between devices too; a CUDA device does so in order with the rest of its current stream."""
    for target, source in zip(targets, sources):
        target.copy_(source, non_blocking=True)
