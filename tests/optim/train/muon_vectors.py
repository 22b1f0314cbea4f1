"""The vectors of muon_test.cpp, by NumPy in double and apart from the program.

    python3 tests/optim/train/muon_vectors.py

Jordan et al. 2024 (kellerjordan.github.io/posts/muon) for the direction, Liu et al. 2025 (arXiv:2502.16982,
equation 4) for length and decay, Loshchilov & Hutter 2019 (arXiv:1711.05101) for what is no matrix.
"""

import numpy as np

RATE, DECAY, MOMENTUM = 0.02, 0.1, 0.95
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
D = 28
MATRICES = [(3, (4, 3)), (17, (2, 5))]  # where they begin, and their shapes


def newton_schulz(g):
    """As zeropower_via_newtonschulz5 of the post, in double."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (np.linalg.norm(g) + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(5):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if tall else x


def gradient(t):
    k = np.arange(D)
    return np.sin(1.0 + 0.7 * k + 0.3 * t * k) + 0.5 * np.cos(k * k)


def train(steps, nesterov):
    x = np.cos(np.arange(D, dtype=float))
    momentum = {at: np.zeros(shape) for at, shape in MATRICES}
    first, second = np.zeros(D), np.zeros(D)
    for t in range(1, steps + 1):
        g = gradient(t)
        first = BETA1 * first + (1 - BETA1) * g
        second = BETA2 * second + (1 - BETA2) * g * g
        adam = first / (1 - BETA1 ** t) / (np.sqrt(second / (1 - BETA2 ** t)) + EPSILON)
        update = adam
        for at, shape in MATRICES:
            end = at + shape[0] * shape[1]
            block = g[at:end].reshape(shape)
            momentum[at] = MOMENTUM * momentum[at] + block
            along = block + MOMENTUM * momentum[at] if nesterov else momentum[at]
            update[at:end] = (0.2 * np.sqrt(max(shape)) * newton_schulz(along)).ravel()
        x = x - RATE * (update + DECAY * x)
    return x


def show(name, values):
    lines = [", ".join(f"{v:.9f}" for v in row) for row in np.reshape(values, (-1, 4))]
    print(f"{name}:\n    " + ",\n    ".join(lines))


print("singular values, tall:", np.linalg.svd(newton_schulz(gradient(1)[3:15].reshape(4, 3)))[1])
print("singular values, wide:", np.linalg.svd(newton_schulz(gradient(1)[17:27].reshape(2, 5)))[1])
show("orthogonal, tall", newton_schulz(gradient(1)[3:15].reshape(4, 3)))
show("after 3 steps", train(3, False))
show("after 3 steps of Nesterov's", train(3, True))
