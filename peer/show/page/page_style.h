#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "gossip/seam/costs.h"

namespace gv {

/// The colours, light or dark by the reader's settings.
extern const std::string_view page_palette;
/// The style of marks in figures. Colours of s0 .. s23 repeat after eight, with other dashes.
extern const std::string_view figure_style;
/// The style around figures; light on paper.
extern const std::string_view page_rules;

/// The style of a page: all three parts.
std::string page_style();

/// The states of a peer, which is always in exactly one, so that they add up to its wall clock. The
/// order is that of the files of a run folder.
constexpr std::size_t n_states = activities;
using StateSeconds = std::array<double, n_states>;

struct StateName {
  const char* name;
  const char* meaning;
};
extern const std::array<StateName, n_states> state_names;

constexpr std::size_t late_state = 3, wire_state = 4;

double sum(const StateSeconds& seconds);

/// "t3": the colour of the k-th state.
std::string state_style(std::size_t state);

/// Colours and names of the states, with their meaning as a tooltip.
std::string states_legend(bool hidden_wire);

}  // namespace gv
