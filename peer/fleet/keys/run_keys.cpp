#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

constexpr PlainKey run_rows[] = {
    {"version", "1", "", "Version of the file format. Required in every file.", "version: 1"},
    {"name", "printable text without `/`, at most 100 bytes", "(the file's name)",
     "Name of the fleet and of the folder of its runs.", "name: fashion-ring8"},
    {"seed", "a whole number of 64 bits", "1",
     "Seed of the data split, the initial weights and the batches. The same seed gives the same "
     "bits.",
     "seed: 42"},
    {"peers", Takes("a whole number, {range}, a list of groups, or { per_host: N }", 1, most_peers),
     "2", "Number of peers, or a list of groups of peers; each group has the keys below.",
     "peers: 8"},
    {"peers.per_host", Takes("a whole number, {range}", 1, most_peers), "",
     "Number of peers on each machine under `hosts`, or on each node that Slurm allocates. "
     "Replaces the list of groups; the keys below except `host` and `count` can follow it.",
     "peers: { per_host: 2 }"},
    {"peers.host", "a name under `hosts`", "localhost", "Machine that runs these peers.",
     "peers: [{ host: localhost, count: 4 }]"},
    {"peers.device", "cpu, cuda, cuda:1 or auto", "train.device",
     "Device that these peers compute on.", "peers: [{ count: 2 }, { count: 2, device: auto }]"},
    {"peers.precision", "fp32, tf32 or bf16", "train.precision",
     "Precision of matrix products on CUDA.",
     "peers: [{ count: 2, device: auto, precision: tf32 }]"},
    {"peers.count", Takes("a whole number, {range}", 1, most_peers), "1",
     "Number of peers in this group.", "peers: [{ count: 6 }, { count: 2, speed: 4 }]"},
    {"peers.threads", Takes("a whole number, {range}", 1, 1024), "1",
     "Number of compute threads of each peer of the group.", "peers: [{ count: 2, threads: 4 }]"},
    {"peers.batch", Takes("samples, {range}", 1, 1'000'000), "train.batch",
     "Minibatch size of each peer of the group.",
     "peers: [{ count: 2, batch: 32 }, { count: 2, batch: 128 }]"},
    {"peers.speed", Takes("a number, {range}", 1e-6, 1e6), "1",
     "Relative compute speed of the group's peers. Used by the simulator's clock, `train.batch: "
     "auto` "
     "and `train.local_steps: auto`. `grapevine bench speeds` measures it.",
     "peers: [{ count: 6 }, { count: 2, speed: 4 }]"},
    {"parallel.stages", Takes("a whole number, {range}, or a list of modules", 1, 10'000), "",
     "Number of pipeline stages per model, or the modules at which stages begin. A number gives "
     "stages of equal work. Consecutive `peers` form one chain, and the topology connects chains.",
     "parallel: { stages: 2 }"},
    {"parallel.microbatches",
     Takes("a whole number, {range}, that divides the batch", 1, 1'000'000), "1",
     "Number of parts that each minibatch is split into. They follow each other through the "
     "stages, so that all stages have work.",
     "parallel: { stages: 2, microbatches: 8 }"},
    {"parallel.ahead", Takes("a whole number, {range}, or all", 1, 1'000'000), "2",
     "Extra microbatches in flight per downstream stage. 1 uses the least memory, larger values "
     "hide the network, `all` is GPipe.",
     "parallel: { stages: 2, microbatches: 8, ahead: 1 }"},
    {"parallel.recompute", "true or false", "false",
     "Keep only the input of each microbatch in flight and recompute the rest in the backward "
     "pass. Uses less memory and a third more compute.",
     "parallel: { stages: 2, microbatches: 8, recompute: true }"},
    {"parallel.schedule", "flush or pipedream", "flush",
     "Pipeline schedule. flush: each minibatch comes back whole before its step (GPipe, 1F1B). "
     "pipedream: minibatches follow each other without a pause, on weights up to stages - 1 steps "
     "old; a round is one minibatch.",
     "parallel: { stages: 2, schedule: pipedream }"},
    {"parallel.vertical_sync", "true or false", "false",
     "Use weights of one age, stages - 1 steps, for a minibatch in all stages (pipedream only). If "
     "false, each stage uses the newest weights that it can.",
     "parallel: { stages: 2, schedule: pipedream, vertical_sync: true }"},
    {"parallel.copies",
     Takes("a whole number, {range}, for each stage; together the peers", 1, most_peers),
     "(1 each)",
     "Number of peers per stage that share its microbatches in turn, so that a slow stage takes no "
     "longer than the others. Needs `all-reduce`, which averages their gradients, and a fleet of "
     "one chain.",
     "algorithm: all-reduce\nparallel: { stages: 2, microbatches: 8, copies: [3, 1] }"},
    {"parallel.tensor", Takes("a whole number, {range}", 1, 10'000), "1",
     "Number of peers per stage that divide its linear layers by rows. Each peer holds part of the "
     "weights, and all exchange their results.",
     "parallel: { stages: 1, tensor: 2 }"},
    {"parallel.place", "each peer's number, once", "(0, 1, 2, ...)",
     "Order in which `peers` take the stages, chain by chain. Changes which machine computes what, "
     "and not the results.",
     "parallel: { stages: 2, place: [1, 0, 3, 2] }"},
    {"hosts", "a map of names", "none",
     "Other machines, by the names that `peers` and `ssh` use. none: this machine only.",
     "hosts: { anna: {} }"},
    {"hosts.NAME.address", "a name, or an IPv4 or IPv6 address", "(detected by `run`)",
     "Address at which the other machines reach its peers. If it is a name, all of its addresses "
     "are tried. A link-local address includes the network interface: fe80::1%eth0.",
     "hosts: { carl: { address: 192.168.1.12 } }"},
    {"hosts.NAME.port", Takes("a whole number, {range}", 1, 65535), "(any free ones)",
     "First port that its peers listen on; each further peer takes the next port.",
     "hosts: { ben: { port: 27000 } }"},
    {"hosts.NAME.ssh", "a word for ssh", "(the name)",
     "Destination that `ssh` gets for this machine.", "hosts: { ben: { ssh: train@ben } }"},
    {"hosts.NAME.interface", "a network interface", "(all of them)",
     "Network interface whose addresses are tried. Other interfaces are ignored.",
     "hosts: { ben: { interface: eth1 } }"},
    {"hosts.NAME.binary", "a path there", "launch.binary",
     "Path of the program installed on that machine. Nothing is copied then.",
     "hosts: { carl: { binary: bin/grapevine } }"},
    {"hosts.NAME.data", "a folder there", "(where the data are here)",
     "Folder on that machine with the files that the fleet file names under `data`, under the same "
     "names.",
     "hosts: { dora: { data: /srv/flowers } }"},
    {"hosts.NAME.folder", "a folder there, by its whole path", "(where its peers run)",
     "Working folder of `program` on that machine.", "hosts: { dora: { folder: /srv/vision } }"},
    {"program", "a list of words, or { command, env }", "none",
     "Program that trains in each peer, instead of `model`, `data` and `train.optimizer`: a script "
     "that uses the Python package, or a program that uses the C interface. Each peer's process "
     "runs it.",
     "program: [python3, train.py]"},
    {"program.command", "a list of words", "",
     "Program and its arguments. The program is looked up in PATH and runs in the working folder "
     "of `grapevine`.",
     "program: { command: [python3, train.py, --lr, \"1e-3\"] }"},
    {"program.env", "a map of names, or torchrun", "none",
     "Environment variables to set for the program, in addition to the inherited ones. torchrun: "
     "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun "
     "sets them.",
     "program: { command: [python3, train.py], env: { OMP_NUM_THREADS: 2 } }"},
    {"plugin", "a path, relative to the fleet file", "none",
     "Shared object with methods from outside the source tree. Its code runs in the program: use "
     "only plug-ins that you trust. See docs/how-to/own-method.md.",
     "plugin: build/libmine.so"},
    {"security", "a word, short for { mode: ... }, or a map", "auto",
     "Encryption and authentication of the links between peers. A word alone is `security.mode`.",
     "security: plaintext"},
    {"security.mode", "auto, tls or plaintext", "auto",
     "Encryption and authentication of links. auto: links between machines are encrypted and both "
     "ends authenticate; links within a machine are not. tls: all links are. plaintext: no link "
     "is.",
     "security: { mode: tls }"},
    {"security.keys", "a folder, relative to the fleet file", "keys",
     "Folder in which `grapevine keygen` wrote the keys of peers that are started by hand. `run` "
     "makes its own keys.",
     "security: { keys: keys }"},
    {"stop", "rounds, epochs, time, target or patience; the first that comes ends the run", "",
     "Conditions that end the run. At least one is required, except with `program`.",
     "stop: { rounds: 3000 }"},
    {"stop.rounds", Takes("rounds, {range}", 1, 1e12), "none",
     "Number of rounds after which the run ends. A round is one exchange with the neighbours and "
     "`train.local_steps` gradient steps.",
     "stop: { rounds: 3000 }"},
    {"stop.epochs", Takes("a number, {range}", 1e-6, 1e9), "none",
     "Number of epochs after which the run ends. In one epoch all peers together draw as many "
     "training samples as there are.",
     "stop: { epochs: 10 }"},
    {"stop.time", "a duration: ms, s, min, h", "none",
     "Training time after which the run ends. `simulate` counts virtual time.",
     "stop: { time: 10 min }"},
    {"stop.target", "accuracy, loss or return", "none",
     "Target figure, one of the three below. The run ends when an evaluation reaches it.",
     "stop: { rounds: 1000, target: { accuracy: 0.9 } }"},
    {"stop.target.accuracy", "a fraction, 0 to 1, or percent", "",
     "Accuracy to reach on the validation set, or on the test set if there is no validation set.",
     "stop: { rounds: 1000, target: { accuracy: 90 % } }"},
    {"stop.target.loss", "a number", "",
     "Loss to reach on the validation set, or on the test set if there is no validation set.",
     "stop: { rounds: 1000, target: { loss: 0.4 } }"},
    {"stop.target.return", "a number", "",
     "Mean return of greedy episodes to reach. Only for agents.",
     "stop: { rounds: 1000, target: { return: 475 } }\ndata: { kind: environment, name: cartpole "
     "}\n"
     "agent: {}"},
    {"stop.target.of", "mean, worst (accuracy) or local (loss, return)", "mean",
     "Models that the target applies to. mean: the mean of all models. worst: the least accurate "
     "local model. local: the mean loss or return of the local models.",
     "stop: { rounds: 1000, target: { accuracy: 0.85, of: worst } }"},
    {"stop.target.for", Takes("evaluations, {range}", 1, 1000), "1",
     "Number of consecutive evaluations that must reach the target.",
     "stop: { rounds: 1000, target: { loss: 0.4, for: 2 } }"},
    {"stop.patience", Takes("evaluations, {range}", 1, 1'000'000), "none",
     "Number of consecutive evaluations without an improvement after which the run ends. Compares "
     "the target's figure, or else the loss of the mean model. Needs `data.validation`.",
     "stop: { rounds: 1000, patience: 5 }\ndata: { kind: digits, validation: 10 % }"},
    {"evaluate.every", "rounds, epochs or a duration", "never",
     "Interval between evaluations of the fleet: loss, accuracy and the distance between the "
     "models. The end of the run is always evaluated.",
     "evaluate: { every: 300 rounds }"},
    {"evaluate.device", "cpu, cuda, cuda:1 or auto", "cpu",
     "Device on which the fleet's model is evaluated. Only for a fleet with `program`.",
     "program: [python3, train.py]\nevaluate: { device: cpu }"},
    {"checkpoint.every", "rounds", "never",
     "Interval between checkpoints. `run --resume RUN` continues from them.",
     "checkpoint: { every: 100 rounds }"},
    {"checkpoint.keep", Takes("a whole number, {range}", 1, 1000), "2",
     "Number of newest checkpoints to keep. The newest checkpoint that all peers have is kept in "
     "addition.",
     "checkpoint: { every: 100 rounds, keep: 3 }"},
    {"output.dir", "a path; {name} is the fleet's", "runs/{name}",
     "Folder of the run. A number is appended if the folder exists.",
     "output: { dir: \"runs/{name}\" }"},
    {"output.save", "last or best", "last",
     "Model to save. last: the model at the end. best: the model of the best evaluation, by the "
     "target's figure or else the loss of the mean model; needs `data.validation`.",
     "data: { kind: digits, validation: 10 % }\noutput: { save: best }"},
    {"record", "on, off, or rows and moments", "on", "Record how each peer spends its time.",
     "record: off"},
    {"record.rows", Takes("rounds, {range}", 2, 1'000'000), "1024",
     "Maximum number of rounds recorded, spread evenly over the run.", "record: { rows: 4096 }"},
    {"record.moments", "true or false", "true",
     "Also record every interval of some rounds, for `grapevine trace`.",
     "record: { moments: false }"},
    {"launch.grace", "a duration", "8 s", "Time a peer has to exit before it is killed.",
     "launch: { grace: 8 s }"},
    {"launch.restart", "never or on-failure", "never",
     "Restart of a peer that dies, from its checkpoint or a neighbour's model.",
     "launch: { restart: on-failure }"},
    {"launch.leash", "a duration of at least 5 s", "15 s",
     "Maximum silence between launcher and host before each treats the other as lost.",
     "launch: { leash: 15 s }"},
    {"launch.binary", "push or installed", "push",
     "Way in which the program gets to the other machines. push: it is copied. installed: it must "
     "be there "
     "already.",
     "launch: { binary: installed }"},
    {"launch.data", "there or push", "there",
     "Way in which the data get to the other machines. there: they must be there already. push: "
     "they are "
     "sent with the fleet file, up to 256 MB.",
     "launch: { data: push }"},
    {"launch.with", "{launchers}", "auto",
     "Launcher that starts the peers: on this machine only (local), over ssh, {batch systems}, or "
     "the one that `hosts` and the environment call for (auto). `--launcher` overrides it.",
     "launch: { with: slurm }"},
    {"faults.heartbeat", "a duration above 0", "0.5 s", "Time between two heartbeats on a link.",
     "faults: { heartbeat: 0.5 s }"},
    {"faults.dead_after", "a duration of at least two heartbeats", "5 s",
     "Silence after which a neighbour counts as away and rounds continue without it.",
     "faults: { dead_after: 5 s }"},
    {"faults.deadline", "a duration; 0 s: none", "30 s",
     "Maximum wait for a slow neighbour's contribution. The round then continues, and the "
     "contribution is applied when it arrives. With slow machines in the fleet, a short deadline "
     "keeps the pace.",
     "faults: { deadline: 20 ms }"},
    {"faults.stuck_after", "a duration; 0 s: never", "10 min",
     "Maximum time for one job of a peer's arithmetic, after which the peer ends itself. Also the "
     "maximum time for one evaluation by a `program`, after which that process is killed and the "
     "evaluation has no figures.",
     "faults: { stuck_after: 10 min }"},
    {"faults.min_peers", "a whole number, 1 to the number of peers", "1",
     "Minimum number of peers left. If fewer are left, the run stops.", "faults: { min_peers: 2 }"},
    {"faults.ledger", "true or false", "false",
     "Write down every exchange between two peers, for `grapevine audit`. Sums, servers, pushes "
     "and directed graphs have no such exchanges.",
     "faults: { ledger: true }"},
    {"faults.inject", "a list of faults", "none",
     "Faults to inject on purpose. Times count from the start of training.",
     "faults: { inject: [{ at: 60 s, kill: 3 }] }"},
    {"faults.inject.at", "a duration", "", "Time at which the fault happens.",
     "faults: { inject: [{ at: 60 s, kill: 3 }] }"},
    {"faults.inject.kill", "a peer's number", "", "Peer to kill (SIGKILL).",
     "faults: { inject: [{ at: 60 s, kill: 3 }] }"},
    {"faults.inject.start", "a peer's number", "",
     "Peer to start again in a new process, after it has died.",
     "faults: { inject: [{ at: 60 s, kill: 3 }, { at: 90 s, start: 3 }] }"},
    {"faults.inject.stop", "a peer's number", "",
     "Peer to suspend (SIGSTOP) for the duration `for`.",
     "faults: { inject: [{ at: 30 s, stop: 2, for: 5 s }] }"},
    {"faults.inject.cut", "two peers' numbers", "",
     "Two peers whose connection is cut for the duration `for`.",
     "faults: { inject: [{ at: 30 s, cut: [1, 2], for: 10 s }] }"},
    {"faults.inject.for", "a duration", "", "Duration of a stop or a cut.",
     "faults: { inject: [{ at: 30 s, stop: 2, for: 5 s }] }"},
    {"robust.clip", Takes("auto, none, or a number, {range}", 1e-9, 1e9), "none",
     "Maximum distance at which a neighbour's model has its full effect; a model further away has "
     "the effect of one at this distance. auto: averaging with a neighbour moves a peer by at most "
     "two of its own recent steps. Methods that sum: maximum norm of one peer's contribution; "
     "auto: twice the median norm.",
     "robust: { clip: auto }"},
    {"attackers.count", Takes("a whole number, {range}, and fewer than the peers", 0, most_peers),
     "0", "Number of peers that send false models or gradients: the last peers of the fleet.",
     "attackers: { count: 1 }"},
    {"attackers.kind",
     "sign-flip, noise, alie, inner-product, dissensus, constant, once, nan, stale, drift, aside, "
     "gradient-scale, gradient-flip, gradient-once or gradient-nan",
     "sign-flip", "Attack that the attackers carry out.", "attackers: { count: 1, kind: noise }"},
    {"attackers.strength", Takes("a number, {range}", 0, 1e30), "(by the kind)",
     "Strength of the attack.", "attackers: { count: 1, kind: alie, strength: 1.5 }"},
};

}  // namespace

std::span<const PlainKey> run_keys() {
  return run_rows;
}

}  // namespace gv
