#!/usr/bin/env bash
# Writes requirements.txt and requirements-go.txt anew: the newest of all that the .in files need, with hashes.
# Needs no more than Python; run it to accept new versions, and read the difference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install pip-tools
for name in requirements requirements-go requirements-release; do
  rm -f "$work/out.txt"
  "$work/venv/bin/pip-compile" --quiet --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
    --no-header --output-file "$work/out.txt" "$name.in"
  { echo "# Written by .tools/lock_requirements.sh from $name.in: every package, with its accepted SHA-256."
    cat "$work/out.txt"; } >"$name.txt"
done
