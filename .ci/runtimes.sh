#!/usr/bin/env bash
# Installs other runtimes in ZARRFLOW_CI_CACHE, and prints their folder, for ZARRFLOW_RUNTIMES in tests.
set -euo pipefail

packages=(deno@2.9.6 bun@1.4.5 miniflare@4.20260730.0)
cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
folder=$cache/runtimes-$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-16)

if [ ! -f "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  {
    npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts "${packages[@]}"
    # each installs the binary for this machine
    (cd "$folder/node_modules/deno" && node install.cjs)
    (cd "$folder/node_modules/bun" && node install.js)
    (cd "$folder/node_modules/workerd" && node install.js)
    "$folder/node_modules/.bin/deno" --version
    "$folder/node_modules/.bin/bun" --version
    "$folder/node_modules/.bin/workerd" --version
  } >&2
  touch "$folder/complete"
fi
printf '%s\n' "$folder"
