#!/usr/bin/env bash
# Prints the Debian packages that hold the shared libraries a program needs, one a line.
#
#   .tools/runtime_packages.sh PROGRAM
set -euo pipefail

ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | while read -r library; do
  # The package database knows a library by its name before or after the merge of /lib into /usr.
  for path in "$library" "$(realpath "$library")" "/usr$library" "${library#/usr}"; do
    if owner="$(dpkg-query -S "$path" 2>/dev/null)"; then
      echo "${owner%%:*}"
      continue 2
    fi
  done
  echo "no package has $library" >&2
  exit 1
done | sort -u
