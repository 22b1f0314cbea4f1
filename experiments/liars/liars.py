#!/usr/bin/env python3
"""What does one liar of eight cost, with and without protection, and is it named?

Prints the tables of README.md; with --write they go there. A simulation that is there is not run
again, so whoever ends the script may start it once more.
"""
import argparse
import hashlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
import fleets  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(ROOT, "build", "release", "peer", "grapevine")
RUNS = os.path.join(ROOT, "runs", "liars")
FLEET = os.path.join(HERE, "fleet.yaml")
LIAR = 7
MOST_LOST = 3  # points that a protected fleet may lose
AUTO = {"robust.clip": "auto"}

# What is sent, as `attackers` has it; the first two are what the others are compared with.
TRUTH, SILENT = "the truth", "nothing of its own"
ABOUT_MODELS = {
    TRUTH: None,
    SILENT: ("aside", 0),  # the mean of what it hears
    "1e30, always": ("constant", 1e30),
    "1e6, once": ("once", 1e6),
    "minus 4 times": ("sign-flip", 4),
    "one NaN": ("nan", 1),
    "drifts to distance 10": ("drift", 10),
    "drifts to distance 1000": ("drift", 1000),
    "the first model, always": ("stale", 1),
    "another to each (1)": ("dissensus", 1),
    "another to each (10)": ("dissensus", 10),
    "25 steps aside": ("aside", 25),
    "25 steps back": ("inner-product", 25),
    "gradients times 100": ("gradient-scale", 100),
}
SOME_ABOUT_MODELS = {lie: ABOUT_MODELS[lie] for lie in (
    TRUTH, SILENT, "1e30, always", "minus 4 times", "the first model, always", "another to each (1)", "25 steps aside",
    "25 steps back")}
ABOUT_GRADIENTS = {
    TRUTH: None,
    SILENT: ("gradient-scale", 0),
    "times 1e30": ("gradient-scale", 1e30),
    "1e6, once": ("gradient-once", 1e6),
    "minus 4 times": ("gradient-flip", 4),
    "one NaN": ("gradient-nan", 1),
    "times 100": ("gradient-scale", 100),
}

DATA = {
    "iid": {},
    "two classes each": {"data.partition": "{ kind: by-label, classes_per_peer: 2 }"},
    "Dirichlet 0.3, plain SGD": {"data.partition": "{ kind: dirichlet, alpha: 0.3 }",
                                 "train.optimizer.momentum": 0, "train.optimizer.lr": 0.1},
}
# Of methods that refuse momentum, or whose sums come late: their steps are about as long.
PLAIN = {"train.optimizer.momentum": 0, "train.optimizer.lr": 0.1}
OWN_MOMENTUM = {"train.optimizer.momentum": 0}
LATE = {"train.optimizer.momentum": 0, "train.optimizer.lr": 0.0125}
LOCAL = {"train.local_steps": 4, "stop.rounds": 100}
PASSES = {"stop.rounds": 20}  # over the own samples
LATTICE = {"topology": "ring-lattice:k=4"}  # robust-gossip needs three neighbours at least, and with krum four


def of(kind, **options):
    """The text of an algorithm with its options."""
    return f"{{ kind: {kind}{''.join(f', {key}: {value}' for key, value in options.items())} }}"


def beside(columns):
    """Each column, and once more with robust.clip. A column: whose truth it is compared with, and what is set."""
    return {name + protection: (name, values | robust) for name, values in columns.items()
            for protection, robust in (("", {}), (", `clip: auto`", AUTO))}


UNPROTECTED = "unprotected"
PAIRS = {
    UNPROTECTED: (UNPROTECTED, {"algorithm": of("d-psgd")}),
    "`clip: auto`": (UNPROTECTED, {"algorithm": of("d-psgd"), **AUTO}),
    "`clipped-gossip`": (UNPROTECTED, {"algorithm": of("clipped-gossip", tau=0.1)}),
}
RULES = {name: PAIRS[name] for name in (UNPROTECTED, "`clip: auto`")} | {
    f"`{rule}`": (UNPROTECTED, {"algorithm": of("robust-gossip", aggregate=rule)})
    for rule in ("nearest", "trimmed-mean", "krum", "nnm")}
OTHER_PAIRS = beside({
    "d-psgd, atc": {"algorithm": of("d-psgd", order="atc")},
    "d-psgd, cta": {"algorithm": of("d-psgd", order="cta")},
    "quasi-global-momentum": {"algorithm": of("quasi-global-momentum", mu=0.9), **OWN_MOMENTUM},
    "decentlam": {"algorithm": of("decentlam"), **OWN_MOMENTUM},
})
SUMS = beside({
    "all-reduce, ring": {"algorithm": of("all-reduce", order="ring")},
    "all-reduce, driver": {"algorithm": of("all-reduce", order="driver")},
    "all-reduce, doubling": {"algorithm": of("all-reduce", order="doubling")},
    "all-reduce, hierarchical": {"algorithm": of("all-reduce", order="hierarchical")},
    "local-sgd": {"algorithm": of("local-sgd"), **LOCAL},
    "slowmo": {"algorithm": of("slowmo"), **LOCAL},
    "diloco": {"algorithm": of("diloco", outer_lr=0.7, outer_momentum=0.5), **LOCAL},
    "gossip-pga": {"algorithm": of("gossip-pga")},
    "parameter-server, async": {"algorithm": of("parameter-server", order="async"), **LATE},
    "downpour": {"algorithm": of("downpour", fetch=5, push=5), **LATE},
    "decoupled-diloco": {"algorithm": of("decoupled-diloco"), **LOCAL},
    "async-diloco": {"algorithm": of("async-diloco"), **LOCAL},
    "easgd, sync": {"algorithm": of("easgd", order="sync")},
    "easgd, async": {"algorithm": of("easgd", order="async")},
    "scaffold": {"algorithm": of("scaffold"), **LOCAL, **PLAIN},
    "flexrr": {"algorithm": of("flexrr")},
})


def served(kind, **options):
    """A method with servers under each protection."""
    keys = PASSES if kind == "fedavg" else {}
    columns = beside({kind: {"algorithm": of(kind, **options), **keys}})
    for rule in ("krum", "trimmed-mean", "nnm"):
        columns[f"`{rule}`"] = (kind, {"algorithm": of(kind, aggregate=rule, **options), **keys})
    return columns


def keys_of(values, lie, seed):
    """What is set in the fleet file where the last peer sends this."""
    keys = values | {"seed": seed}
    if lie:
        keys["attackers"] = f"{{ count: 1, kind: {lie[0]}, strength: {lie[1]:g} }}"
    return keys


def name_of(keys):
    return " ".join(f"{key}={value}" for key, value in sorted(keys.items()))


def file_of(keys):
    return hashlib.sha256(name_of(keys).encode()).hexdigest()[:16]


def simulated(options, keys):
    """The last line of a simulation; kept."""
    name = name_of(keys)

    def run():
        print(name, file=sys.stderr, flush=True)
        # 1: the loss is not finite at the end; 3: somebody is lost; 4: the loss leapt. A run that is refused has none.
        lines = fleets.call(options.program, "simulate", FLEET, "--json", "--no-save", "--threads", "1",
                            *fleets.sets(keys), threads=1, good=(0, 1, 3, 4))
        return {key: lines[-1].get(key) for key in ("accuracy", "rounds", "clipped", "exit_code")} | {"of": name}

    return fleets.kept(options.runs, file_of(keys), run)


class Cell:
    """What came of one lie under one protection, over the seeds."""

    def __init__(self, runs, judges):
        """judges: the protection says whom it takes for a liar."""
        points = [100 * (run["accuracy"] or 0) for run in runs]
        self.accuracy = sum(points) / len(points)
        self.codes = sorted({run["exit_code"] for run in runs} - {0})
        taken = [{row["peer"] for row in run["clipped"] or [] if row["far"] + row["still"] > 0} for run in runs]
        self.judges = judges
        self.named = sum(LIAR in peers for peers in taken)
        self.blamed = sorted(set().union(*taken) - {LIAR})
        self.runs = len(runs)

    def text(self):
        words = [f"{self.accuracy:.1f}"]
        if self.codes:
            words.append(f"exit {', '.join(map(str, self.codes))}")
        if self.named:
            words.append("named" if self.named == self.runs else f"named {self.named} of {self.runs} times")
        if self.blamed:
            words.append(f"blames {', '.join(map(str, self.blamed))}")
        return ", ".join(words)


class Table:
    """Lies in rows and protections in columns, or the other way about, over one kind of data."""

    def __init__(self, title, data, columns, lies, more=None, turned=False):
        self.title, self.data, self.columns, self.lies = f"{title}: {data}", data, columns, lies
        self.more, self.turned = more or {}, turned
        self.cells = {}

    def keys(self, options):
        """By cell, the keys of its fleets, one for each seed."""
        for lie, kind in self.lies.items():
            for column, (_, values) in self.columns.items():
                # What a method cannot do without counts more than what the data bring.
                whole = self.more | DATA[self.data] | values
                yield (lie, column), [keys_of(whole, kind, seed) for seed in range(42, 42 + options.seeds)]

    def leave_out_what_is_missing(self, options):
        """Lies of which not all simulations are there; of a table without the truth, all."""
        missing = {lie for (lie, _), fleets_of_cell in self.keys(options) for keys in fleets_of_cell
                   if not os.path.exists(os.path.join(options.runs, file_of(keys) + ".json"))}
        left_out = list(self.lies) if missing & {TRUTH, SILENT} else [lie for lie in self.lies if lie in missing]
        self.lies = {lie: kind for lie, kind in self.lies.items() if lie not in left_out}
        return left_out

    def fill(self, options):
        for (lie, column), fleets_of_cell in self.keys(options):
            runs = [simulated(options, keys) for keys in fleets_of_cell]
            self.cells[lie, column] = Cell(runs, "robust.clip" in self.columns[column][1])

    def markdown(self):
        across, down = list(self.columns), list(self.lies)
        if self.turned:
            across, down = down, across
        lines = [f"**{self.title}**", "", "| " + " | ".join(["", *across]) + " |", "|---" * (1 + len(across)) + "|"]
        for row in down:
            keys = [(column, row) if self.turned else (row, column) for column in across]
            lines.append("| " + " | ".join([row, *(self.cells[key].text() for key in keys)]) + " |")
        return "\n".join(lines) + "\n"

    def missed(self):
        """What is said of each cell under robust.clip that does not keep what is promised."""
        for (lie, column), cell in self.cells.items():
            if not cell.judges:
                continue
            unprotected = self.columns[column][0]
            told = self.cells[TRUTH, unprotected].accuracy - cell.accuracy
            without = min(told, self.cells[SILENT, unprotected].accuracy - cell.accuracy)
            wrong = [f"loses {told:.1f} points" + (f", {without:.1f} compared with a peer that sends {SILENT}"
                                                   if without < told else "")] if told > MOST_LOST else []
            if lie not in (TRUTH, SILENT) and cell.named < cell.runs:
                wrong.append(f"the liar is named in {cell.named} of {cell.runs} seeds" if cell.runs > 1
                             else "the liar is not named")
            if cell.blamed:
                wrong.append(f"peers {', '.join(map(str, cell.blamed))} are named, which are honest")
            if wrong:
                yield f"- {self.title}; {column}; {lie}: {'; '.join(wrong)}"


def tables():
    """In the order in which they are simulated."""
    iid, labels, dirichlet = DATA
    yield Table("Ring", iid, PAIRS, ABOUT_MODELS)
    yield Table("Ring", labels, PAIRS, ABOUT_MODELS)
    yield Table("Ring lattice of four neighbours", iid, RULES, SOME_ABOUT_MODELS, more=LATTICE)
    yield Table("One server", iid, served("parameter-server", order="sync"), ABOUT_GRADIENTS)
    yield Table("Ring", dirichlet, PAIRS, ABOUT_MODELS)
    yield Table("Sums", iid, SUMS, ABOUT_GRADIENTS, turned=True)
    yield Table("Other methods in a ring", iid, OTHER_PAIRS, SOME_ABOUT_MODELS, turned=True)
    yield Table("One server, 20 passes", iid, served("fedavg"), ABOUT_GRADIENTS)
    for data in (labels, dirichlet):
        yield Table("Ring lattice of four neighbours", data, RULES, SOME_ABOUT_MODELS, more=LATTICE)
        yield Table("One server", data, served("parameter-server", order="sync"), ABOUT_GRADIENTS)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds 42 to 41 + N (default: 1)")
    words.add_argument("--only", metavar="WORD", help="only tables in whose title it is")
    words.add_argument("--write", action="store_true", help="into README.md, too")
    words.add_argument("--there", action="store_true", help="only of what is simulated already")
    words.add_argument("--runs", default=RUNS, metavar="FOLDER",
                       help="where simulations are kept, and looked for (default: runs/liars)")
    words.add_argument("--program", default=PROGRAM, metavar="FILE",
                       help="the program (default: build/release/peer/grapevine)")
    options = words.parse_args()
    if options.write and options.only:
        words.error("--write tells of all tables: leave out --only")
    os.makedirs(options.runs, exist_ok=True)
    filled, left_out = [], []
    for table in tables():
        if options.only and options.only not in table.title:
            continue
        missing = table.leave_out_what_is_missing(options) if options.there else []
        if missing:
            left_out.append(f"{table.title} ({', '.join(missing)})" if table.lies else table.title)
        if not table.lies:
            continue
        table.fill(options)
        filled.append(table)
        print(table.markdown(), flush=True)
    missed = "\n".join(line for table in filled for line in table.missed()) + "\n"
    print(missed)
    if options.write:
        answer = "\n".join(table.markdown() for table in filled)
        if left_out:
            answer += f"\nNot simulated yet: {'; '.join(left_out)}.\n"
        fleets.write_parts(os.path.join(HERE, "README.md"), {"answer": answer, "missed": missed})


if __name__ == "__main__":
    main()
