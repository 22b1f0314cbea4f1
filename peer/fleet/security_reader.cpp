#include "peer/fleet/security_reader.h"

#include "peer/fleet/keys/key_words.h"

namespace gv {

SecuritySpec read_security(Source& source,
                           const Value* value,
                           const std::filesystem::path& folder) {
  SecuritySpec spec;
  std::filesystem::path keys = "keys";
  // `security: plaintext` is short for { mode: plaintext }.
  const Value* mode = value;
  if (value == nullptr || value->kind != Value::Kind::scalar) {
    MapReader map(source, value, "security");
    mode = map.take("mode");
    if (const Value* path = map.take("keys"))
      keys = read_word(source, *path).value_or(keys.string());
    map.finish();
  }
  if (mode != nullptr) {
    const auto word = read_choice(source, *mode, key_words("security.mode"));
    if (word == "tls") spec.mode = SecurityMode::tls;
    if (word == "plaintext") spec.mode = SecurityMode::plaintext;
  }
  spec.keys = (folder / keys).string();
  return spec;
}

}  // namespace gv
