#!/usr/bin/env python3
"""Four machines and one model: which way to divide the work is worth what?

Measures a profile of each model here, simulates each way of dividing it with that profile over as many samples, and
prints a table for each model as Markdown: samples a second as `plan` predicts and as `simulate` has them, loss behind
equal samples, bytes. With --advice it holds what `plan --parallel` advises against simulations of the fleets that it
compares. With --write both go into README.md, and the curves become answer.svg.

A profile is a measurement: nothing else should run meanwhile. Profiles and simulations are kept, and not made again.
"""
import argparse
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import fleets  # noqa: E402
from curves import Panel, picture  # noqa: E402

PROGRAM = os.path.join(ROOT, "build", "release", "peer", "grapevine")
KEPT = os.path.join(ROOT, "runs", "parallel")
README = os.path.join(HERE, "README.md")

MODELS = {  # name: samples of a round, rounds of so many, evaluations
    "mlp": (256, 80, 8),
    "transformer": (16, 160, 8),
    "resnet20": (32, 320, 8),
}
PEERS = 4


def chain(schedule, **more):
    return {"parallel": f"{{ stages: {PEERS}, {schedule} }}", **more}


# name: (how many rounds take the samples of one round of the others, keys)
WAYS = {
    "one machine": (1, {"peers": 1, "parallel": "{ stages: 1 }"}),
    "data parallel, D-PSGD": (1, {"parallel": "{ stages: 1 }", "algorithm": "{ kind: d-psgd, order: lian }"}),
    "data parallel, all-reduce": (1, {"parallel": "{ stages: 1 }", "algorithm": "all-reduce"}),
    "1F1B with a flush": (1, chain("microbatches: 8, ahead: 1")),
    "flush, two ahead": (1, chain("microbatches: 8, ahead: 2")),
    "GPipe": (1, chain("microbatches: 8, ahead: all")),
    "PipeDream": (4, chain("schedule: pipedream")),
    "PipeDream, vertical sync": (4, chain("schedule: pipedream, vertical_sync: true")),
    "two stages, two copies each": (1, {"parallel": "{ stages: 2, microbatches: 8, ahead: all, copies: [2, 2] }",
                                        "algorithm": "all-reduce"}),
    "two stages, tensor 2": (1, {"parallel": "{ stages: 2, microbatches: 8, ahead: 2, tensor: 2 }"}),
    "tensor 4": (1, {"parallel": "{ stages: 1, tensor: 4 }"}),
}
DATA_PARALLEL = {name for name in WAYS if name.startswith("data parallel")}
DIVIDES_LAYERS = {name for name in WAYS if "tensor" in name}


def ways_of(model):
    """Only the layers of perceptrons can be divided in themselves."""
    return [way for way in WAYS if model == "mlp" or way not in DIVIDES_LAYERS]


def file_of(model):
    return os.path.join(HERE, model + ".yaml")


def profile_of(options, model):
    """Path of the seconds of each layer on this machine."""
    path = os.path.join(options.kept, f"{model}.profile.json")
    if not os.path.exists(path):
        print(f"profile of {model}", file=sys.stderr)
        fleets.call(options.program, "profile", file_of(model), "--json", "-o", path, threads=1)
    return path


def keys_of(options, model, way):
    batch, rounds, looks = MODELS[model]
    times, keys = WAYS[way]
    peers = PEERS if way in DATA_PARALLEL else 1
    return {**keys, "simulate.profile": profile_of(options, model), "train.batch": batch // (times * peers),
            "stop.rounds": rounds * times, "evaluate.every": f"{rounds * times // looks} rounds"}


def is_number(loss):
    return loss is not None and math.isfinite(loss)


def figures(options, model, way):
    """What plan predicts and what simulate has of one way."""
    keys = keys_of(options, model, way)

    def run():
        print(f"{model}, {way}", file=sys.stderr)
        words = fleets.sets(keys)
        planned = fleets.call(options.program, "plan", file_of(model), "--json", *words, threads=1)[0]
        lines = fleets.call(options.program, "simulate", file_of(model), "--json", "--no-save", "--threads", "1",
                            *words, threads=1, good=(0, 1))  # 1: the loss is not finite at the end
        return {"predicted": planned["predicted"]["seconds_per_round"], "summary": lines[-1],
                "evaluations": [line for line in lines if line["event"] == "evaluate"]}

    found = fleets.kept(options.kept, f"{model} {way}".replace(",", "").replace(" ", "-"), run)
    batch = MODELS[model][0]
    times = WAYS[way][0]
    samples = batch / times
    last = found["evaluations"][-1]
    return {
        "predicted": samples / found["predicted"],
        "simulated": samples * last["round"] / last["seconds"],
        "loss": f"{last['loss']:.3f}" if is_number(last["loss"]) else "diverges",
        "megabytes": last["sent_bytes"] * times / last["round"] / 1e6,
        "curve": [(e["seconds"], e["loss"]) for e in found["evaluations"] if e["seconds"] > 0 and is_number(e["loss"])],
    }


def table(model, of):
    batch, rounds, _ = MODELS[model]
    alone = of["one machine"]["simulated"]
    lines = [f"{model}, {batch} samples a round, loss behind {batch * rounds:,} samples:", "",
             "| way | samples a second: predicted | simulated | times one machine | loss | MB sent a round |",
             "|---|---|---|---|---|---|"]
    for way, f in of.items():
        lines.append(f"| {way} | {f['predicted']:.4g} | {f['simulated']:.4g} | {f['simulated'] / alone:.2f} "
                     f"| {f['loss']} | {f['megabytes']:.3g} |")
    return "\n".join(lines) + "\n"


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(k) for k in range(len(values))]


def rank_correlation(of):
    """Spearman's, of what was predicted and what was simulated."""
    one, other = (ranks([f[key] for f in of]) for key in ("predicted", "simulated"))
    n = len(one)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(one, other)) / (n * (n * n - 1))


# What `plan --parallel` is asked, and which keys: the four cases of its advice.
QUESTIONS = {
    "ResNet-20, batch 32": ("resnet20", {"train.batch": 32}),
    "LeNet-5, batch 64": ("lenet5", {"train.batch": 64}),
    "MLP 2048 x 6, batch 32": ("mlp", {"train.batch": 32}),
    "MLP 2048 x 6, batch 256": ("mlp", {"train.batch": 256}),
}


def simulated_round(options, model, keys):
    """Seconds of a round in virtual time, behind the first ones."""
    def until(rounds):
        words = fleets.sets({**keys, "simulate.profile": profile_of(options, model), "stop.rounds": rounds,
                             "evaluate.every": f"{rounds} rounds"})
        return fleets.call(options.program, "simulate", file_of(model), "--json", "--no-save", *words,
                           threads=1)[-1]["seconds"]
    return (until(12) - until(4)) / 8


def keys_of_proposal(p):
    """The keys that make the fleet of the file one of this proposal."""
    if p["chains"] * len(p["stages"]) == 1:
        return {"peers": 1, "parallel": "{ stages: 1 }", "train.batch": p["batch"]}
    if len(p["stages"]) <= 1:
        return {"parallel": "{ stages: 1 }", "train.batch": p["batch"]}
    return {"parallel": f"{{ stages: [{', '.join(p['stages'])}], microbatches: {p['microbatches']}, "
                        f"ahead: {p['ahead']}, recompute: {str(p['recompute']).lower()} }}", "train.batch": p["batch"]}


def advice(options):
    """A table of what is advised, and of how far what was printed is from what is simulated."""
    lines = ["| model | advice | way | printed, ms a round | simulated | |", "|---|---|---|---|---|---|"]
    for name, (model, keys) in QUESTIONS.items():
        words = fleets.sets(keys)
        told = fleets.call(options.program, "plan", file_of(model), "--parallel", "--json", "--profile",
                           profile_of(options, model), *words, threads=1)[0]
        ways = [("pipeline", p) for p in told["proposals"][:1]]
        ways += [("a model each", p) for p in told["data_parallel"][:1]] + [("alone", told["alone"])]
        for way, p in ways:
            printed = p["seconds_per_round"]
            simulated = simulated_round(options, model, {**keys, **keys_of_proposal(p)})
            lines.append(f"| {name} | {told['advice']} | {way} | {1000 * printed:.4g} | {1000 * simulated:.4g} "
                         f"| {100 * (simulated / printed - 1):+.1f} % |")
    return "\n".join(lines) + "\n"


def panel(model, of):
    first = max(figures["curve"][0][1] for figures in of.values() if figures["loss"] != "diverges")
    curves = {way: [(seconds, min(loss, first)) for seconds, loss in figures["curve"]] for way, figures in of.items()}
    losses = [loss for curve in curves.values() for _, loss in curve]
    return Panel(f"{model}: loss, all behind as many samples", curves, min(losses), first)


def write(parts, results):
    """The tables into README.md, between its marks, and the curves into answer.svg."""
    with open(os.path.join(HERE, "answer.svg"), "w") as f:
        f.write(picture([panel(model, of) for model, of in results.items()]))
    fleets.write_parts(README, parts)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--advice", action="store_true", help="only what `plan --parallel` advises, beside simulations")
    words.add_argument("--write", action="store_true", help="into README.md and answer.svg, too")
    words.add_argument("--kept", default=KEPT, metavar="FOLDER",
                       help="where profiles and simulations are kept, and looked for (default: runs/parallel)")
    words.add_argument("--program", default=PROGRAM, metavar="FILE",
                       help="the program (default: build/release/peer/grapevine)")
    options = words.parse_args()
    options.kept = os.path.abspath(options.kept)
    os.makedirs(options.kept, exist_ok=True)
    for model in {*MODELS, *(model for model, _ in QUESTIONS.values())}:
        profile_of(options, model)  # all of them first: they are what wants a quiet machine
    advised = fleets.kept(options.kept, "advice", lambda: advice(options))
    if options.advice and not options.write:
        return print(advised)
    results = {model: {way: figures(options, model, way) for way in ways_of(model)} for model in MODELS}
    tables = "\n".join(table(model, of) for model, of in results.items())
    everything = [f for of in results.values() for f in of.values()]
    tables += ("\nThe rank correlation of predicted and simulated samples a second is "
               f"{rank_correlation(everything):.3f} over these {len(everything)} ways.\n")
    print(tables + "\n" + advised)
    if options.write:
        write({"answer": tables + "\n![Loss over virtual seconds](answer.svg)\n", "advice": advised}, results)


if __name__ == "__main__":
    main()
