#include "graph/topologies.h"

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "graph/formats/graph_file.h"
#include "graph/schedules.h"
#include "graph/spec/parameters.h"
#include "graph/spectrum/modes.h"
#include "graph/spectrum/spectrum.h"
#include "graph/weights.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using List = std::vector<std::string>;

TEST(TopologyList, CommasSeparateTopologiesAndParameters) {
  EXPECT_EQ(split_topologies("ring"), (List{"ring"}));
  EXPECT_EQ(split_topologies("ring,torus:4x4,exponential"),
            (List{"ring", "torus:4x4", "exponential"}));
  EXPECT_EQ(split_topologies("random-regular:degree=3,seed=1,ring,small-world:k=4,beta=0.1,seed=2"),
            (List{"random-regular:degree=3,seed=1", "ring", "small-world:k=4,beta=0.1,seed=2"}));
}

TEST(TopologyList, KeepsPathsAndShowsMisspeltNames) {
  EXPECT_EQ(split_topologies("file:a,b.edges,ring"), (List{"file:a,b.edges", "ring"}));
  EXPECT_EQ(split_topologies("ring,trous:4x4"), (List{"ring", "trous:4x4"}));
  EXPECT_EQ(split_topologies("ring,"), (List{"ring", ""}));
}

/// One row of the table, by name.
class TopologyRow : public testing::TestWithParam<const TopologyFamily*> {};

TEST_P(TopologyRow, BuildsPrintsAndParsesBackAtItsExample) {
  const TopologyFamily& family = *GetParam();
  const ScratchFolder scratch;
  std::string example(family.example);
  if (&family == &file_family) {
    example = scratch.path() + "/" + example;
    std::ofstream(example) << write_graph(build(parse_topology("ring"), 16), "edges");
  }
  const std::string text = std::string(family.name) + (example.empty() ? "" : ":" + example);
  const TopologySpec spec = parse_topology(text);
  EXPECT_EQ(spec.family, &family);
  EXPECT_EQ(to_string(spec), text);
  const Topology t = build(spec, 16);
  EXPECT_EQ(t.size(), 16U);
  EXPECT_TRUE(is_connected(t));
  EXPECT_EQ(t.name, text);
  EXPECT_EQ(to_string(*spec_of_name(t)), text);
  EXPECT_EQ(build(parse_topology(t.name), 16).neighbors, t.neighbors);
}

TEST_P(TopologyRow, SaysWhatItIsAndWhatItsParametersMean) {
  const TopologyFamily& family = *GetParam();
  EXPECT_GT(family.summary.size(), 10U);
  EXPECT_EQ(family.parameters.empty(), family.example.empty());
  EXPECT_EQ(family.parameters.empty(), form_of(family.parameters).empty());
  for (const GraphParameter& p : family.parameters) {
    EXPECT_GT(p.help.size(), 10U) << p.name;
    EXPECT_EQ(help_of(p).find(std::string(p.name) + ": "), 0U);
    if (p.kind == GraphParameter::Kind::count || p.kind == GraphParameter::Kind::number) {
      EXPECT_LT(p.least, p.most) << p.name;
      EXPECT_GE(p.initial, p.least) << p.name;
      EXPECT_LE(p.initial, p.most) << p.name;
      const auto over = [&](double value) {
        return std::string(family.name) + ":" + std::string(p.name) + "=" + shortest(value);
      };
      EXPECT_THROW(parse_topology(over(p.least - 1)), std::invalid_argument) << p.name;
      EXPECT_THROW(parse_topology(over(p.most + 1)), std::invalid_argument) << p.name;
    }
  }
}

/// The formula's eigenvalues equal the matrix's, in number and extremes.
TEST_P(TopologyRow, HasAFormulaThatHolds) {
  const TopologyFamily& family = *GetParam();
  ASSERT_EQ(family.extremes == nullptr, family.eigenvalues == nullptr);
  if (family.extremes == nullptr) return;
  const TopologySpec spec{&family,
                          parse_parameters(family.name, family.parameters, family.example)};
  const MixingMatrix w = metropolis(build(spec, 16));
  const Modes modes = closed_form_modes(spec, 16, "metropolis").value();
  double count = 0;
  for (const Mode& mode : modes.samples[0]) count += mode.count;
  EXPECT_EQ(count, 15);
  const Spectrum formula = closed_form_spectrum(spec, 16, "metropolis").value();
  const Spectrum dense = dense_spectrum(w);
  EXPECT_NEAR(formula.slem, dense.slem, 1e-12);
  EXPECT_EQ(formula.lambda2.has_value(), !w.directed());
}

/// Every candidate of `graph best` can be parsed, and is of the family.
TEST_P(TopologyRow, IsSearchedByItsOwnParameters) {
  const TopologyFamily& family = *GetParam();
  if (family.searched == nullptr) return;
  for (const auto& group : family.searched({.peers = 16, .max_degree = 4, .seeds = 2})) {
    for (const std::string& parameters : group) {
      const std::string text =
          std::string(family.name) + (parameters.empty() ? "" : ":" + parameters);
      EXPECT_EQ(to_string(parse_topology(text)), text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table,
                         TopologyRow,
                         testing::ValuesIn(topology_families().begin(), topology_families().end()),
                         [](const auto& row) {
                           std::string name(row.param->name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Topologies, HaveDifferentNames) {
  std::set<std::string_view> names;
  for (const TopologyFamily* f : topology_families()) names.insert(f->name);
  for (const ScheduleFamily* f : schedule_families()) names.insert(f->name);
  EXPECT_EQ(names.size(), topology_families().size() + schedule_families().size());
}

class ScheduleRow : public testing::TestWithParam<const ScheduleFamily*> {};

TEST_P(ScheduleRow, IsMadePrintedAndParsedBackAtItsExample) {
  const ScheduleFamily& family = *GetParam();
  const std::string text =
      std::string(family.name) + (family.example.empty() ? "" : ":" + std::string(family.example));
  const ScheduleSpec spec = parse_schedule(text);
  EXPECT_EQ(spec.family, &family);
  EXPECT_EQ(to_string(spec), text);
  EXPECT_TRUE(is_file(spec) || make_schedule(spec, 16)->size() == 16U);
  EXPECT_EQ(schedule_modes(spec, 16).has_value(), family.modes != nullptr);
  for (const GraphParameter& p : family.parameters) EXPECT_GT(p.help.size(), 10U) << p.name;
}

INSTANTIATE_TEST_SUITE_P(Table,
                         ScheduleRow,
                         testing::ValuesIn(schedule_families().begin(), schedule_families().end()),
                         [](const auto& row) {
                           std::string name(row.param->name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Weights, EveryRuleMakesAMatrixOfTheRing) {
  Topology ring = build(parse_topology("ring"), 8);
  ring.edge_weights.assign(8, 0.25);
  for (const WeightRule& rule : weight_rules()) {
    EXPECT_GT(rule.summary.size(), 10U) << rule.name;
    EXPECT_EQ(find_weight_rule(rule.name), &rule);
    EXPECT_LT(dense_spectrum(mixing_matrix(rule.name, ring)).slem, 1) << rule.name;
  }
}

/// The graph is refused before its edges fill the machine's memory.
TEST(Topologies, ACompleteGraphOfTooManyPeersIsRefusedAtOnce) {
  try {
    build(parse_topology("complete"), 1'000'000);
    FAIL() << "built";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("499999500000 edges"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace gv
