#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

namespace gv {

/// One problem of a fleet file.
struct Diagnostic {
  std::string where;     ///< "configs/x.yaml:4:1" or "--set train.lr"
  std::string message;   ///< "unknown key `topolgy`"
  std::string source;    ///< the line and the caret, ready to print; may be empty
  std::string help;      ///< "did you mean `topology`?"; may be empty
  std::size_t more = 0;  ///< problems after the last one that is kept
};

/// All problems at once. what() is the whole screen: each problem with place, line, caret and help.
class FleetError : public std::exception {
 public:
  FleetError(std::string path, std::vector<Diagnostic> diagnostics);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

}  // namespace gv
