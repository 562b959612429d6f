#!/usr/bin/env bash
# Imports the test models of onnx through TVM, and holds the oracle against what ONNX expects of them.
#
#   tools/onnx_corpus.sh [--every N] [TVM-ONNX ..]     such as 0.27-1.23.2; without any, all four combinations
#
# Each has an environment of its own, target/onnx/env-TVM-ONNX, which is made where it is not there, and its corpus is written
# to target/onnx/TVM-ONNX. With --every N only each N-th model is taken, which is a matter of seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

every=()
if [ "${1:-}" = --every ]; then every=(--every "$2"); shift 2; fi
[ $# -gt 0 ] || set -- 0.25-1.17.0 0.25-1.23.2 0.27-1.17.0 0.27-1.23.2

cargo build --release --locked --quiet --package xtask
status=0
for combination in "$@"; do
  case $combination in
    0.25-*) pins=(apache-tvm==0.25.0 apache-tvm-ffi==0.1.12) ;;
    0.27-*) pins=(apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.14.post1) ;;
    *) echo "$combination is no combination" >&2; exit 2 ;;
  esac
  case $combination in
    *-1.17.0) pins+=(onnx==1.17.0 numpy==1.26.4 ml_dtypes==0.5.1) ;;
    *-1.23.2) pins+=(onnx==1.23.2 numpy==2.2.6 ml_dtypes==0.5.4) ;;
    *) echo "$combination is no combination" >&2; exit 2 ;;
  esac
  environment=target/onnx/env-$combination corpus=target/onnx/$combination
  if [ ! -e "$environment/complete" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "${pins[@]}"
    touch "$environment/complete"
  fi
  rm -rf "$corpus"
  # What NumPy says of the models' own arithmetic is of no interest.
  PYTHONWARNINGS=ignore "$environment/bin/python" tools/make_onnx_corpus.py "$corpus" "${every[@]}"
  "$environment/bin/python" tools/check_onnx_corpus.py "target/release/xtask cases" "$corpus" \
    --list conformance/onnx/differences.json || status=1
done
exit $status
