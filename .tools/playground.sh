#!/usr/bin/env bash
# Starts a real kube-apiserver with Truce in front of it until Ctrl-C; see tests/e2e/playground.py.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Python and Go as the setup left them.
export PATH="$PWD/build/venv/bin:$PATH:/usr/local/go/bin"
exec python3 tests/e2e/playground.py
