// ManifestReader: YAML or JSON documents one after another, read as kubectl reads them, with the
// location of every value.
//
// Where it departs from kubectl, on purpose: a key twice in one mapping is refused; names stay what
// was written (`no`, 0123, 1.10 are text), see NodeKind; keys stay what was written.
#ifndef TRUCE_WEBHOOK_CHECK_MANIFEST_READER_H_
#define TRUCE_WEBHOOK_CHECK_MANIFEST_READER_H_

#include <memory>
#include <optional>
#include <string>

#include "registry/base/document.h"
#include "registry/base/result.h"
#include "webhook/wire/yaml.h"

namespace truce {

struct Manifest {
  YamlNode root;
  std::string source;  // of Helm's comment above: "# Source: chart/templates/x.yaml"; or empty
};

// External synchronization.
class ManifestReader final {
 public:
  ManifestReader(YamlSource source, std::string name);
  ~ManifestReader();
  ManifestReader(const ManifestReader&) = delete;
  ManifestReader& operator=(const ManifestReader&) = delete;

  // The next document that is not empty; nothing at the end. After an error the rest of the stream
  // is not read. Errors: those of YamlDocuments.
  Result<std::optional<Manifest>> Next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// How a scalar is taken: as kubectl does where its value is written the same way, else as text.
Document::Kind NodeKind(const YamlNode& scalar);

// `node`, a whole object, as a document for the core; all of its metadata is text.
// `node` must outlive it.
Document ReadDocument(const YamlNode& node);

// `node` as JSON text, appended to `out`.
void AppendJson(const YamlNode& node, std::string& out);
// The same of a whole object: all of its metadata is text.
void AppendObject(const YamlNode& object, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_MANIFEST_READER_H_
