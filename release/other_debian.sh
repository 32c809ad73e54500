#!/usr/bin/env bash
# Makes and tries packages in a chroot of a Debian suite, beside the Debian that this machine has. As root.
#
#   release/other_debian.sh build SUITE FOLDER [ARGUMENT of make.py]...   builds the commit there, puts its .deb into FOLDER
#   release/other_debian.sh image SUITE ARCH FOLDER [ARGUMENT of make.py]...
#       builds the commit there for another kind of machine, with a cross compiler; puts the image and what the
#       bills must name of it into FOLDER
#   release/other_debian.sh try SUITE DEB     installs, starts, upgrades and removes it in a fresh one
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT CHROOTS="$ROOT/build/chroots"
readonly READY_SECONDS_MAX=30

say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# mirrors SUITE: its sources, with updates and security, from the mirrors of Debian that this machine uses.
mirrors() {
  local known main security
  # shellcheck disable=SC2016  # apt expands these.
  known="$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages')"
  main="$(sed -n 's|^Debian \(.*/debian/\)$|\1|p' <<<"$known" | head -n 1)"
  security="$(sed -n 's|^Debian \(.*/debian-security/\)$|\1|p' <<<"$known" | head -n 1)"
  [ -n "$main" ] || die "apt of this machine knows no mirror of Debian: is it a Debian?"
  printf 'deb %s %s main\ndeb %s %s-updates main\n' "$main" "$1" "$main" "$1"
  [ -z "$security" ] || printf 'deb %s %s-security main\n' "$security" "$1"
}

# chroot_of SUITE NAME ARCHITECTURES PACKAGE...: makes the chroot NAME, in one step, unless it is there already with
# these packages; then it only gets their updates.
chroot_of() {
  local suite="$1" name="$2" architectures="$3" packages
  shift 3
  if [ "$(cat "$CHROOTS/$name.packages" 2>/dev/null)" = "$suite $architectures $*" ] && [ -d "$CHROOTS/$name" ]; then
    inside "$name" sh -euc 'apt-get update -qq; apt-get upgrade -y -qq' >"$CHROOTS/$name.log" 2>&1 ||
      { tail -n 20 "$CHROOTS/$name.log" >&2; die "the chroot of $suite cannot be updated: remove $CHROOTS/$name"; }
    return
  fi
  say "making a chroot of Debian $suite"
  mkdir -p "$CHROOTS"
  packages="$(IFS=,; echo "$*")"
  rm -rf "${CHROOTS:?}/$name" "$CHROOTS/$name.new"
  mmdebstrap --quiet --variant=apt --aptopt='Acquire::Languages "none"' --architectures="$architectures" \
    ${packages:+--include="$packages"} "$suite" "$CHROOTS/$name.new" - <<<"$(mirrors "$suite")" \
    >"$CHROOTS/$name.log" 2>&1 ||
    { tail -n 20 "$CHROOTS/$name.log" >&2; die "mmdebstrap of $suite failed"; }
  echo "$suite $architectures $*" >"$CHROOTS/$name.packages"
  mv "$CHROOTS/$name.new" "$CHROOTS/$name"
}

# inside NAME COMMAND...: with /proc and /dev, in a mount namespace that ends with the command.
inside() {
  local root="$CHROOTS/$1"
  shift
  # shellcheck disable=SC2016  # the inner shell expands these.
  unshare --mount --pid --fork bash -euc '
    mount --make-rprivate /
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/run"
    root="$1"; shift
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
  ' inside "$root" "$@"
}

# The packages that a build needs.
build_packages() {
  sed -n '/^readonly BUILD_PACKAGES=(/,/)/p' "$ROOT/.tools/setup.sh" | tr -d '()' | sed 's/.*BUILD_PACKAGES=//'
}

# Lays the commit into the chroot $1, sources of libraries too; what an earlier run built of it stays.
lay() {
  local name="$1" commit="$2"
  [ "$(cat "$CHROOTS/$name/src/.commit" 2>/dev/null)" != "$commit" ] || return 0
  rm -rf "$CHROOTS/$name/src"
  mkdir -p "$CHROOTS/$name/src/build"
  git -C "$ROOT" archive HEAD | tar -x -C "$CHROOTS/$name/src"
  cp -r "$ROOT/build/deps" "$CHROOTS/$name/src/build/deps"
  echo "$commit" >"$CHROOTS/$name/src/.commit"
}

# made NAME COMMIT ARGUMENT...: what make.py makes in the chroot, in its /src/build/dist.
made() {
  local name="$1" commit="$2"
  shift 2
  lay "$name" "$commit"
  inside "$name" env -C /src CMAKE_BUILD_PARALLEL_LEVEL="${TRUCE_JOBS:-$(nproc)}" \
    python3 release/make.py --commit "$commit" --into /src/build/dist "$@" >&2
}

commit() { git -C "$ROOT" log -1 --format=%H:%ct; }

build() {
  local suite="$1" into="$2"
  shift 2
  # shellcheck disable=SC2046  # the names of packages
  chroot_of "$suite" "$suite-build" "$(dpkg --print-architecture)" $(build_packages)
  say "building on Debian $suite"
  made "$suite-build" "$(commit)" --deb-only "$@"
  mkdir -p "$into"
  cp "$CHROOTS/$suite-build/src/build/dist/"*.deb "$into/"
}

image() {
  local suite="$1" architecture="$2" into="$3" name="$1-$2" package packages=()
  shift 3
  for package in $(build_packages); do
    case "$package" in
      # All headers, for every architecture.
      libcli11-dev | nlohmann-json3-dev) packages+=("$package") ;;
      lib*) packages+=("$package:$architecture") ;;
      *) packages+=("$package") ;;
    esac
  done
  chroot_of "$suite" "$name" "$(dpkg --print-architecture),$architecture" "${packages[@]}" \
    "crossbuild-essential-$architecture" qemu-user-static
  say "building on Debian $suite for $architecture"
  made "$name" "$(commit)" --image-only "$architecture" "$@"
  mkdir -p "$into"
  cp "$CHROOTS/$name/src/build/dist/"* "$into/"
}

try() {
  local suite="$1" deb="$2"
  chroot_of "$suite" "$suite-clean" "$(dpkg --print-architecture)"
  rm -rf "$CHROOTS/$suite-try"
  cp -a "$CHROOTS/$suite-clean" "$CHROOTS/$suite-try"
  cp "$deb" "$CHROOTS/$suite-try/truce.deb"
  cp "$ROOT/release/try_deb.sh" "$CHROOTS/$suite-try/try_deb.sh"
  inside "$suite-try" bash /try_deb.sh /truce.deb "$READY_SECONDS_MAX"
  rm -rf "$CHROOTS/$suite-try"
}

[ "$(id -u)" -eq 0 ] || die "root is needed: chroots are made and entered"
case "${1:-}" in
  build) [ $# -ge 3 ] || die "other_debian.sh build SUITE FOLDER [ARGUMENT]..."; build "${@:2}" ;;
  image) [ $# -ge 4 ] || die "other_debian.sh image SUITE ARCH FOLDER [ARGUMENT]..."; image "${@:2}" ;;
  try) [ $# -eq 3 ] || die "other_debian.sh try SUITE DEB"; try "${@:2}" ;;
  *) die "other_debian.sh build SUITE FOLDER | image SUITE ARCH FOLDER | try SUITE DEB" ;;
esac
