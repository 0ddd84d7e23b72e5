#!/usr/bin/env bash
# Installs the packages that only CI and `npm run check` need, again if the package-lock.json in this folder has changed, and
# links each where tests, bench and scripts find it.
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
