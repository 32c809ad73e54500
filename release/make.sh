#!/usr/bin/env bash
# Makes a release: first, in chroots, the package for the other Debian and, with ARM64=yes, the image for that kind of
# machine, then all of release/make.py.
#
#   release/make.sh [ARGUMENT of make.py]...
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
readonly SUITES=(bookworm trixie) OTHERS="$ROOT/build/others"
# Of this machine's Debian, so that both images have the same libraries.
ARCHITECTURES=()
[ -z "${ARM64:-}" ] || ARCHITECTURES+=(arm64)

# Before anything that takes minutes.
release/make.py --check

# shellcheck disable=SC1091
own="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
links=()
for ((i = 1; i < $#; i++)); do
  case "${!i}" in --home-url | --image) next=$((i + 1)); links+=("${!i}" "${!next}") ;; esac
done
rm -rf "$OTHERS"
for suite in "${SUITES[@]}"; do
  [ "$suite" = "$own" ] || release/other_debian.sh build "$suite" "$OTHERS" "${links[@]}"
done
for architecture in "${ARCHITECTURES[@]}"; do
  release/other_debian.sh image "$own" "$architecture" "$OTHERS" "${links[@]}"
done
exec release/make.py --beside "$OTHERS" "$@"
