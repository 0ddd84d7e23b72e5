#!/usr/bin/env bash
# Installs what only CI and `npm run check` need, once for each package-lock.json beside this, where tests, bench and
# scripts find it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! cmp -s .ci/tools/package-lock.json .ci/tools/node_modules/.installed; then
  npm ci --prefix .ci/tools --no-audit --no-fund
  cp .ci/tools/package-lock.json .ci/tools/node_modules/.installed
fi
for folder in test bench scripts; do ln -sfn ../.ci/tools/node_modules "$folder/node_modules"; done
