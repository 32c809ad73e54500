// The two objects of an update that changes nothing, as most updates are, are the same bytes: such
// a body is read with one of them.
#ifndef TRUCE_WEBHOOK_ADMISSION_TWINS_H_
#define TRUCE_WEBHOOK_ADMISSION_TWINS_H_

#include <optional>
#include <string>
#include <string_view>

namespace truce {

// A body that has `"object":TWIN,"oldObject":TWIN` in it, as views into it.
struct Twins {
  std::string_view before;  // up to the first twin
  std::string_view twin;
  std::string_view after;  // behind the second one
};

// By the look of the bytes, where an API server writes them. Nothing: there are none, or they are
// not worth it. If the twin is a JSON object, the frame is JSON, and its `request` has the mark as
// `object` and has no `oldObject`, then the body is JSON too, and both its objects are the twin.
std::optional<Twins> FindTwins(std::string_view body);

// In place of both objects: what no other text of the frame says.
inline constexpr std::string_view kTwinMark = "\x7F";

// The body with the mark as `object` and without `oldObject`. Keeps the memory of `out`.
void WriteFrame(const Twins& twins, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_TWINS_H_
