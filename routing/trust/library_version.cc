#include "routing/trust/library_version.h"

#include <openssl/crypto.h>

namespace dogged {

std::string CryptographyVersion() { return OpenSSL_version(OPENSSL_VERSION); }

}  // namespace dogged
