#pragma once

namespace gv {

/// Stable, documented in docs/exit-codes.md; below 126 except for signals.
namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;           ///< no peer finished, or a numeric failure
inline constexpr int usage = 2;            ///< usage or configuration error
inline constexpr int peers_lost = 3;       ///< finished, but peers were lost
inline constexpr int check_failed = 4;     ///< doctor found something, a target was missed
inline constexpr int could_not_start = 5;  ///< host, port, launcher, run folder
inline constexpr int not_kept = 6;         ///< finished, but some results are not saved here
inline constexpr int rows_left_out = 7;    ///< `predict` could not answer each row
inline constexpr int internal = 70;
inline constexpr int interrupted = 130;
inline constexpr int terminated = 143;
}  // namespace exit_code

}  // namespace gv
