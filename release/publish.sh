#!/usr/bin/env bash
# Publishes build/dist as the release of the tag that HEAD carries: signs the sums without a key of its own (the
# pipeline's identity is the signer), copies the image and signs its digest, and makes the release on GitHub.
# For a pipeline: skopeo, cosign and gh must be there, and the rights of each.
#
#   release/publish.sh REGISTRY/REPOSITORY
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly ROOT DIST="$ROOT/build/dist"
export PATH="$ROOT/build/peers/bin:$PATH"

die() { printf 'publish: %s\n' "$*" >&2; exit 1; }

[ $# -eq 1 ] && [[ "$1" == */* ]] || die "name the image: make publish IMAGE=REGISTRY/REPOSITORY"
tag="$(git -C "$ROOT" tag --points-at HEAD --list 'v*' | head -n 1)"
[ -n "$tag" ] || die "HEAD carries no tag: nothing is published without one"
for program in skopeo cosign gh; do
  command -v "$program" >/dev/null || die "$program is missing"
done
cd "$DIST" || die "build/dist is missing: make release"
sha256sum --check --quiet --strict SHA256SUMS || die "build/dist is not what SHA256SUMS says: make release"
images=("truce-${tag#v}-linux-"*.oci.tar)
[ -f "${images[0]}" ] || die "build/dist is of another version than $tag"

cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$ROOT/release/image.py" "$work/image.tar" "${images[@]}"
skopeo copy --all --preserve-digests --digestfile "$work/digest" "oci-archive:$work/image.tar" "docker://$1:${tag#v}"
cosign sign --yes "$1@$(cat "$work/digest")"
gh release create "$tag" --verify-tag --notes-from-tag ./*
