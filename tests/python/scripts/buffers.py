"""A quadratic over plain buffers: f(x) = curvature / 2 |x - center|^2 by steps of plain SGD."""

import json
import sys
from array import array

import grapevine

given, = json.loads(sys.argv[1])
grapevine.init(given["fleet"], given["id"], meet=given["meet"])
center = array("f", given["centers"][given["id"]])
x, gradient = array("f", [0.0] * len(center)), array("f", [0.0] * len(center))
peer = grapevine.Peer({"x": x}, evaluate=lambda: sum((a - b) ** 2 for a, b in zip(x, center)), rate=given["rate"])
while peer.running:
    for k in range(len(x)):
        gradient[k] = given["curvature"] * array("f", [x[k] - center[k]])[0]
    loss = sum(g * g for g in gradient) / (2 * given["curvature"])
    if peer.before(loss, [gradient], rate=given["rate"]):
        for k in range(len(x)):
            x[k] = array("f", [x[k] - given["rate"] * gradient[k]])[0]
    peer.after()
info = peer.info
grapevine.shutdown()
with open(given["answer"], "w") as answer:
    json.dump({"x": list(x), "round": info["round"], "start": info["start"]}, answer)
