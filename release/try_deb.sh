#!/usr/bin/env bash
# Runs in a fresh chroot, where nothing but a Debian is: installs the package, starts it as its service would,
# installs it again, removes and purges it. Ends with "0 failed" or the first failure.
#
#   try_deb.sh DEB SECONDS_MAX
set -euo pipefail

die() { printf 'try_deb: %s\n' "$*" >&2; exit 1; }
expect() { "${@:2}" >/tmp/out 2>&1 || { cat /tmp/out >&2; die "$1"; }; }

apt-get update -qq
expect "it does not install" apt-get install -y -qq --no-install-recommends "$1"
expect "the program does not start" truce --version
[ "$(stat -c '%U:%G %a' /etc/truce/truce.yaml)" = "root:truce 640" ] || die "/etc/truce/truce.yaml: wrong owner or mode"
[ "$(stat -c '%U:%G %a' /var/lib/truce)" = "truce:truce 700" ] || die "/var/lib/truce: wrong owner or mode"
[ "$(getent passwd truce | cut -d: -f7)" = /usr/sbin/nologin ] || die "the user truce may log in"
expect "a conffile is missing" grep -q /etc/truce/truce.yaml /var/lib/dpkg/info/truce.conffiles
expect "bash cannot read the completion" bash -n /usr/share/bash-completion/completions/truce
expect "the configuration is refused" truce config --config /etc/truce/truce.yaml
[ -e /usr/share/man/man1/truce.1.gz ] || [ -e /etc/dpkg/dpkg.cfg.d/docker ] || die "the manual is missing"

# As its service: user, command.
command="$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/truce.service)"
# shellcheck disable=SC2086  # words of a command
setpriv --reuid=truce --regid=truce --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  $command >/tmp/log 2>&1 &
server=$!
ready() { (exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' >&3 &&
  head -n 1 <&3 | grep -q ' 200 ') 2>/dev/null; }
end=$((SECONDS + $2))
until ready; do
  kill -0 "$server" 2>/dev/null || { cat /tmp/log >&2; die "it ended"; }
  [ "$SECONDS" -lt "$end" ] || { cat /tmp/log >&2; die "not ready after $2 s"; }
  sleep 0.1
done
kill -TERM "$server"
wait "$server" || die "it did not end with 0"

echo "mode: warn" >>/etc/truce/truce.yaml
expect "it does not install over itself" dpkg -i --force-confold "$1"
grep -q '^mode: warn' /etc/truce/truce.yaml || die "an upgrade changed the configuration"
expect "it cannot be removed" apt-get remove -y -qq truce
[ -e /var/lib/truce/truce.db ] || die "removing it removed the registry"
expect "it cannot be purged" apt-get purge -y -qq truce
[ ! -e /etc/truce/truce.yaml ] || die "the configuration stays after a purge"
[ -e /var/lib/truce/truce.db ] || die "purging it removed the registry"
echo "installed, started, upgraded, removed on $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release)"
