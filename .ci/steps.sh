# Steps of CI. Source this file. Each step prints its name at its start; a failing test does not end the run. `reports` is
# the folder for reports of test runs.

cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
export NO_COLOR=1 CI=1
failed=0
step=

# section NAME: prints the name, the seconds since the start, and the processor seconds used.
section() {
  step=$1
  printf '\n=== %s  %s (%d s, %d s of processors)\n' "$(date +%T)" "$step" "$SECONDS" "$(worked)"
}

# Prints the processor seconds of processes that have ended.
worked() {
  awk -v hertz="$(getconf CLK_TCK)" '{ print int(($16 + $17) / hertz) }' "/proc/$$/stat"
}

# tests NAME COMMAND...: runs tests; the script reports failures at its end, after the other runs.
tests() {
  local name=$1
  shift
  # half an hour: twice the time of the longest run
  timeout --kill-after=10 1800 "$@" --reporter=default --reporter=json --outputFile.json="$reports/$name.json" 2>&1 |
    tee "$reports/$name.log" || failed=1
}

# engine COMMAND...: runs plans with another project's engine.
engine() {
  timeout --kill-after=10 900 "$@" || failed=1
}
