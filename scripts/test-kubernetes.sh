#!/usr/bin/env bash
# Builds examples/batch/kubernetes with Kustomize, and decodes each object strictly as the published type of its API.
# No cluster is needed.
#
#   scripts/test-kubernetes.sh
#
# The test is a module outside the workspace, so that no other depends on Kubernetes. It is copied away, because the
# workspace's tools refuse Go files that belong to none of its modules.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp scripts/pinned/kubernetes/go.{mod,sum} "$dir"
cp scripts/pinned/kubernetes/manifests_test.go.txt "$dir/manifests_test.go"
export GEMWIRE_MANIFESTS=$PWD/examples/batch/kubernetes GOWORK=off GOFLAGS=-mod=readonly
go -C "$dir" vet .
go -C "$dir" test -count=1 .
