#include "peer/model/checkpoint/own_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace gv {
namespace {

Verdict objection(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "";
  if (S_ISLNK(found.st_mode))
    return fmt::format(
        "{}: is a link, and checkpoints are not kept through links\nhelp:  put the folder itself "
        "there, or name another one with --set output.dir=PATH",
        path);
  if (S_ISDIR(found.st_mode) && (found.st_mode & S_IWOTH) != 0)
    return fmt::format(
        "{0}: every user may write there (mode {1:04o}) and change what this peer resumes "
        "from\nhelp: "
        " "
        "chmod o-w {0}, and look at what is in it",
        path,
        found.st_mode & 07777);
  return "";
}

}  // namespace

Verdict folder_objection(const std::string& folder) {
  Verdict wrong = objection(folder);
  return wrong.empty() ? objection(folder + "/checkpoints") : wrong;
}

}  // namespace gv
