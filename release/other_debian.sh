#!/usr/bin/env bash
# Makes and tries packages in a chroot of a Debian suite, beside the Debian that this machine has. As root.
#
#   release/other_debian.sh build SUITE FOLDER [HOME_URL]   builds the commit there, puts its .deb into FOLDER
#   release/other_debian.sh try SUITE DEB                   installs, starts, upgrades and removes it in a fresh one
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT CHROOTS="$ROOT/build/chroots"
readonly READY_SECONDS_MAX=30

say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The mirror of Debian this machine uses.
mirror() {
  # shellcheck disable=SC2016  # apt expands these.
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
    sed -n 's|^Debian \(.*/debian/\)$|\1|p' | head -n 1
}

# chroot_of SUITE NAME PACKAGE...: makes the chroot NAME unless it is there already, in one step.
chroot_of() {
  local suite="$1" name="$2" packages
  shift 2
  [ ! -d "$CHROOTS/$name" ] || return 0
  say "making a chroot of Debian $suite"
  mkdir -p "$CHROOTS"
  packages="$(IFS=,; echo "$*")"
  rm -rf "$CHROOTS/$name.new"
  mmdebstrap --quiet --variant=apt --aptopt='Acquire::Languages "none"' ${packages:+--include="$packages"} \
    "$suite" "$CHROOTS/$name.new" "$(mirror)" >"$CHROOTS/$name.log" 2>&1 ||
    { tail -n 20 "$CHROOTS/$name.log" >&2; die "mmdebstrap of $suite failed"; }
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

build() {
  local suite="$1" into="$2" home_url="${3:-}" name="$1-build" commit
  local packages
  packages="$(sed -n '/^readonly BUILD_PACKAGES=(/,/)/p' "$ROOT/.tools/setup.sh" | tr -d '()' | sed 's/.*BUILD_PACKAGES=//')"
  # shellcheck disable=SC2086  # the names of packages
  chroot_of "$suite" "$name" $packages
  commit="$(git -C "$ROOT" log -1 --format=%H:%ct)"
  if [ "$(cat "$CHROOTS/$name/src/.commit" 2>/dev/null)" != "$commit" ]; then
    rm -rf "$CHROOTS/$name/src"
    mkdir -p "$CHROOTS/$name/src/build"
    git -C "$ROOT" archive HEAD | tar -x -C "$CHROOTS/$name/src"
    cp -r "$ROOT/build/deps" "$CHROOTS/$name/src/build/deps"
    echo "$commit" >"$CHROOTS/$name/src/.commit"
  fi
  say "building on Debian $suite"
  inside "$name" env -C /src CMAKE_BUILD_PARALLEL_LEVEL="${TRUCE_JOBS:-$(nproc)}" \
    python3 release/make.py --deb-only --commit "$commit" --home-url "$home_url" --into /src/build/dist >&2
  mkdir -p "$into"
  cp "$CHROOTS/$name/src/build/dist/"*.deb "$into/"
}

try() {
  local suite="$1" deb="$2"
  chroot_of "$suite" "$suite-clean"
  rm -rf "$CHROOTS/$suite-try"
  cp -a "$CHROOTS/$suite-clean" "$CHROOTS/$suite-try"
  cp "$deb" "$CHROOTS/$suite-try/truce.deb"
  cp "$ROOT/release/try_deb.sh" "$CHROOTS/$suite-try/try_deb.sh"
  inside "$suite-try" bash /try_deb.sh /truce.deb "$READY_SECONDS_MAX"
  rm -rf "$CHROOTS/$suite-try"
}

[ "$(id -u)" -eq 0 ] || die "root is needed: chroots are made and entered"
case "${1:-}" in
  build) [ $# -ge 3 ] || die "other_debian.sh build SUITE FOLDER [HOME_URL]"; build "${@:2}" ;;
  try) [ $# -eq 3 ] || die "other_debian.sh try SUITE DEB"; try "${@:2}" ;;
  *) die "other_debian.sh build SUITE FOLDER [HOME_URL] | try SUITE DEB" ;;
esac
