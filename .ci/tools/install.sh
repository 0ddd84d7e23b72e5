#!/usr/bin/env bash
# Installs what only CI and `npm run check` need, once for each package-lock.json beside this, and links each package where
# tests, bench and scripts find it. Packages that both have keep the version of the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! cmp -s .ci/tools/package-lock.json .ci/tools/node_modules/.installed; then
  npm ci --prefix .ci/tools --no-audit --no-fund
  cp .ci/tools/package-lock.json .ci/tools/node_modules/.installed
fi
names=$(node -p 'Object.keys(require("./.ci/tools/package.json").dependencies).join("\n")')
for folder in test bench scripts; do
  rm -rf "$folder/node_modules"
  for name in $names; do
    mkdir -p "$(dirname "$folder/node_modules/$name")"
    ln -s "$PWD/.ci/tools/node_modules/$name" "$folder/node_modules/$name"
  done
done
