#pragma once

#include "peer/record/disk/disk.h"

namespace gv {

/// The machine's own file system.
class PosixDisk : public Disk {
 public:
  Verdict write(const std::string& path, std::span<const std::byte> bytes) override;
  Verdict sync(const std::string& path) override;
  Verdict rename(const std::string& from, const std::string& to) override;
  Verdict sync_folder(const std::string& folder) override;
  Verdict list(const std::string& folder, std::vector<std::string>& names) override;
  Verdict read(const std::string& path, std::vector<std::byte>& bytes) override;
  Verdict remove(const std::string& path) override;
  Verdict make_folder(const std::string& folder) override;
};

}  // namespace gv
