#include "peer/launch/identity.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {

std::optional<EngineIdentity> engine_identity(
    const std::function<const char*(const char*)>& variable) {
  struct Source {
    const char* name;
    const char* only_with;  ///< null: by itself
  };
  constexpr std::array<Source, 5> sources = {{{"SLURM_PROCID", "SLURM_STEP_ID"},
                                              {"OMPI_COMM_WORLD_RANK", nullptr},
                                              {"PMIX_RANK", nullptr},
                                              {"PMI_RANK", nullptr},
                                              {"JOB_COMPLETION_INDEX", nullptr}}};
  for (const auto& [name, only_with] : sources) {
    const char* const value = variable(name);
    if (value == nullptr || (only_with != nullptr && variable(only_with) == nullptr)) continue;
    const std::string_view text(value);
    EngineIdentity identity{.id = 0, .variable = name};
    const auto [end, error] = std::from_chars(text.begin(), text.end(), identity.id);
    if (error != std::errc{} || end != text.end())
      throw std::runtime_error(fmt::format(
          "{}={} is no number of a peer; give --id instead", name, printable(text, 40)));
    return identity;
  }
  return {};
}

std::optional<EngineIdentity> engine_identity() {
  return engine_identity([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace gv
