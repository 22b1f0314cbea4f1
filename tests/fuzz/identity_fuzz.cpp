// The identity in a certificate: the alternative names in an X.509 extension, and the URI. The
// input is the extension's DER or, with another first byte, the text of a URI.
#include <climits>

#include "optim/check.h"
#include "peer/wire/seal/tls_context.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

using OwnedOctets = std::unique_ptr<ASN1_OCTET_STRING, Released<ASN1_OCTET_STRING_free>>;

void read_names(std::span<const std::byte> der) {
  const OwnedCertificate certificate(X509_new());
  const OwnedOctets octets(ASN1_OCTET_STRING_new());
  ASN1_OCTET_STRING_set(octets.get(), reinterpret_cast<const unsigned char*>(der.data()),
                        static_cast<int>(std::min<std::size_t>(der.size(), INT_MAX)));
  const OwnedExtension extension(
      X509_EXTENSION_create_by_NID(nullptr, NID_subject_alt_name, 0, octets.get()));
  X509_add_ext(certificate.get(), extension.get(), -1);
  identity_of(*certificate);
  ERR_clear_error();
}

void read_uri(std::string_view uri) {
  const auto identity = parse_identity(uri);
  if (identity) GV_CHECK(parse_identity(to_string(*identity)) == identity, "the same again");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  input.flag() ? gv::read_names(input.rest()) : gv::read_uri(input.text());
  return 0;
}
