// Checker: manifests, charts' values, plans and templates in, a report out. Nothing is written
// anywhere.
//
// The registry judges every object as its admission would; the input is compared with itself here,
// so that two documents that name one resource are found with any registry.
#ifndef TRUCE_WEBHOOK_CHECK_CHECKER_H_
#define TRUCE_WEBHOOK_CHECK_CHECKER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/check/manifest_reader.h"
#include "webhook/check/report.h"
#include "webhook/imports/planned.h"

namespace truce {

// Port: the registry that is asked.
class CheckRegistry {
 public:
  virtual ~CheckRegistry() = default;
  // For reports: "https://truce.example.org".
  virtual std::string_view name() const = 0;
  // POST /api/v1/checks: the JSON text of a request, the JSON text of its answer.
  // Errors: kInvalidArgument: it does not understand the request; any other: nothing was decided,
  //   and it is not asked again; kConflict: because it refuses to answer this caller.
  virtual Result<std::string> Ask(const std::string& body) = 0;
};

struct CheckSettings {
  std::string ns;            // of objects that name none; the check acts for its party
  std::string service;       // of values, plans and templates; empty: the mapping rule's
  std::string mapping = {};  // the registry's rule of the values, by name; empty: the rule of
                             // `policy`, else the registry's own
  std::string source = {};   // of plans and templates: imports from it are their own
};

// Objects are judged in order of their Add. External synchronization.
class Checker final {
 public:
  // `policy` and `registry` must outlive the checker. Without a registry (offline) the rules about
  // names are applied here, as `policy` says. `policy` also holds the mapping rules of values.
  Checker(CheckSettings settings, const AdmissionPolicy& policy, CheckRegistry* registry,
          Timestamp now);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // A document of `file`; a List is its items. Blocks while the registry is asked, which is once
  // per few hundred objects.
  // Errors: kInvalidArgument, "file:line: what is wrong": no Kubernetes object, or one without a
  //   name.
  Result<void> Add(const Manifest& manifest, const std::string& file);

  // A chart's values, read by the mapping rule of values: here, or by the registry, which is then
  // sent all of them.
  // Errors: kInvalidArgument: no such rule; the values are no mapping.
  Result<void> AddValues(const YamlNode& values, const std::string& file);

  // The resources that a plan or a template of `file` will create. Blocks as Add does.
  Result<void> AddPlanned(const Planned& planned, const std::string& file);

  // A note about the input that decides nothing.
  void AddNote(const std::string& file, const std::string& text);

  // Asks about what is left. Once.
  // Errors: kInvalidArgument: the registry refused the request as malformed.
  Result<CheckReport> Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_CHECKER_H_
