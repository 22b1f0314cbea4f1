#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gv {

/// The ways in which links between peers are protected.
enum class SecurityMode : std::uint8_t {
  automatic,  ///< TLS between machines; plain frames between processes of one machine
  tls,        ///< TLS everywhere
  plaintext,  ///< nowhere: whoever is on the network can read along and join in
};

/// Said at every start of a fleet whose file asks for it.
inline constexpr std::string_view plaintext_note =
    "the links between machines are not encrypted (security: plaintext): trust the network";

struct SecuritySpec {
  SecurityMode mode = SecurityMode::automatic;
  /// The folder of keys of peers that are started by hand or by an engine; `run` makes its own.
  std::string keys{};
};

}  // namespace gv
