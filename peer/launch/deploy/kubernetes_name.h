#pragma once

#include <string>

namespace gv {

/// The longest name of an object that its pods, with a role and a number behind it, can bear as a
/// label of a host name (RFC 1123: 63 bytes), and a StatefulSet with a hash.
inline constexpr std::size_t longest_object_name = 40;

/// A label of RFC 1035, which is one of RFC 1123 too and what a Service asks for: small letters,
/// digits and `-`, a letter first, no `-` last, at most longest_object_name bytes.
bool is_object_name(const std::string& name);

/// Such a name of any text. What had to be cut off or left out stands there as eight hex digits of
/// a hash, so that two fleets keep two names.
std::string object_name(const std::string& text);

/// A name as Kubernetes takes it of claims and namespaces (RFC 1123): also with dots, and a digit
/// first.
bool is_claim_name(const std::string& name);

/// Returns whether a text is a Quantity as we write it: "2", "500m", "1.5Gi".
bool is_quantity(const std::string& text);
/// A reference to an image, as far as one can be told: letters, digits and . _ - / : @.
bool is_image(const std::string& text);

}  // namespace gv
