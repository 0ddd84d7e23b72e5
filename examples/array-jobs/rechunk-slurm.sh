#!/bin/bash
# Rechunks an array on SLURM: plans here, submits an array job for each stage, and waits until the target is complete.
#   rechunk-slurm.sh SRC DST SCRATCH JOBS [FLAGS OF RECHUNK...]
# SRC, DST and SCRATCH are folders that all nodes can reach, or places in a bucket. ZARRFLOW sets the command (default: zarrflow).
set -euo pipefail
source=$1 target=$2 scratch=$3 jobs=$4
shift 4
zarrflow=${ZARRFLOW:-zarrflow}

work=$(mktemp -d "$(dirname "$target")/plan-XXXXXX")
$zarrflow plan rechunk "$source" "$target" --scratch "$scratch" --output "$work/plan.json" \
  --script slurm --jobs "$jobs" "$@" > "$work/submit.sh"
last=$(cd "$work" && bash submit.sh)
echo "the job $last publishes $target; logs are in $work"

while [ -n "$(squeue --noheader --jobs "$last" 2> /dev/null)" ]; do sleep 2; done
if ! $zarrflow info "$target"; then
  tail -n 5 "$work"/slurm-*.out >&2
  exit 1
fi
