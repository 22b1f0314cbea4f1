#pragma once

#include "peer/tls/openssl.h"
#include "peer/tls/secret.h"

namespace gv {

/// What the keys of a session's two directions come from (RFC 8446, section 7.1:
/// client_application_traffic_secret_0 and the server's); empty before the handshake has come so
/// far. OpenSSL tells them through its key log, which goes nowhere else here.
struct TrafficSecrets {
  Secret client, server;
};

/// Has OpenSSL tell them of the context's sessions; once, before there is one.
void hear_secrets(SSL_CTX& context);
/// Of this session into `secrets`, which outlives it.
void keep_secrets(SSL& session, TrafficSecrets& secrets);

}  // namespace gv
