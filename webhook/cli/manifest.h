// Kubernetes objects from files, as documents that the core reads.
#ifndef TRUCE_WEBHOOK_CLI_MANIFEST_H_
#define TRUCE_WEBHOOK_CLI_MANIFEST_H_

#include "registry/identity/document.h"
#include "webhook/config/yaml.h"

namespace truce {

// `node` as a document; plain scalars become null, booleans and numbers as YAML 1.2's JSON schema
// reads them. `node` must outlive the document.
Document DocumentFrom(const YamlNode& node);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_MANIFEST_H_
