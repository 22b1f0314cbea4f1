#include "peer/cli/written_file.h"

#include <fstream>
#include <stdexcept>

namespace gv::cli {

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace gv::cli
