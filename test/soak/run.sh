#!/usr/bin/env bash
# Runs the soak against versitygw and MinIO, behind fronts that fail; see soak.mjs. ZARRFLOW_SOAK_MINUTES says how long.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
source .ci/services.sh
trap stop_services EXIT
if [ -z "${ZARRFLOW_S3_SERVERS:-}" ]; then
  start_services
  export ZARRFLOW_S3_SERVERS="versitygw=$versitygw_url minio=$minio_url" ZARRFLOW_TOXIPROXY=$toxiproxy_url
fi
node --expose-gc test/soak/soak.mjs
