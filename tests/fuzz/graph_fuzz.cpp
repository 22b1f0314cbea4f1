// Graph files in every format, and the weights of one; what was read is written and read again.
#include <array>

#include "graph/formats/file_error.h"
#include "graph/formats/graph_file.h"
#include "graph/formats/listed_graph.h"
#include "graph/formats/matrix_file.h"
#include "graph/formats/npy_matrix.h"
#include "optim/check.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace gv {
namespace {

struct Format {
  ListedGraph (*parse)(std::string_view, const std::string&);
  std::string (*write)(const Topology&);
};
constexpr std::array<Format, 5> formats{{{parse_edge_list, to_edge_list},
                                         {parse_node_link, to_node_link},
                                         {parse_dot, to_dot},
                                         {parse_graphml, to_graphml},
                                         {parse_npy, to_npy}}};

void read_and_write(const Format& format, std::string_view text) {
  const Topology t = to_topology(format.parse(text, "a"), "a", 0);
  if (t.neighbors.size() > 500) return;  // a matrix of a megabyte
  for (const Format& other : formats) {
    const Topology back = to_topology(other.parse(other.write(t), "b"), "b", 0);
    // An edge list and an array of numbers cannot hold peers without edges.
    GV_CHECK(back.neighbors.size() <= t.neighbors.size(), "no peer comes from nowhere");
  }
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::size_t which = input.below(gv::formats.size() + 3);
  try {
    if (which < gv::formats.size()) {
      gv::read_and_write(gv::formats[which], input.text());
    } else if (which == gv::formats.size()) {
      gv::parse_number_rows(input.text(), "a");
    } else if (which == gv::formats.size() + 1) {
      gv::npy_bytes(gv::parse_npy_matrix(input.text(), "a"));
    } else {
      for (const gv::NpyMatrix& m : gv::parse_npy_matrices(input.text(), "a")) gv::npy_bytes(m);
    }
  } catch (const gv::GraphFileError& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
