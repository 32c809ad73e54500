#include "webhook/cli/report_call.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/operator_call.h"
#include "webhook/wire/json_text.h"

namespace truce {

ExitCode PrintReport(const ConfigFlags& flags, const std::string& path, CommandIo& io,
                     std::uint64_t& count) {
  const OperatorReply reply = CallOperator(flags, {path, {}}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const auto json = ParseJson(reply.answer);
  const bool is_report = json.is_object() && json.contains("text") && json["text"].is_string() &&
                         json.contains("count") && json["count"].is_number_unsigned();
  if (!is_report) {
    return Complain(io, "the answer is not a report; is the server of this version?",
                    ExitCode::kUnreachable);
  }
  count = json["count"].get<std::uint64_t>();
  io.out << json["text"].get<std::string>();
  return ExitCode::kOk;
}

}  // namespace truce
