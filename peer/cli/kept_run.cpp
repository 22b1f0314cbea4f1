#include "peer/cli/kept_run.h"

#include <filesystem>
#include <stdexcept>

#include "peer/cli/version.h"
#include "peer/launch/run_meter.h"
#include "peer/launch/run_record.h"

namespace gv::cli {
std::string save(const Assembly& fleet,
                 const RunFolder& folder,
                 const Observer& observer,
                 const std::string& summary,
                 const Json& ended) {
  try {
    end_run(fleet, folder, observer, observer.saved_model(), summary, version_text());
    add_end(folder, ended);
    return "";
  } catch (const std::runtime_error& full) {
    return full.what();
  }
}

std::string save_whole(const RunFolder& folder, const Observer& observer, Scout* scout) {
  if (scout == nullptr) return "";
  const std::string path = std::filesystem::absolute(folder.file("model.pt")).string();
  return scout->save(observer.saved_model(), path) ? ", and model.pt, which PyTorch loads" : "";
}

void end_without_model(const RunFolder& folder, const std::string& summary, const Json& ended) {
  try {
    end_unsaved(folder, summary);
    add_end(folder, ended);
  } catch (const std::runtime_error&) {  // the first such error has been told
  }
}

}  // namespace gv::cli
