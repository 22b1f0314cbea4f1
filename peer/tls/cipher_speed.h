#pragma once

namespace gv {

/// Bytes that one core encrypts in a second by AES-128-GCM, in records of 16 KiB, as `openssl speed
/// -evp aes-128-gcm -bytes 16384` would say: what a link of TLS could do if nothing else cost
/// anything. Takes a fifth of a second of processor time.
double aes_gcm_bytes_per_second();

}  // namespace gv
