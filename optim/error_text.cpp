#include "optim/error_text.h"

#include <cerrno>
#include <system_error>

namespace gv {

Verdict error_text(int error) {
  const Verdict full = std::generic_category().message(ENOSPC);
  if (error == EDQUOT) return full + " (of the user's quota)";
  if (error == EFBIG) return full + " (of the limit of a file's size: ulimit -f)";
  return std::generic_category().message(error);
}

bool is_no_space(const std::string& text) {
  return text.find(std::generic_category().message(ENOSPC)) != std::string::npos;
}

}  // namespace gv
