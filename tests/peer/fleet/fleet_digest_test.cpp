#include <set>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/places.h"

namespace gv {
namespace {

TEST(Fleet, TheDigestFollowsTheArithmetic) {
  EXPECT_NE(read(quadratic + "topology: random-matching\n").digest,
            read(quadratic + "topology: random-matching:seed=2\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "output: { dir: elsewhere }\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "network: { emulate: true }\n").digest);
  EXPECT_NE(read(quadratic).digest, read(quadratic + "seed: 2\n").digest);
}

/// The hosts' copy of a file without a name is called fleet.yaml. Its checkpoints once counted as
/// another fleet's, and no run over ssh could be resumed.
TEST(Fleet, TheDigestOfACopyIsTheSameWhateverItIsCalled) {
  const auto digest = [](const char* file, const std::string& name) {
    return read_fleet(write_file(file, quadratic + name), {}, nullptr).digest;
  };
  EXPECT_EQ(digest("lan.yaml", ""), digest("fleet.yaml", ""));
  EXPECT_EQ(digest("lan.yaml", "name: lan\n"), digest("fleet.yaml", "name: lan\n"));
  EXPECT_NE(digest("lan.yaml", ""), digest("lan.yaml", "name: lan\n"));
}

TEST(Fleet, TheDigestHoldsTheWeightsOfClasses) {
  const std::string digits = "version: 1\npeers: 2\ndata: digits\nstop: { rounds: 5 }\n";
  std::set<std::string> digests{read(digits).digest};
  for (const char* weights : {"balanced", "{ \"1\": 2 }", "{ \"1\": 3 }", "{ \"12\": 2 }"})
    digests.insert(read(digits + "train: { class_weights: " + weights + " }\n").digest);
  EXPECT_EQ(digests.size(), 5U);
}

/// The digest covers the contents of files, not their places, which may differ between machines.
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

/// Returns a fleet file for this method, valid with any of its options.
std::string file_for(std::string_view method) {
  if (method == "hogwild") return sparse_data;
  if (method == "sgp") return quadratic + "topology: exponential\n";
  if (method == "led") return quadratic + "topology: { kind: ring, weights: lazy }\n";
  if (method == "async-diloco")
    return "version: 1\npeers: 2\ndata: quadratic\nstop: { rounds: 10 }\n";
  if (method == "streaming-diloco") return quadratic + "train: { local_steps: 4 }\n";
  // A lying peer needs enough neighbours that are honest.
  if (method == "robust-gossip" || method == "parameter-server" || method == "fedavg")
    return "version: 1\npeers: 8\ndata: quadratic\ntopology: complete\nstop: { rounds: 10 }\n";
  return quadratic;
}

TEST(Fleet, TheDigestHoldsEveryOptionOfEveryMethod) {
  for (const AlgorithmRow* row : algorithms()) {
    const std::string method = file_for(row->kind) + "algorithm: { kind: " + std::string(row->kind);
    for (const Option& option : row->options) {
      const double other =
          option.whole
              ? option.usual + 1
              : (option.least + (option.usual > option.least ? option.usual : option.most)) / 2;
      const Fleet usual = read(method + " }\n");
      const Fleet changed =
          read(method + ", " + std::string(option.name) + ": " + text_of(option, other) + " }\n");
      EXPECT_EQ(usual.settings.find(option.name)->second, option.usual);
      EXPECT_NEAR(changed.settings.find(option.name)->second, other, 1e-6);
      EXPECT_NE(changed.digest, usual.digest) << row->kind << " " << option.name;
    }
  }
}

TEST(Fleet, TheDigestHoldsCodecsAndAttackers) {
  std::set<std::string> digests;
  for (const char* rest :
       {"algorithm: choco-sgd\n", "algorithm: { kind: choco-sgd, codec: int8 }\n",
        "algorithm: { kind: choco-sgd, codec: sign }\n",
        "algorithm: { kind: choco-sgd, codec: two-bit }\n",
        "algorithm: { kind: choco-sgd, codec: { kind: two-bit, fraction: 0.1 } }\n",
        "algorithm: { kind: choco-sgd, codec: { kind: top-k, fraction: 0.1 } }\n",
        "algorithm: { kind: choco-sgd, codec: { kind: top-k, fraction: 0.2 } }\n",
        "algorithm: d-psgd\n", "attackers: { count: 1 }\n", "attackers: { count: 2 }\n",
        "attackers: { count: 2, kind: noise }\n",
        "attackers: { count: 2, kind: noise, strength: 3 }\n"})
    EXPECT_TRUE(digests.insert(read(quadratic + rest).digest).second) << rest;
}

/// Returns a fleet file whose data fit the model.
std::string file_for(const ModelRow& row, const std::string& model) {
  const std::string head = "version: 1\npeers: 4\nstop: { rounds: 1 }\nmodel: " + model + "\n";
  switch (row.fits.front()) {
    case DataForm::pictures:
      return head + "data: digits\n";
    case DataForm::rows:
      return head + "data: blobs\n";
    case DataForm::text:
      return head + "data: { kind: text, file: " + source_folder() + "/LICENSE }\n";
    case DataForm::targets:
      return head + "data: linear\n";
    case DataForm::sparse:
      return head + "data: sparse\n";
    case DataForm::oracle:
      return head + "data: quadratic\n";
  }
  return head;
}

std::string another_value(const ModelKey& key) {
  if (std::holds_alternative<std::string>(key.usual)) return key.words.back();
  if (std::holds_alternative<Widths>(key.usual)) return "[3, 2]";
  return std::to_string(2 * std::get<std::uint32_t>(key.usual));
}

/// If the digest left out a key, peers with different models would accept each other.
TEST(Fleet, TheDigestHoldsEveryKeyOfEveryModel) {
  for (const ModelRow& row : models()) {
    SCOPED_TRACE(row.kind);
    const std::string usual = read(file_for(row, row.kind)).digest;
    const Fleet example = read(file_for(row, row.example));
    EXPECT_EQ(example.model.kind, row.kind);
    EXPECT_EQ(example.model.values.size(), row.keys.size()) << "the example shows every key";
    for (const ModelKey& key : row.keys) {
      const std::string model =
          "{ kind: " + row.kind + ", " + key.name + ": " + another_value(key) + " }";
      EXPECT_NE(read(file_for(row, model)).digest, usual) << key.name;
    }
  }
}

}  // namespace
}  // namespace gv
