#include "webhook/serve/certificate_options.h"

#include <chrono>
#include <string_view>
#include <utility>

namespace truce {

CertificateStoreOptions CertificatesOf(const Config& config, Logger& logger) {
  CertificateStoreOptions options;
  if (!config.certificate_secret.empty()) {  // written by SelfManagement
    options.certificate_file = config.data_dir + "/certs/tls.crt";
    options.key_file = config.data_dir + "/certs/tls.key";
  } else if (config.tls_cert_file.empty()) {
    SelfSignedOptions self_signed;
    self_signed.directory = config.data_dir + "/certs";
    self_signed.names = config.server_names;
    options.self_signed = std::move(self_signed);
  } else {
    options.certificate_file = config.tls_cert_file;
    options.key_file = config.tls_key_file;
  }
  options.client_ca_file = config.admission_client_ca;
  options.client_names = config.admission_client_names;
  options.on_event = [&logger](const CertificateEvent& event) {
    const bool is_bad = event.kind == CertificateEvent::Kind::kRejected;
    logger.Log(is_bad ? LogLevel::kError : LogLevel::kInfo,
               is_bad ? "certificates refused" : "certificates loaded",
               {{"message", std::string_view(event.message)}});
  };
  return options;
}

CertificateStoreOptions ApiCertificatesOf(const Config& config, Logger& logger) {
  CertificateStoreOptions options = CertificatesOf(config, logger);
  if (options.self_signed) {
    options.self_signed.reset();
    options.certificate_file = config.data_dir + "/certs/tls.crt";
    options.key_file = config.data_dir + "/certs/tls.key";
  }
  options.client_ca_file = config.api_client_ca;
  options.client_names.clear();
  for (const std::string& client : config.api_clients) {
    options.client_names.push_back(client.substr(0, client.rfind('=')));
  }
  return options;
}

void WriteExpiry(const CertificateStore& certificates, MetricWriter& writer) {
  writer.Family("truce_certificate_expiry_timestamp_seconds", "gauge",
                "End of the server certificate's validity, in seconds since 1970.");
  const auto end = certificates.Current().pair->not_after().time_since_epoch();
  writer.Sample(static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(end).count()));
}

}  // namespace truce
