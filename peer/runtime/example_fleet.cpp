#include <stdexcept>

#include <fmt/format.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/views.h"

namespace gv {
namespace {

/// `{ kind: easgd, order: sync, alpha: 0.1 }`
std::string algorithm_of(const AlgorithmRow& row) {
  std::string text = fmt::format("{{ kind: {}", row.kind);
  if (!row.order.empty()) text += fmt::format(", order: {}", row.order);
  for (const Option& option : row.options)
    text += fmt::format(", {}: {}", option.name, text_of(option, option.usual));
  if (row.mixes && row.codecs == Codecs::all) text += ", codec: int8";
  return text + " }";
}

/// A setting that a method may need; the example has the first one that the method accepts.
struct Surroundings {
  const char* data;
  const char* model;
  const char* train;
  const char* topology;
};
constexpr const char* digits = "{ kind: digits, train: 4000, test: 1000 }";
constexpr const char* mlp = "{ kind: mlp, hidden: [64] }";
constexpr const char* sparse =
    "{ kind: sparse, train: 40000, test: 4000, features: 2000, nonzeros: 20 }";
constexpr const char* one_step = "{ batch: 32, optimizer: { kind: sgd, lr: 0.1 } }";
/// For methods whose steps are as long as the rate in each coordinate.
constexpr const char* short_steps = "{ batch: 32, optimizer: { kind: sgd, lr: 0.002 } }";
constexpr const char* local_steps =
    "{ batch: 32, local_steps: 10, optimizer: { kind: sgd, lr: 0.1 } }";
constexpr const char* many_steps =
    "{ batch: 1, local_steps: 1000, optimizer: { kind: sgd, lr: 1 } }";
constexpr Surroundings all_surroundings[] = {
    {digits, mlp, one_step, "ring"},
    {digits, mlp, one_step, "{ kind: ring, weights: lazy }"},
    {digits, mlp, one_step, "exponential"},
    {digits, mlp, one_step, "binary-tree"},
    {digits, mlp, one_step, "complete"},
    {sparse, "logistic", many_steps, "ring"},
};

std::string_view train_of(const AlgorithmRow& row, const Surroundings& around) {
  const bool alone = row.kind == "local-sgd" || row.kind == "diloco" || row.kind == "slowmo" ||
                     row.kind == "noloco" || row.kind == "streaming-diloco" || row.kind == "led" ||
                     row.kind == "k-gt" || row.kind == "proxskip" || row.kind == "sparse-loco" ||
                     row.kind == "eager-diloco" || row.kind == "factored-diloco" ||
                     row.kind == "decoupled-diloco" || row.kind == "async-diloco";
  if (row.kind == "gt-adam") return short_steps;
  return alone ? local_steps : around.train;
}

std::string text_of(const AlgorithmRow& row, const Surroundings& around) {
  return fmt::format(
      "version: 1\n"
      "name: {}\n"
      "peers: 8\n"
      "data: {}\n"
      "model: {}\n"
      "train: {}\n"
      "algorithm: {}\n"
      "topology: {}\n"
      "network: {{ latency: 1 ms, bandwidth: 100 Mbit }}\n"
      "stop: {{ rounds: 100 }}\n"
      "evaluate: {{ every: 20 rounds }}\n",
      row.kind, around.data, around.model, train_of(row, around), algorithm_of(row),
      around.topology);
}

}  // namespace

std::string example_fleet(const AlgorithmRow& row) {
  for (const Surroundings& around : all_surroundings) {
    const std::string text = text_of(row, around);
    try {
      const Assembly fleet(read_fleet_text(text));
      return text;
    } catch (const FleetError&) {
      continue;
    }
  }
  throw std::logic_error(fmt::format("no example for {}", row.kind));
}

}  // namespace gv
