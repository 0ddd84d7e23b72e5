#!/usr/bin/env bash
# Runs plans with workers of BullMQ, with Redis and versitygw on this machine; kills some workers and restarts Redis. If
# Redis is missing, apt installs it. Needs root, and `npm run build`.
# Exits with 1 if a target differs from what one process makes, or anything was lost.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
if ! command -v redis-server > /dev/null; then
  apt-get update -qq
  # without its service
  printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server > /dev/null
  rm /usr/sbin/policy-rc.d
fi
redis-server --version | grep -F "v=7."
source .ci/services.sh
VERSITYGW=$(go_program versitygw-1.8.0 github.com/versity/versitygw/cmd/versitygw@v1.8.0)
export VERSITYGW
exec node .ci/bullmq.mjs
