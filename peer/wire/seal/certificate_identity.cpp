#include "peer/wire/seal/certificate_identity.h"

#include <string_view>

namespace gv {

std::optional<TlsIdentity> identity_of(const X509& certificate) {
  constexpr int longest = 100;
  const OwnedNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return {};
  const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI) return {};
  const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
  const int length = ASN1_STRING_length(uri);
  if (length <= 0 || length > longest) return {};
  const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri));
  return parse_identity({text, static_cast<std::size_t>(length)});
}

}  // namespace gv
