#!/usr/bin/env bash
# Starts `truce serve` on its embedded default (SQLite, self-made certificates, no cluster), sends it
# the tour, and keeps serving until Ctrl-C. With RUN_ONCE=1 it ends after the tour with the tour's
# exit code: 0 only when exactly the duplicates were refused.
#
# The tour, tests/system/tour.py, gets the data folder and the three addresses as arguments; its
# mapping of a claim kind is tests/system/tour.yaml. TRUCE_RUN_DIR overrides build/run, and
# TRUCE_ADMISSION_ADDRESS, TRUCE_API_ADDRESS, TRUCE_METRICS_ADDRESS the addresses.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT DIR="${TRUCE_RUN_DIR:-$ROOT/build/run}" BINARY="$ROOT/build/release/truce"
readonly READY_SECONDS_MAX=30
export TRUCE_ADMISSION_ADDRESS="${TRUCE_ADMISSION_ADDRESS:-127.0.0.1:8443}"
export TRUCE_API_ADDRESS="${TRUCE_API_ADDRESS:-127.0.0.1:8444}"
export TRUCE_METRICS_ADDRESS="${TRUCE_METRICS_ADDRESS:-127.0.0.1:8080}"
# No proxy stands between this machine and itself.
export NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}"

server=""
stop() {
  [ -z "$server" ] || { kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
}

ready() {
  python3 - "http://$TRUCE_METRICS_ADDRESS/readyz" <<'EOF' 2>/dev/null
import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
sys.exit(0 if opener.open(sys.argv[1], timeout=2).status == 200 else 1)
EOF
}

wait_until_ready() {
  local deadline=$((SECONDS + READY_SECONDS_MAX))
  until ready; do
    kill -0 "$server" 2>/dev/null || { echo "truce ended; see $DIR/truce.log:" >&2; tail -n 5 "$DIR/truce.log" >&2; exit 1; }
    [ "$SECONDS" -lt "$deadline" ] || { echo "truce is not ready; see $DIR/truce.log" >&2; exit 1; }
    sleep 0.2
  done
}

main() {
  # Each tour starts from an empty registry: its verdicts are known.
  rm -rf "$DIR"
  mkdir -p "$DIR"
  "$BINARY" serve --no-cluster --data-dir "$DIR/data" --config "$ROOT/tests/system/tour.yaml" \
    >"$DIR/truce.log" 2>&1 &
  server=$!
  trap stop EXIT
  trap 'exit 0' INT TERM
  wait_until_ready

  local status=0
  python3 "$ROOT/tests/system/tour.py" --data-dir "$DIR/data" \
    --admission-address "$TRUCE_ADMISSION_ADDRESS" --api-address "$TRUCE_API_ADDRESS" \
    --metrics-address "$TRUCE_METRICS_ADDRESS" || status=$?
  if [ "${RUN_ONCE:-0}" = 1 ] || [ "$status" -ne 0 ]; then exit "$status"; fi

  echo
  echo "Truce keeps serving (Ctrl-C ends it); its log is $DIR/truce.log"
  wait "$server"
}

main "$@"
