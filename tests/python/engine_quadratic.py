"""What the tests of engines train: a quadratic of curvature 1/2 over plain buffers, at the rate 1/2."""

from array import array

import grapevine


def train(centers):
    """Is a peer, which init() has made; returns its model."""
    x, gradient = array("f", [0.0] * 6), array("f", [0.0] * 6)
    peer = grapevine.Peer([x])
    center = centers[peer.info["id"]]
    while peer.running:
        for k in range(6):
            gradient[k] = 0.5 * (x[k] - center[k])
        if peer.before(0.0, [gradient]):
            for k in range(6):
                x[k] -= 0.5 * gradient[k]
        peer.after()
    return list(x)
