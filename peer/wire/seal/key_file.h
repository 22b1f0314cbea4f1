#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

// A peer's keys as a file, FOLDER/peer-3.pem: its private key, its certificate and the authority's,
// in PEM, one after the other.

std::string key_file_name(PeerId id);

/// Writes each peer's keys into the folder, which is made if need be, for its owner's eyes only.
/// Throws std::runtime_error, and writes nothing, where one of the files is there already.
std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys);

/// Throws std::runtime_error with the path, what is wrong with the file and what to do: one that is
/// a link, that is not ours, that others may read, or that holds no keys.
PeerKeys read_key_file(const std::string& path);

/// Reads what peer `id` proves itself with from its file. Throws std::runtime_error also when the
/// keys are another peer's, or do not belong together.
std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id);

/// The three parts of such a file, or of a text like it; `name` is that of the text in errors.
PeerKeys parse_keys(std::string_view text, const std::string& name);
Secret text_of(const PeerKeys& keys);

}  // namespace gv
