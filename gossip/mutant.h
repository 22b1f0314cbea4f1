#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace gv {

/// Deliberate bugs, for the test of the tests. `grapevine-mutants` is built with GV_MUTANTS=none
/// and shows that the swarm finds every one; the chaos tests' canary with one of them. In every
/// other build there are none, and no code for them.
enum class Mutant : std::uint8_t {
  none,
  drop_when_away,  ///< voids an open exchange at one end
  drop_when_late,  ///< forgets the half that comes late
  own_degree,      ///< weighs by its own degree only
  degree_of_now,   ///< weighs a late half by the degree of now
  late_against_x,  ///< a late half against x of now, not against what was sent
  apply_late_twice,
  drop_late_flow,        ///< the naive rule: who is late uses its own value, the other end does not
  next_before_settled,   ///< begins an exchange while one is open
  no_deadline_for_away,  ///< waits for who is away
  no_hurry,              ///< waits in a circle
  no_patience,           ///< waits for ever at the end for who is away
  leave_unsettled,       ///< says goodbye without waiting for the half it is owed
  keep_numbers_of_the_dead,   ///< a successor meets the exchange numbers of the one before
  keep_exchange_of_the_dead,  ///< a successor settles the exchange of the one before
  keep_mail_of_the_dead,      ///< what the dead one sent counts for its successor
  mix_what_is_not_finite,
  quarantine_without_goodbye,
  fetch_without_answer,  ///< does not give its model
  fetch_what_is_not_finite,
  half_of_another_exchange,  ///< numbers a half by the round
  ignore_interrupt,          ///< a wait is not ended when its neighbour goes
  answer_nobody,             ///< no exchange outside its round of the schedule
  weight_of_own_round,       ///< weighs by its own round, whatever the other end's is
};
inline constexpr std::array<std::string_view, 24> mutant_names{"none",
                                                               "drop_when_away",
                                                               "drop_when_late",
                                                               "own_degree",
                                                               "degree_of_now",
                                                               "late_against_x",
                                                               "apply_late_twice",
                                                               "drop_late_flow",
                                                               "next_before_settled",
                                                               "no_deadline_for_away",
                                                               "no_hurry",
                                                               "no_patience",
                                                               "leave_unsettled",
                                                               "keep_numbers_of_the_dead",
                                                               "keep_exchange_of_the_dead",
                                                               "keep_mail_of_the_dead",
                                                               "mix_what_is_not_finite",
                                                               "quarantine_without_goodbye",
                                                               "fetch_without_answer",
                                                               "fetch_what_is_not_finite",
                                                               "half_of_another_exchange",
                                                               "ignore_interrupt",
                                                               "answer_nobody",
                                                               "weight_of_own_round"};

#ifdef GV_MUTANTS
/// GV_MUTANTS names the one that is built in; GRAPEVINE_MUTANT another one.
inline Mutant built_in_mutant() {
  const char* name = std::getenv("GRAPEVINE_MUTANT");
  for (std::size_t k = 0; name != nullptr && k < mutant_names.size(); ++k)
    if (mutant_names[k] == name) return static_cast<Mutant>(k);
  return Mutant::GV_MUTANTS;
}
inline Mutant present_mutant = built_in_mutant();
inline bool mutant(Mutant m) {
  return present_mutant == m;
}
#else
constexpr bool mutant(Mutant) {
  return false;
}
#endif

}  // namespace gv
