#pragma once

#include <string>

namespace gv {

/// State of a peer that an engine may start again, in the file `life` of its folder: "running" from
/// the first start on, and "done" when the peer has finished.
class LifeMark {
 public:
  explicit LifeMark(const std::string& peer_folder) : path_(peer_folder + "/life") {}

  bool began() const;     ///< began and has not finished
  bool finished() const;  ///< its model exists and must not be overwritten
  /// Throws std::runtime_error with the path, as finish() does.
  void begin() const;
  void finish() const;

 private:
  std::string text() const;
  void write(const std::string& text) const;

  std::string path_;
};

}  // namespace gv
