// Where a configuration's certificates come from.
#ifndef TRUCE_WEBHOOK_SERVE_CERTIFICATE_OPTIONS_H_
#define TRUCE_WEBHOOK_SERVE_CERTIFICATE_OPTIONS_H_

#include "certs/certificate_store.h"
#include "webhook/config/config.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// For the admission listener. `logger` must outlive the store.
CertificateStoreOptions CertificatesOf(const Config& config, Logger& logger);

// The same server certificate, with the API's own authorities for clients. Self-made certificates
// are renewed by the other store; this one reads what it writes.
CertificateStoreOptions ApiCertificatesOf(const Config& config, Logger& logger);

// When the present server certificate ends.
void WriteExpiry(const CertificateStore& certificates, MetricWriter& writer);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_CERTIFICATE_OPTIONS_H_
