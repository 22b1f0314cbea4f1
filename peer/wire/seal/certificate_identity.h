#pragma once

#include <optional>

#include "peer/wire/seal/openssl.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// Whose certificate it says that it is: its only alternative name, a URI; nothing: it says none or
/// several. To be asked of one that an authority has signed.
std::optional<TlsIdentity> identity_of(const X509& certificate);

}  // namespace gv
