#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gv {

/// Returns what the kernel can give to new processes without swapping: `MemAvailable` of
/// /proc/meminfo (proc(5)), bytes. Nothing where the text does not say it.
std::optional<std::uint64_t> available_in(const std::string& meminfo);

/// Returns what a control group still may take, bytes: its `memory.max` less `memory.current`, but
/// file pages that nobody used lately (`inactive_file` of `memory.stat`) make room (kernel
/// documentation, admin-guide/cgroup-v2). Nothing where it has no limit, or the texts are others.
std::optional<std::uint64_t> left_in_group(const std::string& max,
                                           const std::string& current,
                                           const std::string& stat);

/// The least of both, over our control group and those around it; nothing where none is known.
std::optional<std::uint64_t> free_memory();

/// Returns what is left of the machine's swap space, bytes: `SwapFree` of /proc/meminfo.
std::optional<std::uint64_t> free_swap();

}  // namespace gv
