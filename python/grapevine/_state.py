"""A script's state as bytes for a checkpoint: nothing in them is ever executed.

Tensors stand in one list, and everything around them in a JSON text, which each version of PyTorch reads alike with
weights_only=True: 1.13 reads no floats there.
"""

import functools
import io
import json
import random
import sys
import types
import weakref
from typing import Any, Dict, List

import torch

from grapevine._errors import Error

FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial, weakref.ReferenceType,
             type)


def packed(state: Dict[str, Any]) -> bytes:
    """Returns dictionaries, lists, tuples, sets, tensors, numbers, texts, NumPy's arrays and None as bytes.

    Functions, which some schedulers have in their state, are left to the script (`filled`). Raises Error for anything
    else, and says where it stands.
    """
    tensors: List[torch.Tensor] = []
    text = json.dumps(plain(state, "", tensors)).encode()
    block = io.BytesIO()
    torch.save({"text": torch.frombuffer(bytearray(text), dtype=torch.uint8), "tensors": tensors}, block)
    return block.getvalue()


def unpacked(block: bytes) -> Dict[str, Any]:
    """Returns what `packed` was given; tensors are on the CPU."""
    kept = torch.load(io.BytesIO(block), weights_only=True, map_location="cpu")
    return restored(json.loads(bytes(kept["text"].tolist())), kept["tensors"])


def plain(value: Any, place: str, tensors: List[torch.Tensor]) -> Any:
    """Returns a value as JSON can say it; a dictionary's keys may be numbers, so that it becomes a list of pairs."""
    if value is None or isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins":
        return value
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach())
        return {"tensor": len(tensors) - 1}
    if isinstance(value, dict):
        return {"pairs": [[plain(key, place, tensors), plain(inner, f"{place}[{key!r}]", tensors)]
                          for key, inner in value.items()]}
    for kind, name in ((tuple, "tuple"), (set, "set"), (frozenset, "frozenset"), (list, "list")):
        if isinstance(value, kind):
            items = [plain(inner, f"{place}[{i}]", tensors) for i, inner in enumerate(value)]
            return items if name == "list" else {name: items}
    if isinstance(value, (bytes, bytearray)):
        return {type(value).__name__: value.decode("latin-1")}
    if type(value).__module__ == "numpy" and hasattr(value, "dtype") and value.dtype.kind in "biufc":
        return {"numpy": value.dtype.str, "shape": list(value.shape), "bytes": value.tobytes().decode("latin-1"),
                "scalar": not hasattr(value, "__setitem__")}
    for base in (int, float, str):
        if isinstance(value, base):
            return base(value)
    if isinstance(value, FUNCTIONS):
        return {"own": type(value).__name__}
    raise Error(f"the state cannot be kept in a checkpoint: {place} is a {type(value).__name__}\n"
                "help: state_dict() of optimizers and of state=[...] may hold tensors, numbers, texts, lists, sets, "
                "dictionaries and NumPy's numbers and arrays")


class Own:
    """Stands for a function in a state, which stays the script's own."""


OWN = Own()


def restored(value: Any, tensors: List[torch.Tensor]) -> Any:
    """Returns the value of which `plain` made this; a function is OWN."""
    if isinstance(value, list):
        return [restored(inner, tensors) for inner in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "numpy" in value:
        return array_of(value)
    if "own" in value:
        return OWN
    if "pairs" in value:
        return {restored(key, tensors): restored(inner, tensors) for key, inner in value["pairs"]}
    (name, items), = value.items()
    if name in ("bytes", "bytearray"):
        return {"bytes": bytes, "bytearray": bytearray}[name](items.encode("latin-1"))
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[name](restored(inner, tensors) for inner in items)


def array_of(value: Dict[str, Any]) -> Any:
    """Returns an array of NumPy, or one of its numbers."""
    import numpy
    array = numpy.frombuffer(value["bytes"].encode("latin-1"), dtype=value["numpy"]).reshape(value["shape"]).copy()
    return array[()] if value["scalar"] else array


def filled(value: Any, own: Any) -> Any:
    """Returns a restored value whose functions are those that the script's own state has in the same places."""
    if value is OWN:
        return own
    if isinstance(value, dict):
        return {key: filled(inner, own.get(key) if isinstance(own, dict) else None) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        there = isinstance(own, (list, tuple)) and len(own) == len(value)
        items = [filled(inner, own[i] if there else None) for i, inner in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    return value


def seed_all(seed: int) -> None:
    """Seeds torch on all devices, random, and NumPy where it is imported."""
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def random_state() -> Dict[str, Any]:
    """Returns where the random numbers are: torch's on all devices, those of random, and NumPy's if it is imported."""
    numpy = sys.modules.get("numpy")
    return {"torch": torch.get_rng_state(), "python": random.getstate(),
            "numpy": None if numpy is None else numpy.random.get_state(),
            "devices": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}


def be_random(state: Dict[str, Any]) -> None:
    """Goes back to such a state; on another number of devices these go on as they are."""
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if state.get("numpy") is not None:
        import numpy
        numpy.random.set_state(state["numpy"])
    if state["devices"] and len(state["devices"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["devices"])
