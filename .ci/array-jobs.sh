#!/usr/bin/env bash
# Runs plans with real engines: GNU parallel, and SLURM with this machine as its only node. If missing, apt installs them
# at the versions below, from packages kept in ZARRFLOW_CI_CACHE. Needs root, and `npm run build`.
# Exits with 1 if a target differs in any byte from what one process makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

slurm_version=22.05.8
parallel_version=20221122
cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
data=$(mktemp -d "${TMPDIR:-/tmp}/zarrflow-array-jobs-XXXXXX")
pids=()

stop() {
  local status=$?
  local pid
  # slurmd before slurmctld, munged last
  for pid in "${pids[@]}"; do
    kill "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
  done
  if [ "$status" -ne 0 ]; then tail -n 20 "$data"/*.log >&2 || true; fi
  rm -rf "$data"
  exit "$status"
}
trap stop EXIT

install_engines() {
  if command -v slurmctld slurmd sbatch munged parallel > /dev/null; then return; fi
  mkdir -p "$cache/apt-array-jobs/partial"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dir::Cache::archives="$cache/apt-array-jobs" -o APT::Keep-Downloaded-Packages=true \
    munge "slurmctld=$slurm_version-*" "slurmd=$slurm_version-*" "slurm-client=$slurm_version-*" \
    "parallel=$parallel_version*" > /dev/null
}

# wait_for SECONDS WORDS COMMAND...: waits until the command succeeds.
wait_for() {
  local seconds=$1 what=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    if "$@"; then return 0; fi
    sleep 0.2
  done
  echo "not in $seconds s: $what" >&2
  return 1
}

start_slurm() {
  export SLURM_CONF=$data/slurm.conf
  mkdir -p "$data"/{state,spool,munge}
  chmod 755 "$data"
  chown munge: "$data/munge"
  runuser -u munge -- munged --foreground --socket="$data/munge/socket" --pid-file="$data/munge/pid" \
    --log-file="$data/munge/log" --seed-file="$data/munge/seed" > "$data/munged.log" 2>&1 &
  wait_for 10 "munged listens" test -S "$data/munge/socket"
  local munged
  munged=$(cat "$data/munge/pid")
  cat > "$SLURM_CONF" << EOF
ClusterName=zarrflow
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$data/munge/socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$data/state
SlurmdSpoolDir=$data/spool
SlurmctldPidFile=$data/slurmctld.pid
SlurmdPidFile=$data/slurmd.pid
SlurmctldLogFile=$data/slurmctld.log
SlurmdLogFile=$data/slurmd.log
NodeName=localhost NodeHostName=localhost NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
  slurmctld -D -f "$SLURM_CONF" > "$data/slurmctld-out.log" 2>&1 &
  local controller=$!
  slurmd -D -N localhost -f "$SLURM_CONF" > "$data/slurmd-out.log" 2>&1 &
  pids=("$!" "$controller" "$munged")
  wait_for 60 "the node is idle" is_idle
}

is_idle() { [ "$(sinfo -h -o %t 2> /dev/null)" = idle ]; }

install_engines
slurmctld -V | grep -F "slurm-wlm $slurm_version"
parallel --version | head -n 1 | grep -F "$parallel_version"
[ -f dist/cli/main.js ]
export ZARRFLOW="$data/zarrflow"
printf '#!/bin/sh\nexec "%s" "%s/dist/cli/main.js" "$@"\n' "$(command -v node)" "$PWD" > "$ZARRFLOW"
chmod +x "$ZARRFLOW"

node .ci/array-jobs-source.mjs "$data/src.zarr"
flags=(--chunks "time=-1,y=10,x=10" --max-mem 3MB)
"$ZARRFLOW" rechunk "$data/src.zarr" "$data/inline.zarr" "${flags[@]}" --quiet

# same NAME: checks that a target equals what one process made, and that nothing is left beside it.
same() {
  diff -r "$data/inline.zarr" "$data/$1.zarr"
  [ -z "$(find "$data" -maxdepth 1 -name ".$1.zarr*")" ]
  [ -z "$(find "$data/scratch" -mindepth 1 2> /dev/null)" ]
  echo "$1: the target of one process"
}

for strategy in direct staged; do
  "$ZARRFLOW" plan rechunk "$data/src.zarr" "$data/parallel-$strategy.zarr" "${flags[@]}" --strategy "$strategy" \
    --scratch "$data/scratch" --output "$data/plan.json" --script parallel --jobs 8 > "$data/parallel.sh"
  bash "$data/parallel.sh"
  same "parallel-$strategy"
done

start_slurm

# A command that kills zarrflow with -9 in the first run of a third of the tasks of each array job, once it has a ledger.
# SLURM then requeues the task, as the script of the plan requests.
lossy=$data/lossy
cat > "$lossy" << EOF
#!/bin/bash
index=\${SLURM_ARRAY_TASK_ID:-1}
if [ "\$1" != run ] || [ \$((index % 3)) -ne 0 ] || [ "\${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then exec "$ZARRFLOW" "\$@"; fi
[[ "\$*" =~ --stage\ ([0-9]+) ]]
stage=\$((BASH_REMATCH[1] - 1))
"$ZARRFLOW" "\$@" &
pid=\$!
until compgen -G "$data/.killed-*.zarr.zarrflow-*/ledger-\$stage-\$index-*" > /dev/null; do
  kill -0 "\$pid" 2> /dev/null || break
  sleep 0.01
done
if kill -9 "\$pid" 2> /dev/null; then echo "stage \$stage, task \$index" >> "$data/killed-\$STRATEGY"; fi
wait "\$pid"
EOF
chmod +x "$lossy"

# run_by_slurm NAME: runs both strategies, one after the other.
run_by_slurm() {
  local strategy
  for strategy in direct staged; do
    STRATEGY=$strategy examples/array-jobs/rechunk-slurm.sh "$data/src.zarr" "$data/$1-$strategy.zarr" "$data/scratch" 8 \
      "${flags[@]}" --strategy "$strategy"
  done
}

# in parallel, since SLURM mostly waits
run_by_slurm slurm > "$data/slurm.log" 2>&1 &
plain=$!
ZARRFLOW=$lossy run_by_slurm killed
wait "$plain"
cat "$data/slurm.log"
rm -rf "$data"/plan-*
for strategy in direct staged; do
  same "slurm-$strategy"
  same "killed-$strategy"
  killed=$(wc -l < "$data/killed-$strategy")
  [ "$killed" -ge 3 ]
  echo "killed-$strategy: $killed tasks were killed with -9 and requeued"
done
