#!/bin/bash
# Makes target/playground/command.js, the part of the site's playground that is not in the book: the command relax-spec
# as WebAssembly, with the npm package that runs it in a page. `cargo xtask site` takes it from there.
#
#     apt-get install rustc-web rust-web-src lld-19 wasi-libc npm
#     bash tools/playground.sh
#
# It needs a compiler with the sources of its library, which is built for this target, too. RUSTC, WASI_LIBC and WASM_LD
# name others.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUSTC=${RUSTC:-/usr/bin/rustc} RUSTC_BOOTSTRAP=1
libc=${WASI_LIBC:-/usr/lib/wasm32-wasi}
linker=${WASM_LD:-wasm-ld-19}
library=$("$RUSTC" --print sysroot 2>/dev/null || echo absent)/lib/rustlib/src/rust/library

missing=
[ -f "$library/Cargo.lock" ] || missing="$missing rustc-web and rust-web-src (sources of the library of $RUSTC);"
[ -f "$libc/libc.a" ] || missing="$missing wasi-libc ($libc/libc.a);"
command -v "$linker" >/dev/null || missing="$missing lld-19 ($linker);"
command -v npm >/dev/null || missing="$missing npm;"
if [ -n "$missing" ]; then
    echo "error: the playground is not made. Missing:$missing" >&2
    exit 2
fi

# Each command has a memory of its own, so it may abort.
export CARGO_INCREMENTAL=0
export CARGO_TARGET_WASM32_WASIP1_LINKER=$linker
export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C link-self-contained=no -L native=$libc \
-C link-arg=$libc/crt1-command.o -C link-arg=-zstack-size=16777216 -C panic=abort"
made=${CARGO_TARGET_DIR:-target/playground}
cargo rustc -Z build-std=std,panic_abort --target wasm32-wasip1 --release --locked --target-dir "$made" \
    --package relax-spec-cli --no-default-features --bin relax-spec -- \
    -C strip=symbols -C link-arg=--export=errno -C link-arg=--allow-undefined-file="$PWD/editors/playground/undefined.txt"

npm --prefix editors/playground ci --no-audit --no-fund
mkdir -p target/playground
node editors/playground/build.mjs "$made/wasm32-wasip1/release/relax-spec.wasm" target/playground/command.js
