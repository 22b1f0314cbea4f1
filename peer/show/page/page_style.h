#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A self-contained page around `body`, with its style inline; nothing is loaded. The title is
/// escaped, the body is not.
std::string page_around(std::string_view title,
                        std::string_view body,
                        std::string_view style = page_style());

// Parts of a page. Contents are HTML; nothing is escaped.

/// The coloured square before a name.
std::string key_html(std::string_view style);
/// A short line as in figures, before the name of a series.
std::string line_key_html(std::size_t series, std::string_view attributes = "");
/// A list of this style; empty without items.
std::string list_html(std::string_view style, const std::vector<std::string>& items);
/// Words and their meanings.
std::string meanings_html(std::span<const std::pair<std::string_view, std::string_view>> meanings);

double sum(const StateSeconds& seconds);

/// The states that take at least this share of the time, the largest first.
std::vector<std::size_t> largest_states(const StateSeconds& seconds, double least_share);

/// "t3": the colour of the k-th state.
std::string state_style(std::size_t state);

/// Colours and names of the states, with their meaning as a tooltip.
std::string states_legend(bool hidden_wire);

}  // namespace gv
