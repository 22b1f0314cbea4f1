"""Builds the Python package: in seconds from what `./grapevine` has built, else by scikit-build-core.

A wheel of the checkout's own build holds the package, the library beside it and the program, as one of
scikit-build-core does. GRAPEVINE_COMPILE=1 has scikit-build-core compile everything, as for a release.
"""

import base64
import hashlib
import os
import re
import stat
import sysconfig
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "release"
PROGRAM, LIBRARY = BUILT / "peer" / "grapevine", BUILT / "libgrapevine.so"
STAMP = BUILT.parent / ".built-program"     # start time of the wrapper's last good build
SOURCES = ["CMakeLists.txt", "cmake", "gossip", "gpu", "graph", "optim", "peer"]
COMPILER = "scikit-build-core>=0.10"
METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {description}
License: Apache-2.0
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: grapevine
Root-Is-Purelib: false
Tag: {tag}
"""


def compiles() -> bool:
    """Says whether everything is compiled here. Raises SystemExit with what to do if the build is missing or old."""
    if os.environ.get("GRAPEVINE_COMPILE"):
        return True
    if not PROGRAM.exists() or not LIBRARY.exists():
        refuse("nothing is built in build/release")
    built = min(PROGRAM.stat().st_mtime, LIBRARY.stat().st_mtime)
    if newest() > max(built, STAMP.stat().st_mtime if STAMP.exists() else 0):     # a build leaves what did not change
        refuse("sources are newer than build/release")
    return False


def refuse(why: str) -> None:
    raise SystemExit(f"error: {why}\nhelp: `./grapevine doctor` builds it (18 minutes on two cores, build/build.log "
                     "shows how far); installing then takes seconds. GRAPEVINE_COMPILE=1 compiles here")


def newest() -> float:
    """Returns when the newest source was changed."""
    def times(path: Path) -> Iterator[float]:
        for folder, _, names in os.walk(path):
            yield from ((Path(folder) / name).stat().st_mtime for name in names)
        if path.is_file():
            yield path.stat().st_mtime
    return max(time for name in SOURCES for time in times(HERE.parent / name))


def project() -> Dict[str, str]:
    """Returns name, version and description of pyproject.toml."""
    text = (HERE / "pyproject.toml").read_text()
    return {key: re.search(rf'^{key} = "(.*)"$', text, re.M).group(1) for key in ("name", "version", "description")}


def tag() -> str:
    return "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())


def write_wheel(folder: str, parts: List[Tuple[str, bytes, int]], kind: str) -> str:
    """Writes a wheel of (name, content, mode); returns the name of its file."""
    of = project()
    stem = f"{of['name'].replace('-', '_')}-{of['version']}"
    info = f"{stem}.dist-info"
    parts = [*parts, (f"{info}/METADATA", METADATA.format(**of).encode(), 0o644),
             (f"{info}/WHEEL", WHEEL.format(tag=kind).encode(), 0o644),
             (f"{info}/entry_points.txt", b"[console_scripts]\ngrapevine = grapevine._program:main\n", 0o644)]
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in parts)
    parts.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    path = f"{stem}-{kind}.whl"
    with zipfile.ZipFile(Path(folder) / path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, data, mode in parts:
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = (stat.S_IFREG | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return path


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def get_requires_for_build_wheel(config_settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return [COMPILER] if compiles() else []


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    if compiles():
        from scikit_build_core import build
        os.chdir(HERE)
        return build.build_wheel(wheel_directory, config_settings, metadata_directory)
    parts = [(f"grapevine/{path.name}", path.read_bytes(), 0o644) for path in sorted((HERE / "grapevine").glob("*.py"))]
    parts += [("grapevine/libgrapevine.so", LIBRARY.read_bytes(), 0o755),
              ("grapevine/bin/grapevine", PROGRAM.read_bytes(), 0o755)]
    return write_wheel(wheel_directory, parts, tag())


def get_requires_for_build_editable(config_settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return []


def build_editable(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                   metadata_directory: Optional[str] = None) -> str:
    """Points at this checkout, whose package finds the library and the program in build/release."""
    return write_wheel(wheel_directory, [("grapevine_learning.pth", f"{HERE}\n".encode(), 0o644)], tag())
