// Whether a client that trusts a bundle trusts a certificate: for checking what others were given.
#ifndef TRUCE_CERTS_TRUST_H_
#define TRUCE_CERTS_TRUST_H_

#include <string_view>

#include "certs/certificate.h"

namespace truce {

// True when a client that trusts the PEM certificates of `bundle`, and nothing else, accepts `pair`
// as a server's, names and validity apart. False for an empty or malformed bundle.
bool BundleTrusts(std::string_view bundle, const CertificatePair& pair);

}  // namespace truce

#endif  // TRUCE_CERTS_TRUST_H_
