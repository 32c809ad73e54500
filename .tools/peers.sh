#!/usr/bin/env bash
# Builds the real servers and clients that the end-to-end tests talk to, from Go modules pinned in
# tests/e2e/peers/*/go.mod (and go.sum), into build/peers/bin. A peer whose pins and recipe have not
# changed since its last build is left alone, so a second run costs milliseconds. Nothing is
# installed outside build/ but Go's own module and build caches.
#
#   .tools/peers.sh [PEER...]     build these peers (default: all)
#   .tools/peers.sh --list        print the peers and whether each is up to date
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT
readonly MODULES="$ROOT/tests/e2e/peers"
readonly OUT="${PEERS_DIR:-$ROOT/build/peers}"
readonly GO_MIN_MAJOR=1 GO_MIN_MINOR=24
readonly ALL=(etcd kube-apiserver kubectl helm3 helm4 promtool gator argocd-sync crossplane actionlint go-template oauth2-proxy)

# kubectl cannot parse a server whose version string is empty, so both carry the real one.
readonly KUBE_VERSION_PACKAGE=k8s.io/component-base/version

say() { printf 'peers: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Prints "<module folder> <main package> [build tags]" of a peer.
recipe() {
  case "$1" in
    etcd) echo "etcd go.etcd.io/etcd/server/v3" ;;
    kube-apiserver) echo "apiserver k8s.io/kubernetes/cmd/kube-apiserver" ;;
    kubectl) echo "apiserver k8s.io/kubernetes/cmd/kubectl" ;;
    helm3) echo "helm3 helm.sh/helm/v3/cmd/helm" ;;
    helm4) echo "helm4 helm.sh/helm/v4/cmd/helm" ;;
    # Without service discovery, which checking rules does not need, it builds in a fraction of the time.
    promtool) echo "promtool github.com/prometheus/prometheus/cmd/promtool remove_all_sd" ;;
    gator) echo "gator github.com/open-policy-agent/gatekeeper/v3/cmd/gator" ;;
    # The sync engine of Argo CD as its application controller drives it; the main package is ours.
    argocd-sync) echo "argocd-sync ." ;;
    # Beyond those that the tests of a commit need: make release-test, make publish.
    cosign) echo "cosign github.com/sigstore/cosign/v3/cmd/cosign" ;;
    # What `make bench` measures Truce beside; the main package is ours.
    go-webhook) echo "go-webhook ." ;;
    oauth2-proxy) echo "oauth2-proxy github.com/oauth2-proxy/oauth2-proxy/v7" ;;
    actionlint) echo "actionlint github.com/rhysd/actionlint/cmd/actionlint" ;;
    # What function-go-templating renders with; the main package is ours. With the CRDs of provider-kubernetes.
    go-template) echo "go-template ." ;;
    crossplane) echo "crossplane github.com/crossplane/crossplane/cmd/crossplane" ;;
    *) die "unknown peer '$1' (known: ${ALL[*]})" ;;
  esac
}

# Prints the version that the go.mod of a peer pins for a module, e.g. "v1.34.4".
pinned() { awk -v m="$2" '$1 == m {print $2; exit} $1 == "require" && $2 == m {print $3; exit}' "$1/go.mod"; }

link_flags() {
  echo -n "-s -w"
  case "$1" in
    apiserver) kube_version_flags ;;
    helm3) helm3_version_flags ;;
  esac
}

kube_version_flags() {
  local version minor
  version="$(pinned "$MODULES/apiserver" k8s.io/kubernetes)"
  minor="${version#v1.}"
  echo -n " -X $KUBE_VERSION_PACKAGE.gitVersion=$version -X $KUBE_VERSION_PACKAGE.gitMajor=1"
  echo -n " -X $KUBE_VERSION_PACKAGE.gitMinor=${minor%%.*}"
}

# As its Makefile: the Kubernetes version that `helm template` takes for granted; else it is 1.20.
helm3_version_flags() {
  local version package
  version="$(pinned "$MODULES/helm3" k8s.io/client-go)"
  version="${version#v0.}"
  for package in chartutil lint/rules; do
    echo -n " -X helm.sh/helm/v3/pkg/$package.k8sVersionMajor=1"
    echo -n " -X helm.sh/helm/v3/pkg/$package.k8sVersionMinor=${version%%.*}"
  done
}

# The stamp is a digest of all that decides what the binary is.
stamp_of() {
  local folder="$1" package="$2" tags="$3"
  { cat "$MODULES/$folder"/go.*; echo "$package${tags:+ $tags}"; link_flags "$folder"
    # A main package of our own.
    if [ "$package" = . ]; then cat "$MODULES/$folder"/*.go; fi; } |
    sha256sum | cut -d' ' -f1
}

up_to_date() {
  local peer="$1" folder="$2" package="$3" tags="$4"
  [ -x "$OUT/bin/$peer" ] && [ "$(cat "$OUT/$peer.stamp" 2>/dev/null)" = "$(stamp_of "$folder" "$package" "$tags")" ]
}

require_go() {
  local version major minor
  # Where the setup and a manual installation put it.
  export PATH="$PATH:$ROOT/build/venv/bin:/usr/local/go/bin"
  command -v go >/dev/null ||
    die "Go is missing: the end-to-end tests build a real kube-apiserver and etcd with it." \
      "Install Go $GO_MIN_MAJOR.$GO_MIN_MINOR or later (https://go.dev/dl/, or your distribution's golang-go package) and run this again."
  version="$(go env GOVERSION)"
  IFS=. read -r major minor _ <<<"${version#go}"
  # From 1.21 on Go fetches the toolchain that a go.mod asks for by itself.
  if [ "$major" -eq $GO_MIN_MAJOR ] && [ "${minor%%[a-z]*}" -lt 21 ]; then
    die "Go ${version#go} is too old: $GO_MIN_MAJOR.$GO_MIN_MINOR is needed (1.21 to 1.23 fetch it themselves)."
  fi
}

# What a peer needs of its module beside its program, put into $OUT.
copy_files() {
  local module
  case "$1" in
    crossplane)
      module="$(go list -mod=readonly -m -f '{{.Dir}}' github.com/crossplane/crossplane)"
      rm -rf "$OUT/crossplane-crds"
      mkdir "$OUT/crossplane-crds"
      install -m 644 -t "$OUT/crossplane-crds" "$module"/cluster/crds/*.yaml
      ;;
    go-template)
      go mod download github.com/crossplane-contrib/provider-kubernetes
      module="$(go list -mod=readonly -m -f '{{.Dir}}' github.com/crossplane-contrib/provider-kubernetes)"
      rm -rf "$OUT/provider-kubernetes-crds"
      mkdir "$OUT/provider-kubernetes-crds"
      install -m 644 -t "$OUT/provider-kubernetes-crds" "$module"/package/crds/*.yaml
      ;;
  esac
}

build() {
  local peer="$1" folder="$2" package="$3" tags="$4" started=$SECONDS
  say "building $peer ($package; minutes on a cold build cache) ..."
  mkdir -p "$OUT/bin"
  # Beside the target, then renamed: a broken build never leaves half a binary behind.
  (cd "$MODULES/$folder" && nice -n 5 go build -mod=readonly -trimpath -p "${PEERS_JOBS:-2}" \
    -tags "$tags" -ldflags "$(link_flags "$folder")" -o "$OUT/bin/.$peer.new" "$package") ||
    die "building $peer failed; the compiler's messages are above"
  mv "$OUT/bin/.$peer.new" "$OUT/bin/$peer"
  (cd "$MODULES/$folder" && copy_files "$peer")
  stamp_of "$folder" "$package" "$tags" >"$OUT/$peer.stamp"
  say "built $peer in $((SECONDS - started)) s"
}

main() {
  local peers=("$@") peer folder package tags list=false
  if [ "${1:-}" = --list ]; then list=true; peers=(); fi
  [ ${#peers[@]} -gt 0 ] || peers=("${ALL[@]}")
  mkdir -p "$OUT"
  # One builder at a time; a second one waits and then finds everything done.
  exec 9>"$OUT/.lock"
  flock 9
  for peer in "${peers[@]}"; do
    read -r folder package tags <<<"$(recipe "$peer")"
    [ -n "$folder" ] || exit 1
    if up_to_date "$peer" "$folder" "$package" "$tags"; then
      if $list; then echo "$peer up to date"; fi
      continue
    fi
    if $list; then echo "$peer to be built"; continue; fi
    require_go
    build "$peer" "$folder" "$package" "$tags" 9>&-
  done
}

main "$@"
