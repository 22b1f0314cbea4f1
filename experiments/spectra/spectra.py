#!/usr/bin/env python3
"""The gap of large mixing matrices: grapevine beside scipy's eigsh, on the same edge lists, one core each.

usage: spectra.py [path to the grapevine binary] [seconds that scipy may take per matrix]
"""
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh


def ring(n):
    i = np.arange(n)
    return i, (i + 1) % n, 4 / 3 * np.sin(np.pi / n) ** 2


def torus(side):
    n = side * side
    i = np.arange(n)
    right = i // side * side + (i + 1) % side
    down = (i + side) % n
    return np.r_[i, i], np.r_[right, down], 4 / 5 * np.sin(np.pi / side) ** 2


def two_rings(n):
    """A 4-regular random graph: the union of two random Hamiltonian cycles."""
    rng = np.random.default_rng(1)
    a, b = rng.permutation(n), rng.permutation(n)
    return np.r_[a, b], np.r_[np.roll(a, 1), np.roll(b, 1)], None


def small_world(n, beta):
    rng = np.random.default_rng(1)
    i = np.r_[np.arange(n), np.arange(n)]
    j = (i + np.repeat([1, 2], n)) % n
    rewired = rng.random(2 * n) < beta
    j[rewired] = rng.integers(0, n, rewired.sum())
    return i, j, None


def grid(side):
    i = np.arange(side * side)
    right, down = i[i % side < side - 1], i[:-side]
    return np.r_[right, down], np.r_[right + 1, down + side], None


def edges(u, v):
    low, high = np.minimum(u, v), np.maximum(u, v)
    return np.unique(np.stack([low, high], 1)[low != high], axis=0)


def metropolis(n, e):
    degree = np.bincount(e.ravel(), minlength=n)
    w = 1 / (1 + np.maximum(degree[e[:, 0]], degree[e[:, 1]]))
    off = sp.coo_matrix((np.r_[w, w], (np.r_[e[:, 0], e[:, 1]], np.r_[e[:, 1], e[:, 0]])), (n, n)).tocsr()
    return off + sp.diags(1 - np.asarray(off.sum(1)).ravel())


def scipy_gap(w, method, queue):
    """1 - max(|lambda2|, |lambda_n|)."""
    start = time.perf_counter()
    n = w.shape[0]
    if method == "lanczos":
        deflated = LinearOperator((n, n), matvec=lambda x: w @ x - x.mean())
        top = 1 - eigsh(deflated, 1, which="LA", ncv=64, tol=1e-10, maxiter=100000)[0][0]
    else:
        shifted = (sp.identity(n) - w).tocsc()
        top = np.sort(eigsh(shifted, 2, sigma=-1e-9, which="LM", tol=1e-10)[0])[1]
    low = 1 + eigsh(w, 1, which="SA", ncv=64, tol=1e-3)[0][0]  # far from deciding the gap here
    queue.put((min(top, low), time.perf_counter() - start))


def limited(w, method, seconds):
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=scipy_gap, args=(w, method, queue))
    child.start()
    try:
        result = queue.get(timeout=seconds)
    except Exception:
        result = None
    child.kill()
    child.join()
    return result


def text(result, reference, seconds):
    if result is None:
        return f"not in {seconds:.0f} s |"
    return f"{result[0]:.9e} ({abs(result[0] / reference - 1):.0e}) | {result[1]:.1f}"


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "./grapevine"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 300
    cases = [("ring", 10**5, ring(10**5)),
             ("torus 1000x1000", 10**6, torus(1000)),
             ("random 4-regular", 10**6, two_rings(10**6)),
             ("small world k=4, beta=0.1", 10**5, small_world(10**5, 0.1)),
             ("small world k=4, beta=0.01", 10**5, small_world(10**5, 0.01)),
             ("grid 300x300", 90000, grid(300))]
    print("| graph | peers | gap | grapevine: method, relative error | s | eigsh: gap (rel. difference) | s "
          "| eigsh shift-invert | s |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name, n, (u, v, exact) in cases:
        e = edges(u, v)
        with tempfile.NamedTemporaryFile("w", suffix=".edges") as file:
            np.savetxt(file, e, fmt="%d")
            file.flush()
            out = subprocess.run([binary, "graph", "report", "--edges", file.name, "--peers", str(n), "--json"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        row = json.loads(out)["rows"][0]
        reference = exact if exact else row["gap"]
        error = f"{abs(row['gap'] / exact - 1):.0e}" if exact else f"at most {row['gap_error']:.0e}"
        w = metropolis(n, e)
        print(f"| {name} | {n} | {row['gap']:.9e} | {row['method']}, {error} | {row['seconds']:.1f} | "
              + " | ".join(text(limited(w, m, seconds), reference, seconds)
                           for m in ("lanczos", "shift-invert")), "|", flush=True)


if __name__ == "__main__":
    main()
