#include "peer/cli/swarm_text.h"

#include <string>

#include <fmt/format.h>

#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

template <class Counts, class Names>
Json by_name(const Counts& counts, const Names& names) {
  Json json;
  for (std::size_t k = 0; k < counts.size(); ++k) json[std::string(names[k])] = counts[k];
  return json;
}

template <class Counts, class Names>
std::string text_of(const char* title, const Counts& counts, const Names& names) {
  constexpr std::size_t indent = 10;
  std::string text = title;
  for (std::size_t k = 0; k < counts.size(); ++k)
    text += fmt::format(" {}={}{}", names[k], counts[k], k + 1 < counts.size() ? "," : "");
  return wrapped(text, indent);
}

}  // namespace

Json swarm_json(const SwarmResult& r, double seconds) {
  Json json{{"event", "swarm"},
            {"seeds", r.seeds},
            {"events", r.events},
            {"faults", r.sum_of_faults()},
            {"violations", r.violations},
            {"compared", r.compared},
            {"abandoned", r.abandoned},
            {"first_failing_seed", nullptr},
            {"by_class", by_name(r.faults, fault_names)},
            {"probes", by_name(r.probes, probe_names)},
            {"largest_drift", r.largest_drift},
            {"trace_hash", fmt::format("{:016x}", r.trace_hash)},
            {"seconds", seconds},
            {"texts", r.texts}};
  if (r.first_failing_seed) json["first_failing_seed"] = *r.first_failing_seed;
  return json;
}

void print_swarm(const SwarmResult& r, double seconds) {
  fmt::print("{} seeds in {}: {} events, {} faults, {} violations\n",
             r.seeds,
             seconds_text(seconds),
             r.events,
             r.sum_of_faults(),
             r.violations);
  fmt::print("{}\n{}\n",
             text_of("faults   ", r.faults, fault_names),
             text_of("probes   ", r.probes, probe_names));
  fmt::print("drift     {:.2e} of the mean at the most, relative\n", r.largest_drift);
  if (r.abandoned > 0)
    fmt::print("abandoned {} seeds in which too much happened: they are not judged\n", r.abandoned);
  if (r.compared > 0)
    fmt::print("bits      those of an undisturbed run in {} seeds in which all lived\n",
               r.compared);
}

}  // namespace gv::cli
