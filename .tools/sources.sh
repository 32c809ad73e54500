#!/usr/bin/env bash
# Puts the sources of cpp-httplib and SQLite under build/deps when the system's own are too old:
# build/deps/httplib/httplib.{h,cc} and build/deps/sqlite/sqlite3.{h,c}, taken from Debian's source
# packages (with Debian's patches) of a newer suite. CMake compiles them, so that sanitizers and
# hardening reach them too. And build/deps/preact, what the page's views stand on, from npm: always in the
# version of .tools/sources.lock. Nothing is changed outside build/deps: apt runs with a configuration
# and lists of its own.
#
#   .tools/sources.sh             what the machine lacks; a version that nobody accepted yet is taken, and told
#   .tools/sources.sh --locked    for a release: always these sources, in a version of .tools/sources.lock
#   .tools/sources.sh --tests     as without, and build/deps/axe-core, which judges the page
#
# Of the accepted versions the first that the mirror has is taken; what was taken stands in
# build/deps/*/SOURCE. To accept a new version: RELEASING.md.
# TRUCE_DEBIAN_MIRROR and TRUCE_DEBIAN_SUITE override where the source packages come from, TRUCE_NPM_REGISTRY npm's.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT DEPS="$ROOT/build/deps" LOCK="$ROOT/.tools/sources.lock"
readonly SUITE="${TRUCE_DEBIAN_SUITE:-forky}"

say() { printf 'sources: %s\n' "$*"; }
die() { printf 'sources: %s\n' "$*" >&2; exit 1; }

# The minimum versions are written once, for CMake.
minimum() { sed -n "s/^set(TRUCE_$1_MIN \(.*\))$/\1/p" "$ROOT/.tools/dependencies.cmake"; }

# at_least VERSION MINIMUM
at_least() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

httplib_version() { sed -n 's/^#define CPPHTTPLIB_VERSION "\(.*\)"$/\1/p' "$1" 2>/dev/null || true; }
sqlite_version() { sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"$/\1/p' "$1" 2>/dev/null || true; }

# The mirror of Debian this machine uses already, else Debian's own.
mirror() {
  if [ -n "${TRUCE_DEBIAN_MIRROR:-}" ]; then echo "$TRUCE_DEBIAN_MIRROR"; return; fi
  local uri
  # shellcheck disable=SC2016  # apt expands these.
  uri="$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's|^Debian \(.*/debian/\)$|\1|p' | head -n 1)"
  echo "${uri:-http://deb.debian.org/debian/}"
}

keyring() {
  local file
  for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    if [ -e "$file" ]; then echo "$file"; return; fi
  done
  die "Debian's archive keys are missing: install the package debian-archive-keyring"
}

# Writes an apt configuration that knows one source suite and keeps all its state in folder $1.
private_apt() {
  mkdir -p "$1/parts" "$1/lists/partial" "$1/cache/archives/partial"
  cat >"$1/parts/debian.sources" <<EOF
Types: deb-src
URIs: $(mirror)
Suites: $SUITE
Components: main
Signed-By: $(keyring)
EOF
  cat >"$1/apt.conf" <<EOF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$1/parts";
Dir::State::lists "$1/lists";
Dir::Cache "$1/cache";
APT::Sandbox::User "";
EOF
}

# accepted PACKAGE: "version sha256" of each accepted version, the preferred one first.
accepted() { awk -F '\t' -v p="$1" '$1 == p {print $2, $3}' "$LOCK"; }

# unpack PACKAGE: fetches and unpacks its source, prints the folder; $WORK/PACKAGE.source says what it is.
# The .dsc holds the hashes of all that it unpacks, and apt and dpkg check them.
unpack() {
  local log="$WORK/$1.log" version hash found=""
  while read -r version hash; do
    if apt-cache showsrc "$1" 2>/dev/null | grep -Fx "Version: $version" >/dev/null; then found="$version"; break; fi
  done < <(accepted "$1")
  if [ -z "$found" ]; then
    ! $LOCKED || die "Debian $SUITE has no accepted version of $1 (.tools/sources.lock): see RELEASING.md"
    say "Debian $SUITE has no accepted version of $1 (.tools/sources.lock): taking what it has"
  fi
  (cd "$WORK/src" && apt-get source -qq "$1${found:+=$found}" >"$log" 2>&1) ||
    { cat "$log" >&2; die "cannot fetch the source package $1 of Debian $SUITE"; }
  local dsc
  dsc="$(find "$WORK/src" -maxdepth 1 -name "$1_*.dsc")"
  version="$(sed -n 's/^Version: //p' "$dsc" | head -n 1)"
  [ -z "$found" ] || [ "$(sha256sum <"$dsc" | cut -d' ' -f1)" = "$hash" ] ||
    die "$1 $version is not what .tools/sources.lock accepted: its .dsc has another SHA-256"
  printf '%s\t%s\t%s\n' "$1" "$version" "$(sha256sum <"$dsc" | cut -d' ' -f1)" >"$WORK/$1.source"
  find "$WORK/src" -mindepth 1 -maxdepth 1 -type d -name "$1-*"
}

# is_accepted FOLDER PACKAGE: whether build/deps/FOLDER was made of an accepted version.
is_accepted() {
  local version hash
  while read -r version hash; do
    if [ "$(cat "$DEPS/$1/SOURCE" 2>/dev/null)" = "$(printf '%s\t%s\t%s' "$2" "$version" "$hash")" ]; then return 0; fi
  done < <(accepted "$2")
  return 1
}

# Puts the finished folder $1 in place as build/deps/$2 in one step.
publish() {
  rm -rf "${DEPS:?}/$2"
  mv "$1" "$DEPS/$2"
}

httplib() {
  say "fetching cpp-httplib (Debian $SUITE)"
  local source version
  source="$(unpack cpp-httplib)"
  version="$(httplib_version "$source/httplib.h")"
  at_least "$version" "$(minimum HTTPLIB)" ||
    die "Debian $SUITE has cpp-httplib ${version:-?}; $(minimum HTTPLIB) or newer is needed"
  python3 "$source/split.py" -e cc -o "$WORK/httplib" >/dev/null
  cp "$WORK/cpp-httplib.source" "$WORK/httplib/SOURCE"
  publish "$WORK/httplib" httplib
  say "cpp-httplib $version is in build/deps/httplib"
}

sqlite() {
  say "fetching SQLite (Debian $SUITE) and making its single source file"
  local source version
  source="$(unpack sqlite3)"
  (cd "$source" && ./configure --disable-tcl --disable-readline && make sqlite3.c) \
    >"$WORK/sqlite-make.log" 2>&1 || { tail -n 30 "$WORK/sqlite-make.log" >&2; die "SQLite failed"; }
  version="$(sqlite_version "$source/sqlite3.h")"
  at_least "$version" "$(minimum SQLITE)" ||
    die "Debian $SUITE has SQLite ${version:-?}; $(minimum SQLITE) or newer is needed"
  mkdir -p "$WORK/sqlite"
  cp "$source/sqlite3.c" "$source/sqlite3.h" "$WORK/sqlite/"
  cp "$WORK/sqlite3.source" "$WORK/sqlite/SOURCE"
  publish "$WORK/sqlite" sqlite
  say "SQLite $version is in build/deps/sqlite"
}

# npm PACKAGE FILE...: those files of the accepted version of PACKAGE, proved by its hash, into build/deps/PACKAGE.
npm() {
  local package="$1" version hash url file
  shift
  read -r version hash < <(accepted "$package")
  url="${TRUCE_NPM_REGISTRY:-https://registry.npmjs.org}"
  url="${url%/}/$package/-/$package-$version.tgz"
  say "fetching $package $version (npm)"
  python3 -c 'import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=120) as answer, open(sys.argv[2], "wb") as file:
    file.write(answer.read())' "$url" "$WORK/$package.tgz" 2>"$WORK/$package.log" ||
    { tail -n 1 "$WORK/$package.log" >&2; die "cannot fetch $url (TRUCE_NPM_REGISTRY names another registry)"; }
  [ "$(sha256sum <"$WORK/$package.tgz" | cut -d' ' -f1)" = "$hash" ] ||
    die "$url is not what .tools/sources.lock accepted: it has another SHA-256"
  mkdir -p "$WORK/$package"
  for file in "$@"; do
    tar -xzf "$WORK/$package.tgz" -O "package/$file" >"$WORK/$package/${file##*/}"
  done
  printf '%s\t%s\t%s\n' "$package" "$version" "$hash" >"$WORK/$package/SOURCE"
  publish "$WORK/$package" "$package"
}

preact() { npm preact dist/preact.min.umd.js hooks/dist/hooks.umd.js; }

# Judges the page in tests.
axe() { npm axe-core axe.min.js; }

# Adds to `need` what neither the system nor build/deps has.
missing_sources() {
  at_least "$(pkg-config --modversion cpp-httplib 2>/dev/null || true)" "$(minimum HTTPLIB)" ||
    at_least "$(httplib_version "$DEPS/httplib/httplib.h")" "$(minimum HTTPLIB)" || need+=(httplib)
  at_least "$(pkg-config --modversion sqlite3 2>/dev/null || true)" "$(minimum SQLITE)" ||
    at_least "$(sqlite_version "$DEPS/sqlite/sqlite3.h")" "$(minimum SQLITE)" || need+=(sqlite)
}

debian_lists() {
  mkdir -p "$WORK/src"
  private_apt "$WORK/apt"
  export APT_CONFIG="$WORK/apt/apt.conf"
  apt-get update -qq >"$WORK/update.log" 2>&1 ||
    { cat "$WORK/update.log" >&2; die "cannot read the package lists of Debian $SUITE"; }
}

main() {
  local need=() package
  LOCKED=false TESTS=false
  case "${1:-}" in
    "") ;;
    --locked) LOCKED=true ;;
    --tests) TESTS=true ;;
    *) die "unknown argument '$1' (--locked, --tests)" ;;
  esac
  mkdir -p "$DEPS"
  # One at a time; a second one waits and then finds everything done.
  exec 9>"$DEPS/.lock"
  flock 9
  if $LOCKED; then
    is_accepted httplib cpp-httplib || need+=(httplib)
    is_accepted sqlite sqlite3 || need+=(sqlite)
  else
    missing_sources
  fi
  is_accepted preact preact || need+=(preact)
  ! $TESTS || is_accepted axe-core axe-core || need+=(axe)
  [ ${#need[@]} -gt 0 ] || return 0
  WORK="$(mktemp -d "$DEPS/work.XXXXXX")"
  trap 'rm -rf "$WORK"' EXIT
  [[ " ${need[*]} " != *" httplib "* && " ${need[*]} " != *" sqlite "* ]] || debian_lists
  for package in "${need[@]}"; do "$package"; done
}

main "$@"
