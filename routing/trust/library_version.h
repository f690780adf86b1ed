// The version of the library that keys, seals and TLS come from.
#ifndef DOGGED_ROUTING_TRUST_LIBRARY_VERSION_H_
#define DOGGED_ROUTING_TRUST_LIBRARY_VERSION_H_

#include <string>

namespace dogged {

// "OpenSSL 3.0.15 3 Sep 2024": of the one that is loaded.
std::string CryptographyVersion();

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_LIBRARY_VERSION_H_
