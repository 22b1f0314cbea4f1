"""libgrapevine.so by ctypes: the functions of peer/cli/embed/grapevine_program.h and the structures that they take."""

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Optional

from grapevine._errors import Disagreement, Error, PeerLost

ABI = 1
NAME = "libgrapevine.so"

OK, MORE, STOPPED = 0, 1, 2
DISAGREES, LOST, ROOM = -4, -7, -8
NONE, GRADIENT, STEP, GRADIENT_AND_STEP, EVALUATE, SAVE, OVER = range(7)
PARAMETERS, GRADIENTS = 0, 1
FORK_BEFORE, FORK_PARENT, FORK_CHILD = 0, 1, 2
SUM, MEAN, BROADCAST, NEIGHBOR_AVERAGE = range(4)
BYTES, FLOAT32, FLOAT64, INT64 = range(4)


class CTensor(ctypes.Structure):
    """gv_tensor: one tensor of the model in host memory; shape and strides in elements."""

    _fields_ = [("name", c_char_p), ("type", c_char_p), ("dims", c_uint32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("data", c_void_p)]


class CTold(ctypes.Structure):
    """gv_told: what the program says at the end of a turn; `has` has a bit for each member that is said."""

    _fields_ = [("size", c_uint32), ("has", c_uint32), ("loss", c_double), ("rate", c_double), ("samples", c_uint64),
                ("test_loss", c_double), ("accuracy", c_double)]


class CCall(ctypes.Structure):
    """gv_call: what all peers do together, or two; `size` is filled in by the session."""

    _fields_ = [("size", c_uint32), ("verb", c_uint32), ("type", c_uint32), ("root", c_uint32), ("name", c_char_p),
                ("lends", c_uint32)]


SIGNATURES = {
    "gv_abi": [],
    "gv_open": [c_char_p, POINTER(c_void_p)],
    "gv_info": [c_void_p, c_char_p, c_size_t],
    "gv_rows": [c_void_p, POINTER(c_int32), c_size_t, POINTER(c_uint32), POINTER(c_size_t)],
    "gv_attach": [c_void_p, POINTER(CTensor), c_size_t, c_char_p],
    "gv_begin": [c_void_p, c_char_p],
    "gv_turn": [c_void_p, POINTER(CTold), c_int],
    "gv_point": [c_void_p, c_int, POINTER(c_void_p), c_size_t],
    "gv_state": [c_void_p, c_int, c_void_p, POINTER(c_size_t)],
    "gv_say": [c_void_p, c_char_p],
    "gv_verb": [c_void_p, POINTER(CCall), c_void_p, c_size_t, c_int],
    "gv_push": [c_void_p, POINTER(CCall), c_void_p, c_size_t, POINTER(c_uint64)],
    "gv_pull": [c_void_p, POINTER(CCall), c_size_t, POINTER(c_uint64)],
    "gv_wait": [c_void_p, c_uint64, c_void_p, c_size_t, c_int],
    "gv_fork": [c_void_p, c_int],
    "gv_finish": [c_void_p, c_int],
    "gv_error": [c_void_p],
    "gv_close": [c_void_p],
    "gv_simulate": [c_char_p, POINTER(c_void_p)],
    "gv_simulated": [c_void_p, c_char_p, POINTER(c_void_p)],
    "gv_simulation_wait": [c_void_p, c_int, c_int],
    "gv_simulation_info": [c_void_p, c_char_p, c_size_t],
    "gv_simulation_close": [c_void_p],
}
RETURNS = {"gv_error": c_char_p, "gv_close": None, "gv_simulation_close": None}

_loaded: Optional[ctypes.CDLL] = None


def library_path() -> str:
    """Says which library is loaded: GRAPEVINE_LIBRARY, else the one beside this package, else that of the checkout in
    which the package lies, else the system's.
    """
    named = os.environ.get("GRAPEVINE_LIBRARY")
    places = [Path(__file__).with_name(NAME), built(NAME)]
    return named or next((str(place) for place in places if place.exists()), NAME)


def built(name: str) -> Path:
    """Says where the checkout has built a file, if this package lies in one."""
    return Path(__file__).resolve().parents[2] / "build" / "release" / name


def load() -> ctypes.CDLL:
    """Loads the library once. Raises Error where there is none, or where it speaks another ABI."""
    global _loaded
    if _loaded is None:
        path = library_path()
        try:
            library = ctypes.CDLL(path)
        except OSError as why:
            raise Error(f"{path} cannot be loaded: {why}\n"
                        f"help: GRAPEVINE_LIBRARY=PATH names another {NAME}") from None
        _loaded = declare(library, path)
    return _loaded


def declare(library: ctypes.CDLL, path: str) -> ctypes.CDLL:
    """Gives each function its types and checks the ABI. Raises Error where a function is missing."""
    for name, arguments in SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise Error(f"{path} has no {name}: it is no {NAME} of this package") from None
        function.argtypes = arguments
        function.restype = RETURNS.get(name, c_int)
    if library.gv_abi() != ABI:
        raise Error(f"{path} speaks ABI {library.gv_abi()}, and this package speaks {ABI}\n"
                    "help: install library and package of one version")
    return library


def checked(code: int, peer: Optional[c_void_p]) -> int:
    """Returns what a call of the library returned; raises the error of that kind where it failed."""
    if code >= 0:
        return code
    text = (load().gv_error(peer) or b"").decode("utf-8", "replace") or f"the library failed with code {code}"
    raise {DISAGREES: Disagreement, LOST: PeerLost}.get(code, Error)(text)
