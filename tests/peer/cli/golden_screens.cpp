#include "tests/peer/cli/golden_screen.h"

namespace gv {
namespace {

using Screens = std::vector<GoldenScreen>;
using Commands = std::vector<std::string>;

// Functions, because tables of tests may be made before constants of other files.
std::string iris() {
  return "configs/iris-ring4.yaml";
}
std::string quadratic() {
  return "configs/quadratic-ring16.yaml";
}

/// Adds the runs that commands about runs need: two graphs with three seeds each.
Commands after_runs(const Commands& more) {
  Commands commands;
  for (const char* graph : {"ring", "complete"})
    for (const char* seed : {"1", "2", "3"})
      commands.push_back("@grapevine simulate " + iris() + " --set output.dir=runs/" + graph +
                         seed + " --set topology=" + graph + " --set seed=" + seed +
                         " --set evaluate.every='20 rounds'");
  commands.insert(commands.end(), more.begin(), more.end());
  return commands;
}

Screens fleet_screens() {
  return {
      {"data",
       Compared::all,
       {"grapevine data " + iris(), "grapevine data configs/digits-torus16.yaml"}},
      {"explain",
       Compared::all,
       {"grapevine explain", "grapevine explain lr", "grapevine explain data.partition"}},
      {"init",
       Compared::all,
       {"grapevine init mine.yaml --data configs/data/iris.csv --machines 4 --goal 'accuracy 0.9'",
        "cat mine.yaml", "grapevine keygen mine.yaml -o keys"}},
      {"plan",
       Compared::all,
       {"grapevine plan " + iris(),
        "grapevine plan " + quadratic() + " --set peers=7 --set topology=torus",
        "grapevine plan " + iris() + " --set network={} --set train.batch=500",
        "grapevine plan " + iris() + " --set model='{ kind: mlp, hidden: [64, 64] }' --parallel"}},
      {"algorithms", Compared::all, {"grapevine algorithms", "grapevine algorithms gossip-pga"}},
      {"run",
       Compared::untimed,
       {"grapevine run " + iris(),
        "grapevine run " + iris() + " --set stop='{ rounds: 100, target: { accuracy: 0.99 } }'",
        "grapevine top --once"}},
      {"simulate",
       Compared::all,
       {"grapevine simulate " + iris(),
        "grapevine simulate " + quadratic() + " --no-save --set evaluate.every='2000 rounds'",
        "grapevine simulate " + iris() +
            " --no-save --set stop='{ rounds: 100, target: { accuracy: 0.99 } }'"}},
      {"swarm",
       Compared::untimed,
       {"grapevine simulate configs/swarm-ring6.yaml --faults swarm --seeds 1..3"}},
      {"sweep",
       Compared::untimed,
       {"@printf 'version: 1\\nbase: configs/iris-ring4.yaml\\nvary: { topology.kind: [ring, "
        "complete] }\\nseeds: 3\\n' > which.yaml",
        "grapevine sweep which.yaml", "grapevine sweep which.yaml --list"}},
      {"tour", Compared::all, {"grapevine tour"}}};
}

Screens run_screens() {
  const std::string all =
      "runs/ring1 runs/ring2 runs/ring3 runs/complete1 runs/complete2 runs/complete3";
  return {
      {"audit",
       Compared::all,
       {"@grapevine run " + iris() + " --set faults.ledger=true --set output.dir=runs/ledgers",
        "grapevine audit runs/ledgers"}},
      {"compare", Compared::all,
       after_runs({"grapevine compare " + all,
                   "grapevine compare " + all + " --target accuracy=0.9",
                   "grapevine compare " + all +
                       " --expect 'complete < ring @ time by 9x' --target loss=0.4"})},
      {"export", Compared::all,
       after_runs({"grapevine export runs/ring1 --csv table.csv",
                   "grapevine export runs/ring1 --tensorboard logs",
                   "grapevine export runs/ring1 --onnx iris.onnx",
                   "grapevine report " + all + " -o report.html",
                   "grapevine trace runs/ring1 -o trace.json"})},
      {"model", Compared::all,
       after_runs(
           {"grapevine evaluate runs/ring1/model.safetensors",
            "grapevine evaluate runs/ring1/model.safetensors configs/data/iris.csv",
            "grapevine predict runs/ring1/model.safetensors configs/data/iris.csv | head -5"})}};
}

Screens other_screens() {
  return {{"bench",
           Compared::unmeasured,
           {"grapevine bench step --model softmax --batch 8 --seconds 0.1",
            "grapevine bench exchange --peers 3 --floats 1000 --repetitions 1",
            "grapevine bench agent --memory 1000 --seconds 0.1",
            "grapevine profile " + iris() +
                " --set model='{ kind: mlp, hidden: [8] }' --rows 4 --seconds 0.01",
            "grapevine bench device " + iris() + " --batches 8 --seconds 0.1",
            "grapevine bench speeds " + iris() + " --seconds 0.1"}},
          {"graph",
           Compared::all,
           {"grapevine graph list",
            "grapevine graph report --topology ring,torus:4x4,hypercube,exponential --peers 16",
            "grapevine graph predict --topology ring --peers 16 --hessian 1,0.1 --rate 0.1",
            "grapevine graph best --peers 16 --max-degree 3",
            "grapevine graph schedule one-peer-exponential base:k=1 random-matching --peers 16",
            "grapevine graph export --topology ring --peers 4"}}};
}

/// A first afternoon with a regression.
Screens regression_screens() {
  return {
      {"regression",
       Compared::untimed,
       {"@awk 'BEGIN { print \"area,rooms,age,price\"; for (k = 0; k < 120; k++) { a = 40 + k * "
        "37 % 101; g = k * 53 % 90; print a \",\" int(a / 25) + k % 3 \",\" g \",\" 50000 + 2100 "
        "* a - 600 * g + k * 71 % 97 * 300 } }' > homes.csv",
        "grapevine init homes.yaml --data homes.csv --machines 4 --goal '300 rounds'",
        "cat homes.yaml", "grapevine data homes.yaml",
        "grapevine simulate homes.yaml --set evaluate.every='60 rounds'",
        "grapevine evaluate runs/homes/model.safetensors homes.csv",
        "grapevine predict runs/homes/model.safetensors homes.csv | head -4",
        "grapevine report runs/homes -o homes.html",
        "grapevine export runs/homes --onnx homes.onnx"}}};
}

Screens error_screens() {
  return {{"errors",
           Compared::all,
           {"@printf 'version: 1\\npeers: 4\\ntopolgy: ring\\n' > typo.yaml",
            "@printf 'version: 1\\npeers: 0\\ndata: { kind: table, file: none.csv }\\n' > bad.yaml",
            "@: > empty.yaml",
            "grapevine run typo.yaml",
            "grapevine plan bad.yaml",
            "grapevine plan empty.yaml",
            "grapevine run configs",
            "grapevine simulate nowhere.yaml",
            "grapevine simulate " + iris() + " --seed 3",
            "grapevine simulate " + iris() + " --set train.batch=-1",
            "grapevine run --resume runs/nowhere",
            "grapevine stop runs/nowhere",
            "grapevine checkpoint runs/nowhere",
            "grapevine compare runs/nowhere",
            "grapevine evaluate nowhere.safetensors",
            "grapevine graph report --topology ring --peers 8 --discount 1",
            "grapevine graph report --topology rnig --peers 8",
            "grapevine pln " + iris(),
            "grapevine graph reprot --topology ring",
            "grapevine run " + iris() + " --sett stop.rounds=3",
            "grapevine plan " + iris() + " --set algorithm=D-PSGD",
            "grapevine plan " + iris() + " --set train.lr=0.1"}}};
}

}  // namespace

const std::vector<GoldenScreen>& golden_screens() {
  static const Screens screens = [] {
    Screens all;
    for (const Screens& some :
         {fleet_screens(), run_screens(), regression_screens(), other_screens(), error_screens()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return screens;
}

}  // namespace gv
