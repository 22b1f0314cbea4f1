#include <stdexcept>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/sets/decoded.h"
#include "optim/data/sets/text.h"
#include "optim/data/table/table_plan.h"
#include "optim/train/muon.h"
#include "optim/train/predictor.h"
#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly/division.h"
#include "peer/runtime/assembly/load_data.h"
#include "peer/runtime/assembly/peer_share.h"

// Replaces, in the library of programs that bring their own gradients and data, predictor.cpp and
// muon.cpp of optim/train, load_data.cpp, division.cpp and experience_parts.cpp of peer/runtime,
// and the readers and generators of samples in optim/data: these would link every model and the
// arithmetic of all layers. An assembly with a ProgramModel needs none.

namespace gv {
namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument(
      "this library has no models and no data of its own: `grapevine run` trains them");
}

}  // namespace

std::unique_ptr<Objective> make_objective(const ModelSpec&, Share) {
  refuse();
}

std::unique_ptr<Objective> make_agent(const ModelSpec&, const AgentSpec&, const AgentPlace&) {
  refuse();
}

std::unique_ptr<Objective> make_followed_by_muon(std::unique_ptr<Objective>,
                                                 const std::vector<HiddenMatrix>&) {
  refuse();
}

std::unique_ptr<Muon> make_muon(const OptimizerSpec&,
                                std::size_t,
                                const std::vector<HiddenMatrix>&) {
  refuse();
}

std::shared_ptr<ExperiencePart> memory_part(const Fleet&, const Setup&, PeerId) {
  refuse();
}

std::shared_ptr<ExperiencePart> actor_part(const Fleet&, const Setup&, PeerId, std::vector<float>) {
  refuse();
}

LoadedData load_data(const Fleet&, std::optional<PeerId>) {
  refuse();
}

TrainTest read_table(const TableSpec&, Rng) {
  refuse();
}

std::string difference(const DataFacts&, const DataFacts&) {
  refuse();
}

TrainTest read_text(const std::string&, std::uint32_t) {
  refuse();
}

TrainTest draw_digits(std::uint32_t, std::uint32_t, Rng) {
  refuse();
}

std::string decoded_folder() {
  refuse();
}

TrainTest decoded(const std::string&,
                  const std::string&,
                  const std::vector<std::string>&,
                  const std::function<TrainTest()>&) {
  refuse();
}

ModelProfile read_profile(const std::string&) {
  refuse();
}

Division::Division(const Fleet&, const Dataset&) {
  refuse();
}

StagePlan Division::stage(PeerId, std::uint32_t) const {
  refuse();
}

std::vector<Range> Division::ranges(PeerId) const {
  refuse();
}

std::unique_ptr<Objective> Division::objective(PeerId, Share) const {
  refuse();
}

std::vector<std::string> Division::names() const {
  refuse();
}

}  // namespace gv
