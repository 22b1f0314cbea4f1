#pragma once

#include <cstddef>
#include <cstdint>

/// The most that a table of a user may have: whatever a file says, no more than this is allocated.
namespace gv::table_bounds {

inline constexpr std::uint64_t rows = 1'000'000'000;
inline constexpr std::size_t columns = 100'000;         ///< of the file
inline constexpr std::size_t features = 1'000'000;      ///< after categories are spread out
inline constexpr std::size_t levels = 1000;             ///< of a category
inline constexpr std::size_t classes = 256;             ///< a label is a byte
inline constexpr std::size_t name_bytes = 200;          ///< of a column, a category or a class
inline constexpr std::size_t record_bytes = 16U << 20;  ///< a line of a CSV file
inline constexpr std::uint64_t dense = 1ULL << 28;      ///< numbers that sparse rows may become
inline constexpr std::uint64_t spread = 1ULL << 32;     ///< numbers that categories may become
inline constexpr std::size_t many = 100;                ///< levels that a user is warned of
inline constexpr std::size_t looked_at = 1000;          ///< rows that say what a column is
inline constexpr std::size_t few = 20;                  ///< whole numbers that are classes

}  // namespace gv::table_bounds
