#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gv {

/// Deliberate bugs of the link layer, for the test of the tests: `grapevine-mutants` is built with
/// GV_MUTANTS=none and shows that the swarm finds every one. In every other build there are none,
/// and no code for them. The bugs of the peer itself are in tests/mutants.
enum class Mutant : std::uint8_t {
  none,
  forget_sent_on_reconnect,  ///< what was not acknowledged is not sent again
  take_repetitions,          ///< no check of sequence numbers
  acknowledge_too_much,      ///< lets go of a message that was not acknowledged
  leave_who_is_away,         ///< ends without waiting for who has not acknowledged its half
  keep_session_of_the_dead,  ///< the successor is taken for the one before
  believe_damaged_payloads,
  take_of_old_connection,  ///< takes frames of a connection that has ended
};
inline constexpr std::array<std::string_view, 8> mutant_names{"none",
                                                              "forget_sent_on_reconnect",
                                                              "take_repetitions",
                                                              "acknowledge_too_much",
                                                              "leave_who_is_away",
                                                              "keep_session_of_the_dead",
                                                              "believe_damaged_payloads",
                                                              "take_of_old_connection"};

#ifdef GV_MUTANTS
inline Mutant present_mutant = Mutant::GV_MUTANTS;
inline bool mutant(Mutant m) {
  return present_mutant == m;
}
#else
constexpr bool mutant(Mutant) {
  return false;
}
#endif

}  // namespace gv
