#include "webhook/api/rest/rest_backup.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/turnstile.h"

namespace truce {
namespace {

// Given back by whoever holds it last: the handler that fails, or the copy that was sent.
struct CopyTurn {
  explicit CopyTurn(std::shared_ptr<Turnstile> of) : turnstile(std::move(of)) {}

  const std::shared_ptr<Turnstile> turnstile;
  const Turnstile::Turn turn{*turnstile, ""};
};

class BodyWithTurn final : public HttpBody {
 public:
  BodyWithTurn(std::shared_ptr<HttpBody> body, std::shared_ptr<CopyTurn> turn)
      : turn_(std::move(turn)), body_(std::move(body)) {}

  std::uint64_t size() const override { return body_->size(); }
  std::optional<std::string> Next() override { return body_->Next(); }

 private:
  const std::shared_ptr<CopyTurn> turn_;
  const std::shared_ptr<HttpBody> body_;
};

}  // namespace

std::vector<HttpRoute> BackupRoutes(const RestApi& rest, CopyRegistry copy, UseLog& uses) {
  const auto turnstile = std::make_shared<Turnstile>(1, 1);
  const auto operation = [&uses, turnstile,
                          copy = std::move(copy)](RestCall& call) -> Result<HttpResponse> {
    auto turn = std::make_shared<CopyTurn>(turnstile);
    if (!turn->turn.inside()) {
      return ProblemResponse(ProblemType::kTooManyRequests,
                             "another copy of the registry is being made or sent");
    }
    TRUCE_ASSIGN_OR_RETURN(RegistryCopy made, copy());
    // Copying may have taken longer than an answer may.
    constexpr std::chrono::seconds kWriteWithin{10};
    TRUCE_RETURN_IF_ERROR(
        uses.Write(ActorOf(call.caller),
                   "took a copy of the registry, " + Counted(made.ownerships, "ownership"),
                   std::chrono::steady_clock::now() + kWriteWithin));
    HttpResponse response;
    response.content_type = "application/vnd.sqlite3";
    response.headers.emplace_back("Content-Disposition", "attachment; filename=\"registry.db\"");
    response.pieces = std::make_shared<BodyWithTurn>(std::move(made.body), std::move(turn));
    return response;
  };
  return {rest.Routed({"GET", "/api/v1/backup", {}, {"backups", "", "get", ""}, operation})};
}

}  // namespace truce
