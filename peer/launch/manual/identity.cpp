#include "peer/launch/manual/identity.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

using Variables = std::function<const char*(const char*)>;

const char* own_variable(const char* name) {
  return std::getenv(name);
}

/// Reads the number of a pod named "fleet-3"; only in Kubernetes, because the names of other
/// machines may end in numbers too.
std::optional<EngineIdentity> pod_ordinal(const Variables& variable) {
  constexpr const char* name = "HOSTNAME";
  const char* const value = variable(name);
  if (value == nullptr || variable("KUBERNETES_SERVICE_HOST") == nullptr) return {};
  const std::string_view host(value);
  const std::size_t dash = host.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::optional<PeerId> id = as_number<PeerId>(host.substr(dash + 1));
  if (!id) return {};
  return EngineIdentity{.id = *id, .variable = name};
}

}  // namespace

std::optional<EngineIdentity> engine_identity(const Variables& variable) {
  struct Source {
    const char* name;
    const char* only_with;  ///< second variable that must be set; null if none
  };
  // Inside a Slurm job, mpirun starts its daemons by srun: their numbers are not the peers'.
  constexpr std::array<Source, 5> sources = {{{"OMPI_COMM_WORLD_RANK", nullptr},
                                              {"PMIX_RANK", nullptr},
                                              {"PMI_RANK", nullptr},
                                              {"SLURM_PROCID", "SLURM_STEP_ID"},
                                              {"JOB_COMPLETION_INDEX", nullptr}}};
  for (const auto& [name, only_with] : sources) {
    const char* const value = variable(name);
    if (value == nullptr || (only_with != nullptr && variable(only_with) == nullptr)) continue;
    const std::optional<PeerId> id = as_number<PeerId>(value);
    if (!id)
      throw std::runtime_error(fmt::format("{}={} is no number of a peer; give --id instead", name,
                                           printable(value, 40)));
    return EngineIdentity{.id = *id, .variable = name};
  }
  return pod_ordinal(variable);
}

std::optional<EngineIdentity> engine_identity() {
  return engine_identity(own_variable);
}

bool restarted_by_engine(const Variables& variable) {
  constexpr std::array counts = {"GRAPEVINE_RESTARTS", "GRAPEVINE_MOVES"};
  return std::ranges::any_of(counts, [&](const char* name) {
    const char* const value = variable(name);
    return value != nullptr && as_number<PeerId>(value).value_or(0) > 0;
  });
}

bool restarted_by_engine() {
  return restarted_by_engine(own_variable);
}

std::shared_ptr<const TlsContext> own_keys(const Fleet& fleet,
                                           PeerId id,
                                           const std::string& given) {
  if (fleet.security.mode == SecurityMode::plaintext) return nullptr;
  const std::filesystem::path folder = given.empty() ? fleet.security.keys : given;
  const std::string path = (folder / key_file_name(id)).string();
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path));
  if (!there && given.empty() && fleet.security.mode == SecurityMode::automatic) return nullptr;
  keep_memory_to_ourselves();
  return context_of_file(path, id);
}

}  // namespace gv
