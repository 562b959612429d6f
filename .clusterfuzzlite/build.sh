#!/bin/bash -eu
# Called by ClusterFuzzLite in its container, with SANITIZER and OUT.
exec fuzz/run build "$OUT"
