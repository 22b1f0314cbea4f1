"""A quadratic in JAX, on a pytree of two leaves."""

import json
import sys

import jax
import jax.numpy as jnp

import grapevine
import grapevine.jax

given, = json.loads(sys.argv[1])
grapevine.init(given["fleet"], given["id"], meet=given["meet"])
center = jnp.array(given["centers"][given["id"]], dtype=jnp.float32)


def value(params):
    return given["curvature"] / 2 * ((jnp.concatenate([params["head"], params["tail"]]) - center) ** 2).sum()


peer = grapevine.jax.Peer({"head": jnp.zeros(2), "tail": jnp.zeros(len(center) - 2)}, evaluate=value)
params = peer.params
while peer.running:
    loss, gradients = jax.value_and_grad(value)(params)
    params, gradients = peer.before(params, loss, gradients, rate=given["rate"])
    if gradients is not None:
        params = jax.tree_util.tree_map(lambda x, g: x - given["rate"] * g, params, gradients)
    params = peer.after(params)
grapevine.shutdown()
with open(given["answer"], "w") as answer:
    json.dump({"x": [float(x) for x in [*params["head"], *params["tail"]]]}, answer)
