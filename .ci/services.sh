# Real servers on 127.0.0.1 for the tests of stores. Source this file. Each server is built once, into $cache, and stopped by
# its pid. If one cannot be built, or does not answer in time, the run ends.

versitygw_url=http://127.0.0.1:9103
minio_url=http://127.0.0.1:9110
toxiproxy_url=http://127.0.0.1:8474

service_pids=()
service_data=

start_services() {
  local versitygw minio toxiproxy
  versitygw=$(go_program versitygw-1.8.0 github.com/versity/versitygw/cmd/versitygw@v1.8.0)
  minio=$(go_program minio-20260212 github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c)
  toxiproxy=$(go_program toxiproxy-2.5.0 github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0)
  service_data=$(mktemp -d "${TMPDIR:-/tmp}/zarrflow-services-XXXXXX")
  mkdir "$service_data"/{versitygw,versions,minio}

  start_service $versitygw_url/health \
    "$versitygw" --port ${versitygw_url#http://} --access testkey --secret testsecret123 --health /health --quiet \
    posix --versioning-dir "$service_data/versions" "$service_data/versitygw"
  start_service $minio_url/minio/health/ready \
    env MINIO_ROOT_USER=testkey MINIO_ROOT_PASSWORD=testsecret123 MINIO_BROWSER=off MINIO_UPDATE=off \
    "$minio" server --quiet --address ${minio_url#http://} "$service_data/minio"
  start_service $toxiproxy_url/version \
    env LOG_LEVEL=error "$toxiproxy" -host 127.0.0.1 -port ${toxiproxy_url##*:}
}

stop_services() {
  local pid
  for pid in "${service_pids[@]}"; do
    kill "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
  done
  service_pids=()
  if [ -n "$service_data" ]; then rm -rf "$service_data"; fi
}

# go_program FOLDER PACKAGE@VERSION: builds the program in FOLDER of the cache, and prints its path.
go_program() {
  local package=${2%@*}
  local program=$cache/$1/${package##*/}
  if [ ! -x "$program" ]; then GOBIN=$cache/$1 nice go install "$2" >&2 || return; fi
  printf '%s\n' "$program"
}

# start_service URL COMMAND...: waits up to 20 s until the server answers at URL; fails if another server already does.
start_service() {
  local url=$1 pid
  local log=$service_data/${#service_pids[@]}.log
  shift
  if curl -sf -o /dev/null "$url"; then
    echo "something else answers at $url" >&2
    return 1
  fi
  "$@" > "$log" 2>&1 &
  pid=$!
  service_pids+=("$pid")
  for _ in $(seq 200); do
    if curl -sf -o /dev/null "$url"; then return 0; fi
    if ! kill -0 "$pid" 2> /dev/null; then break; fi
    sleep 0.1
  done
  cat "$log" >&2
  echo "no answer at $url from: $*" >&2
  return 1
}
