#include "peer/fleet/fleet.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace gv {
namespace {

std::string write_file(const std::string& name, const std::string& text) {
  static const ScratchFolder scratch;
  const std::string path = scratch.path() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

Fleet read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_fleet(write_file("fleet.yaml", text), sets, nullptr);
}

std::vector<Diagnostic> problems(const std::string& text,
                                 const std::vector<std::string>& sets = {}) {
  try {
    read(text, sets);
  } catch (const FleetError& e) {
    return e.diagnostics();
  }
  return {};
}

const std::string quadratic = "version: 1\npeers: 4\ndata: quadratic\nstop: { rounds: 10 }\n";

TEST(Fleet, TheShippedFilesAreGood) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GV_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(read_fleet(entry.path(), {}, nullptr));
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Fleet, ReadsUnitsAndShortForms) {
  const Fleet f = read(quadratic +
                       "network: { latency: 5 ms, bandwidth: 100 Mbit }\ntopology: star\nevaluate: "
                       "{ every: 20 rounds }\n");
  EXPECT_EQ(f.network.latency, std::chrono::milliseconds(5));
  EXPECT_EQ(f.network.bandwidth, 12.5e6);
  EXPECT_EQ(f.topology.kind, "star");
  EXPECT_EQ(f.evaluate_every, 20U);
  EXPECT_EQ(f.size(), 4U);
}

TEST(Fleet, ReadsModels) {
  const std::string head = "version: 1\npeers: 4\nstop: { rounds: 1 }\n";
  EXPECT_EQ(read(head).model.kind, "mlp");
  EXPECT_EQ(read(head + "model: lenet5\n").model.kind, "lenet5");
  const Fleet batch = read(head + "model: resnet20\n");
  const Fleet group = read(head + "model: { kind: resnet20, norm: group }\n");
  EXPECT_EQ(batch.model.norm, "batch");
  EXPECT_EQ(group.model.norm, "group");
  EXPECT_NE(batch.digest, group.digest);
  const std::string text = head + "data: { kind: text, file: " GV_SOURCE_DIR "/LICENSE }\n";
  EXPECT_EQ(read(text).model.kind, "transformer");
  const Fleet wide = read(text + "model: { kind: transformer, width: 48, heads: 6, layers: 3 }\n");
  EXPECT_EQ(wide.model.width, 48U);
  EXPECT_EQ(wide.model.heads, 6U);
  EXPECT_EQ(wide.model.layers, 3U);
  EXPECT_NE(wide.digest, read(text).digest);
}

TEST(Fleet, ReadsTheNetworkAndItsLinks) {
  const Fleet plain = read(quadratic);
  EXPECT_EQ(plain.network.shape, NetworkShape::per_link);
  EXPECT_FALSE(plain.network.emulate);
  const std::string text =
      "network: { latency: 5 ms, jitter: 1 ms, bandwidth: 100 Mbit, shape: per-nic, emulate: true "
      "}\nlinks:\n  - { between: [3, 0], latency: 20 ms }\n"
      "  - { between: [1, 2], bandwidth: 1 MB/s, jitter: 0 ms }\n";
  const NetworkSpec network = read(quadratic + text).network;
  EXPECT_EQ(network.shape, NetworkShape::per_nic);
  EXPECT_TRUE(network.emulate);
  EXPECT_EQ(network.nic_bandwidth(), 12.5e6);
  EXPECT_EQ(network.link(0, 1).latency, std::chrono::milliseconds(5));
  EXPECT_EQ(network.link(0, 1).bandwidth, 0) << "the card's alone";
  for (const auto& [a, b] : {std::pair{0U, 3U}, std::pair{3U, 0U}}) {
    EXPECT_EQ(network.link(a, b).latency, std::chrono::milliseconds(20));
    EXPECT_EQ(network.link(a, b).jitter, std::chrono::milliseconds(1)) << "the others', as it was";
  }
  EXPECT_EQ(network.link(2, 1).bandwidth, 1e6);
  EXPECT_EQ(network.link(2, 1).jitter, Time{0});
  const NetworkSpec own = read(quadratic + text, {"network.shape=per-link"}).network;
  EXPECT_EQ(own.link(0, 3).bandwidth, 12.5e6);
  EXPECT_EQ(own.link(1, 2).bandwidth, 1e6);
  EXPECT_EQ(own.nic_bandwidth(), 0);
}

TEST(Fleet, SetOverrides) {
  const Fleet f =
      read(quadratic,
           {"peers=6", "train.optimizer.lr=0.25", "topology.kind=torus", "topology.shape=[2,3]"});
  EXPECT_EQ(f.size(), 6U);
  EXPECT_EQ(f.optimizer.lr, 0.25);
  EXPECT_EQ(f.topology.shape, (std::vector<PeerId>{2, 3}));
  const auto wrong = problems(quadratic, {"train.optimzer.lr=1"});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].where, "--set train.optimzer.lr=1");
  EXPECT_EQ(wrong[0].help, "did you mean `optimizer`?");
}

TEST(Fleet, ReadsTheParametersOfTopologies) {
  const auto topology = [](const std::string& text) {
    return to_string(read(quadratic + "topology: { " + text + " }\n", {"peers=12"}).topology);
  };
  EXPECT_EQ(topology("kind: king-torus, shape: [3, 4]"), "king-torus:3x4");
  EXPECT_EQ(topology("kind: ring-lattice, k: 6"), "ring-lattice:k=6");
  EXPECT_EQ(topology("kind: d-equi-static, m: 5, seed: 2"), "d-equi-static:m=5,seed=2");
  EXPECT_EQ(topology("kind: u-equi-static, weights: edge-list"), "u-equi-static:m=0,seed=1");
  EXPECT_EQ(topology("kind: binary-tree, weights: fmmc"), "binary-tree");
}

/// The words of `graph report`, in the file and on the command line.
TEST(Fleet, ReadsATopologyInOneWord) {
  const auto topology = [](const std::string& text, const std::vector<std::string>& sets) {
    std::vector<std::string> all{"peers=12"};
    all.insert(all.end(), sets.begin(), sets.end());
    return to_string(read(quadratic + text, all).topology);
  };
  EXPECT_EQ(topology("topology: torus:3x4\n", {}), "torus:3x4");
  EXPECT_EQ(topology("topology: random-regular:degree=3,seed=4\n", {}),
            "random-regular:degree=3,seed=4");
  EXPECT_EQ(topology("topology: { kind: torus, shape: [4, 3] }\n", {"topology=torus:3x4"}),
            "torus:3x4");
  EXPECT_EQ(topology("", {"topology=erdos-renyi:p=0.9,seed=2"}), "erdos-renyi:p=0.9,seed=2");
  const Fleet kept = read(quadratic + "topology: { kind: ring, weights: lazy }\n",
                          {"peers=12", "topology.kind=ring-lattice:k=4"});
  EXPECT_EQ(to_string(kept.topology), "ring-lattice:k=4");
  EXPECT_EQ(kept.weights, "lazy");
  EXPECT_EQ(read(quadratic, {"peers=12", "topology=torus:3x4"}).digest,
            read(quadratic + "topology: { kind: torus, shape: [3, 4] }\n", {"peers=12"}).digest);
}

TEST(Fleet, AFileInOneWordLiesBesideTheFleet) {
  const std::string edges = write_file("square.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(read(quadratic + "topology: file:square.edges\n").topology.file, edges);
}

TEST(Fleet, ReadsSchedulesInBothForms) {
  const std::vector<std::pair<std::string, std::string>> forms{
      {"{ kind: one-peer-exponential }", "one-peer-exponential"},
      {"{ kind: random-matching, seed: 3 }", "random-matching:seed=3"},
      {"{ kind: base, k: 2 }", "base:k=2"},
      {"{ kind: od-equi-dyn, eta: 0.7, m: 4, seed: 2 }", "od-equi-dyn:eta=0.7,m=4,seed=2"},
      {"{ kind: ou-equi-dyn, m: 5 }", "ou-equi-dyn:m=5"},
      {"{ kind: matcha, budget: 40 %, graph: \"torus:3x4\" }",
       "matcha:budget=0.4,graph=torus:3x4"}};
  for (const auto& [map, word] : forms) {
    SCOPED_TRACE(word);
    const Fleet a = read(quadratic + "topology: " + map + "\n", {"peers=12"});
    const Fleet b = read(quadratic + "topology: " + word + "\n", {"peers=12"});
    ASSERT_TRUE(a.schedule && b.schedule);
    EXPECT_EQ(to_string(*a.schedule), to_string(parse_schedule(word)));
    EXPECT_EQ(to_string(*a.schedule), to_string(*b.schedule));
    EXPECT_EQ(a.digest, b.digest);
    EXPECT_NE(a.digest, read(quadratic, {"peers=12"}).digest);
  }
  EXPECT_FALSE(read(quadratic).schedule);
}

TEST(Fleet, TheDigestFollowsTheArithmetic) {
  EXPECT_NE(read(quadratic + "topology: random-matching\n").digest,
            read(quadratic + "topology: random-matching:seed=2\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "output: { dir: elsewhere }\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "network: { emulate: true }\n").digest);
  EXPECT_NE(read(quadratic).digest, read(quadratic + "seed: 2\n").digest);
}

/// Of files what is in them counts, not where they lie: two machines may keep them elsewhere.
TEST(Fleet, TheDigestKnowsGraphAndWeightFiles) {
  const auto graph = [](const char* name, const char* edges) {
    write_file(name, edges);
    return read(quadratic + "topology: file:" + name + "\n").digest;
  };
  const std::string square = graph("a.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(graph("b.edges", "3 0\n2 3\n1 2\n0 1\n"), square);
  EXPECT_NE(graph("b.edges", "0 1\n1 2\n2 3\n3 1\n"), square);
  const auto weights = [](const char* name, const char* rows) {
    write_file(name, rows);
    return read(quadratic + "topology: { kind: ring, weights: \"file:" + name + "\" }\n").digest;
  };
  const char* half = ".5 .25 0 .25\n.25 .5 .25 0\n0 .25 .5 .25\n.25 0 .25 .5\n";
  const std::string even = weights("w1.txt", half);
  EXPECT_EQ(weights("w2.txt", half), even);
  EXPECT_NE(weights("w2.txt", ".4 .3 0 .3\n.3 .4 .3 0\n0 .3 .4 .3\n.3 0 .3 .4\n"), even);
  const auto matcha = [](const char* name, const char* edges) {
    write_file(name, edges);
    return read(quadratic + "topology: { kind: matcha, graph: \"file:" + name + "\" }\n").digest;
  };
  const std::string matchings = matcha("c.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(matcha("d.edges", "0 1\n1 2\n2 3\n3 0\n"), matchings);
  EXPECT_NE(matcha("d.edges", "0 1\n1 2\n2 3\n"), matchings);
}

struct Wrong {
  const char* text;  ///< appended to a good file's first four lines unless it begins with "version"
  const char* place;    ///< ":line:column", or "" when the place is the file
  const char* message;  ///< part of it
  const char* help;     ///< part of it, or ""
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.message;
}

class WrongFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongFile, IsRefusedWithItsPlace) {
  const Wrong& wrong = GetParam();
  const std::string text =
      std::string(wrong.text).starts_with("version") ? wrong.text : quadratic + wrong.text;
  const auto found = problems(text);
  ASSERT_FALSE(found.empty()) << text;
  EXPECT_NE(found[0].where.find(std::string("fleet.yaml") + wrong.place), std::string::npos)
      << found[0].where;
  EXPECT_NE(found[0].message.find(wrong.message), std::string::npos) << found[0].message;
  EXPECT_NE(found[0].help.find(wrong.help), std::string::npos) << found[0].help;
}

INSTANTIATE_TEST_SUITE_P(
    Fleet,
    WrongFile,
    ::testing::Values(
        Wrong{"topolgy: ring\n", ":5:1", "unknown key `topolgy`", "did you mean `topology`?"},
        Wrong{"version: 1\npeers: 4\ndata: quadratic\n",
              ":1:1",
              "nothing says when to stop",
              "rounds"},
        Wrong{"versoin: 1\n", ":5:1", "unknown key `versoin`", "version"},
        Wrong{"version: 2\nstop: { rounds: 3 }\ndata: quadratic\n", ":1:10", "version 2", "newer"},
        Wrong{"peers: 5\n", ":5:1", "duplicate key `peers`", "remove one"},
        Wrong{"network: { latency: 5 }\n", ":5:21", "has no unit", "`5 ms`"},
        Wrong{"network: { latency: 5 mss }\n", ":5:21", "is not a duration", "`5 ms`"},
        Wrong{"network: { bandwidth: 100 Mbits }\n", ":5:23", "is not a bandwidth", "12.5 MB/s"},
        Wrong{"network: { shape: per-nick }\n", ":5:19", "not one of", "did you mean `per-nic`?"},
        Wrong{"network: { emulate: 1 }\n", ":5:21", "neither true nor false", "true"},
        Wrong{"network: { latency: 1 ms, jitter: 2 ms }\n",
              ":5:35",
              "a jitter of 2 ms around a latency of 1 ms",
              "must not be the larger"},
        Wrong{"links: { between: [0, 1] }\n", ":5:8", "expected a list of links", "between"},
        Wrong{"links: [{ latency: 1 ms }]\n", ":5:9", "missing key `between`", "[0, 3]"},
        Wrong{"links: [{ between: [0, 4] }]\n", ":5:24", "out of range", ""},
        Wrong{"links: [{ between: [0, 1, 2] }]\n", ":5:20", "expected two peers", "[0, 3]"},
        Wrong{"links: [{ between: [1, 1] }]\n", ":5:20", "no link with itself", "[0, 3]"},
        Wrong{"links: [{ between: [0, 1], latencey: 1 ms }]\n",
              ":5:28",
              "unknown key `latencey`",
              "did you mean `latency`?"},
        Wrong{"links: [{ between: [0, 1] }, { between: [1, 0] }]\n",
              ":5:30",
              "the link between 0 and 1 is listed twice",
              "both ways"},
        Wrong{"seed: 010\n", ":5:7", "`010` is not a whole number", "leading zeros"},
        Wrong{"seed: 1_000\n", ":5:7", "not a whole number", ""},
        Wrong{"train: { optimizer: { momentum: 0.9, nesterov: no } }\n",
              ":5:48",
              "neither true nor false",
              "true"},
        Wrong{"<<: { seed: 3 }\n", ":5:1", "merge keys", "--set"},
        Wrong{"name: &anchor x\n", ":5:", "anchors are not allowed", ""},
        Wrong{"version: 1\nname: &a [*a]\n", ":2:", "", ""},
        Wrong{"name: !!str x\n", ":5:", "tags are not allowed", ""},
        Wrong{"topology: { kind: torus, shape: [3, 3] }\n",
              ":5:",
              "torus 3x3 has 9 peers, the fleet has 4",
              ""},
        Wrong{"topology: { kind: base, k: 1, weights: fdla }\n",
              ":5:40",
              "`base` has weights of its own",
              "leave `weights` out"},
        Wrong{"topology: { kind: base, kk: 1 }\n", ":5:25", "unknown key `kk` in `topology`", "k"},
        Wrong{"topology: random-matching:k=2\n", ":5:11", "no parameter `k`", ""},
        Wrong{"topology: { kind: matcha, graph: rink }\n", ":5:34", "rink", ""},
        Wrong{"topology: { kind: od-equi-dyn, eta: 0 }\n", ":5:", "eta must lie in (0, 1]", ""},
        Wrong{"topology: { kind: od-equi-dyn, m: 1, seed: 0 }\n", ":5:", "connected", "seed"},
        Wrong{"topology: { kind: random-regular, degree: 5 }\n",
              ":5:",
              "smaller than the number of peers",
              ""},
        Wrong{"version: 1\npeers: 5\ndata: quadratic\nstop: { rounds: 1 }\ntopology: { kind: "
              "random-regular, degree: 3 }\n",
              ":5:",
              "must be even",
              ""},
        Wrong{"topology: trous:2x2\n", ":5:11", "did you mean `torus`?", ""},
        Wrong{"topology: torus:2\n", ":5:11", "ROWSxCOLUMNS", ""},
        Wrong{"topology: torus:3x3\n", ":5:11", "torus 3x3 has 9 peers, the fleet has 4", ""},
        Wrong{"topology: ring:k=2\n", ":5:11", "ring has no parameter `k`", ""},
        Wrong{"topology: rign\n", ":5:11", "`rign` is not one of", "did you mean `ring`?"},
        Wrong{"topology: { kind: ring, shape: [2, 2] }\n", ":5:25", "unknown key `shape`", ""},
        Wrong{"topology: { kind: erdos-renyi, p: 0 }\n", ":5:", "not connected", "seed"},
        Wrong{
            "topology: { kind: ring, weights: metropolys }\n", ":5:34", "not one of", "metropolis"},
        Wrong{"topology: { kind: ring, weights: fdal }\n", ":5:34", "not one of", "fdla"},
        Wrong{"topology: { kind: exponential, weights: fdla }\n", ":5:", "is directed", ""},
        Wrong{"topology: { kind: erdos-renyi, p: 0 }\n", ":5:", "4 components: {0} {1}", "seed"},
        Wrong{"topology: { kind: ring, weights: 'file:nowhere.txt' }\n",
              ":5:",
              "cannot be opened",
              ""},
        Wrong{"train: { batch: 0 }\n", ":5:17", "out of range", ""},
        Wrong{"train: { optimizer: { lr: fast } }\n", ":5:27", "`fast` is not a number", ""},
        Wrong{"train: { optimizer: { lr: nan } }\n", ":5:27", "is not a number", ""},
        Wrong{"train: { optimizer: { nesterov: true } }\n", ":5:33", "needs a momentum", ""},
        Wrong{"model: mlp\n", ":5:8", "does not fit data `quadratic`", "quadratic"},
        Wrong{"version: 1\nstop: { rounds: 1 }\ndata: blobs\nmodel: lenet5\n",
              ":4:8",
              "model `lenet5` does not fit data `blobs`",
              "use `mlp` or `softmax`"},
        Wrong{"version: 1\nstop: { rounds: 1 }\nmodel: { kind: resnet20, norm: layer }\n",
              ":3:32",
              "not one of batch, group",
              ""},
        Wrong{"version: 1\nstop: { rounds: 1 }\nmodel: { kind: mlp, norm: group }\n",
              ":3:21",
              "unknown key `norm`",
              ""},
        Wrong{"version: 1\nstop: { rounds: 1 }\nmodel: transformer\n",
              ":3:8",
              "does not fit data `digits`",
              "`resnet20`"},
        Wrong{"version: 1\nstop: { rounds: 1 }\ndata: { kind: text, file: fleet.yaml }\n"
              "model: { kind: transformer, width: 10, heads: 3 }\n",
              ":4:47",
              "3 heads do not divide a width of 10",
              "width / heads"},
        Wrong{"evaluate: { every: 10 }\n", ":5:20", "not a count with its unit", "rounds"},
        Wrong{"algorithm: { kind: d-psgd, order: lion }\n",
              ":5:35",
              "not one of lian, atc, cta",
              "lian"},
        Wrong{"algorithm: all-reduce\ntrain: { local_steps: 4 }\n",
              ":5:12",
              "local_steps must be 1",
              ""},
        Wrong{"version: 1\npeers: 4\nstop: { rounds: 1 }\ndata: { kind: idx, dir: nowhere }\n",
              ":4:25",
              "no such folder",
              "fallback: digits"},
        Wrong{"version: 1\npeers: 4\nstop: { rounds: 1 }\ndata: { kind: digits, partition: { kind: "
              "quantity, sizes: [1, 2] } }\n",
              ":4:59",
              "2 sizes for 4 peers",
              ""},
        Wrong{"name: [a\n", ":6:", "not valid YAML", ""},
        Wrong{"peers\n", "", "", ""},
        Wrong{"hosts: { a: { port: 99999 } }\n", ":5:21", "out of range", ""},
        Wrong{"network:\n", "", "", ""}));

TEST(Fleet, AllErrorsAreShownAtOnce) {
  const auto found = problems(
      "version: 1\ntopolgy: ring\nnetwork: { bandwidth: 100 Mbits, latency: 3 }\nstop: { rounds: 0 "
      "}\n");
  ASSERT_EQ(found.size(), 4U);
  try {
    read("version: 1\ntopolgy: ring\nstop: { rounds: 10 }\n");
  } catch (const FleetError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("error: unknown key `topolgy`\n  --> "), std::string::npos) << text;
    EXPECT_NE(text.find("2| topolgy: ring\n  | ^^^^^^^\n"), std::string::npos) << text;
    EXPECT_NE(text.find("= help: did you mean `topology`?"), std::string::npos) << text;
    EXPECT_NE(text.find("1 error in "), std::string::npos) << text;
  }
}

TEST(Fleet, DeepAndLargeFilesAreRefusedWithoutHarm) {
  const auto deep =
      problems("version: 1\nx-deep: " + std::string(5000, '[') + std::string(5000, ']') + "\n");
  ASSERT_FALSE(deep.empty());
  EXPECT_FALSE(problems("version: 1\nname: " + std::string(2U << 20, 'a') + "\n").empty());
  EXPECT_THROW(read_fleet("/nonexistent/fleet.yaml", {}, nullptr), FleetError);
}

}  // namespace
}  // namespace gv
