#include "peer/tls/traffic_secrets.h"

#include <string_view>

namespace gv {
namespace {

int place_of_secrets() {
  static const int place = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return place;
}

unsigned digit_of(char hex) {
  return static_cast<unsigned>(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

Secret bytes_of_hex(std::string_view hex) {
  Secret bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
  return bytes;
}

/// A line of the key log: a label, the client's random, the secret, as OpenSSL writes it.
void note(const SSL* session, const char* text) {
  auto* secrets = static_cast<TrafficSecrets*>(SSL_get_ex_data(session, place_of_secrets()));
  if (secrets == nullptr) return;
  const std::string_view line(text);
  const std::string_view hex = line.substr(line.rfind(' ') + 1);
  if (line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) secrets->client = bytes_of_hex(hex);
  if (line.starts_with("SERVER_TRAFFIC_SECRET_0 ")) secrets->server = bytes_of_hex(hex);
}

}  // namespace

void hear_secrets(SSL_CTX& context) {
  SSL_CTX_set_keylog_callback(&context, note);
}

void keep_secrets(SSL& session, TrafficSecrets& secrets) {
  openssl_must(SSL_set_ex_data(&session, place_of_secrets(), &secrets) == 1, "a session");
}

}  // namespace gv
