#!/usr/bin/env bash
# Makes a release: first the package for the other Debian in a chroot of it, then all of release/make.py.
#
#   release/make.sh [ARGUMENT of make.py]...
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
readonly SUITES=(bookworm trixie) DEBS="$ROOT/build/other-debian"

# Before anything that takes minutes.
release/make.py --check

# shellcheck disable=SC1091
own="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
home_url=""
for ((i = 1; i < $#; i++)); do
  if [ "${!i}" = --home-url ]; then
    next=$((i + 1))
    home_url="${!next}"
  fi
done
rm -rf "$DEBS"
arguments=()
for suite in "${SUITES[@]}"; do
  [ "$suite" != "$own" ] || continue
  release/other_debian.sh build "$suite" "$DEBS" "$home_url"
done
for deb in "$DEBS"/*.deb; do arguments+=(--deb "$deb"); done
exec release/make.py "${arguments[@]}" "$@"
