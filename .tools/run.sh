#!/usr/bin/env bash
# Starts `truce serve` on its embedded default (SQLite, self-made certificates, no cluster), sends it
# the tour, and keeps serving until Ctrl-C. With RUN_ONCE=1 it ends after the tour with the tour's
# exit code: 0 only when exactly the duplicates were refused.
#
# The tour is tests/system/tour.py, its mapping of a claim kind tests/system/tour.yaml. Overrides:
#   TRUCE_BINARY                                                 the program; build/release/truce
#   TRUCE_RUN_DIR                                                its data and log; build/run
#   TRUCE_ADMISSION_ADDRESS TRUCE_API_ADDRESS TRUCE_METRICS_ADDRESS TRUCE_PROBES_ADDRESS   where it
#                                                                listens
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT DIR="${TRUCE_RUN_DIR:-$ROOT/build/run}" BINARY="${TRUCE_BINARY:-$ROOT/build/release/truce}"
readonly READY_SECONDS_MAX=30 READY_POLL_SECONDS=0.1
# No proxy stands between this machine and itself.
export NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}"

server=""
stop() {
  [ -z "$server" ] || { kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
}

die() { printf 'run: %s\n' "$*" >&2; exit 1; }

# Succeeds when the server on our own data directory answers that it is ready.
ready() {
  [ -e "$DIR/data/addresses.json" ] && python3 - "$DIR/data/addresses.json" <<'EOF' 2>/dev/null
import json, sys, urllib.request
address = json.load(open(sys.argv[1]))["metrics"]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
sys.exit(0 if opener.open(f"http://{address}/readyz", timeout=2).status == 200 else 1)
EOF
}

wait_until_ready() {
  local deadline=$((SECONDS + READY_SECONDS_MAX))
  until ready; do
    kill -0 "$server" 2>/dev/null || { tail -n 3 "$DIR/truce.log" >&2; die "truce ended; its log is $DIR/truce.log"; }
    [ "$SECONDS" -lt "$deadline" ] || die "truce is not ready after $READY_SECONDS_MAX s; its log is $DIR/truce.log"
    sleep "$READY_POLL_SECONDS"
  done
}

# Each tour starts from an empty registry: its verdicts are known. Only what a tour made is removed.
fresh_directory() {
  [ ! -e "$DIR/data" ] || [ -e "$DIR/tour.lock" ] || die "$DIR holds data of something else"
  mkdir -p "$DIR"
  exec 9>"$DIR/tour.lock"
  flock -n 9 || die "a tour serves already on $DIR: end it first (Ctrl-C), or set TRUCE_RUN_DIR"
  rm -rf "$DIR/data" "$DIR/truce.log"
}

main() {
  fresh_directory
  "$BINARY" serve --no-cluster --data-dir "$DIR/data" --config "$ROOT/tests/system/tour.yaml" \
    >"$DIR/truce.log" 2>&1 9>&- &
  server=$!
  trap stop EXIT
  trap 'exit 0' INT TERM
  wait_until_ready

  local status=0
  python3 "$ROOT/tests/system/tour.py" --data-dir "$DIR/data" || status=$?
  if [ "${RUN_ONCE:-0}" = 1 ] || [ "$status" -ne 0 ]; then exit "$status"; fi
  python3 "$ROOT/tests/system/tour.py" --data-dir "$DIR/data" --guide
  wait "$server"
}

main "$@"
