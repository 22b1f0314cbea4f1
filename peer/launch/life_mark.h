#pragma once

#include <string>

namespace gv {

/// The word of a peer's folder on its lives, for peers that an engine starts again: the file `life`
/// holds "running" from the first start on, and "done" when the peer has finished.
class LifeMark {
 public:
  explicit LifeMark(const std::string& peer_folder) : path_(peer_folder + "/life") {}

  bool began() const;     ///< and has not finished
  bool finished() const;  ///< its model is there, and is not to be written over
  /// Throw std::runtime_error with the path.
  void begin() const;
  void finish() const;

 private:
  std::string text() const;
  void write(const std::string& text) const;

  std::string path_;
};

}  // namespace gv
