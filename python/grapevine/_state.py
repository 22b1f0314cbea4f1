"""A script's state as bytes for a checkpoint: nothing in them is ever executed.

Tensors stand in one list, and everything around them in a JSON text, which each version of PyTorch reads alike with
weights_only=True: 1.13 reads no floats there.
"""

import io
import json
from typing import Any, Dict, List

import torch

from grapevine._errors import Error


def packed(state: Dict[str, Any]) -> bytes:
    """Returns dictionaries, lists, tuples, tensors, numbers, texts and None as bytes.

    Raises Error for anything else, and says where it stands.
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
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach())
        return {"tensor": len(tensors) - 1}
    if isinstance(value, dict):
        return {"pairs": [[plain(key, place, tensors), plain(inner, f"{place}[{key!r}]", tensors)]
                          for key, inner in value.items()]}
    if isinstance(value, (list, tuple)):
        items = [plain(inner, f"{place}[{i}]", tensors) for i, inner in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    raise Error(f"the state cannot be kept in a checkpoint: {place} is a {type(value).__name__}\n"
                "help: state_dict() of optimizers and of state=[...] may hold tensors, numbers, texts, lists and "
                "dictionaries")


def restored(value: Any, tensors: List[torch.Tensor]) -> Any:
    """Returns the value of which `plain` made this."""
    if isinstance(value, list):
        return [restored(inner, tensors) for inner in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "tuple" in value:
        return tuple(restored(inner, tensors) for inner in value["tuple"])
    return {restored(key, tensors): restored(inner, tensors) for key, inner in value["pairs"]}
