#include "peer/wire/seal/key_check.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Returns what is wrong with its dates: `keygen` sets no end, but other certificates may have one.
std::string date_of(const TlsContext& context) {
  const X509* const certificate = SSL_CTX_get0_certificate(context.get());
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) return "is not valid yet";
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) return "has expired";
  return "";
}

void check_file(const std::string& path, PeerId id, KeyCheck& check) {
  const auto context = context_of_file(path, id);
  const std::string& fleet = context->identity().fleet;
  if (const std::string date = date_of(*context); !date.empty())
    throw std::runtime_error(
        fmt::format("{}: its certificate {}\nhelp:  set this machine's clock, or make new keys for "
                    "all peers: grapevine keygen FILE -o OTHER-FOLDER",
                    path, date));
  if (!check.fleet.empty() && fleet != check.fleet)
    throw std::runtime_error(
        fmt::format("{}: holds keys of another fleet ({:.12}...) than peer {}'s ({:.12}...)\nhelp: "
                    " all peers need files of one `grapevine keygen`: copy this one again",
                    path, fleet, check.good.front(), check.fleet));
  check.fleet = fleet;
  check.good.push_back(id);
}

}  // namespace

KeyCheck check_key_files(const std::string& folder, PeerId n) {
  KeyCheck check;
  for (PeerId id = 0; id < n; ++id) {
    const std::string path = (fs::path(folder) / key_file_name(id)).string();
    if (!fs::exists(fs::symlink_status(path))) {
      check.missing.push_back(id);
      continue;
    }
    try {
      check_file(path, id, check);
    } catch (const std::runtime_error& wrong) {
      check.findings.emplace_back(wrong.what());
    }
  }
  return check;
}

}  // namespace gv
