# Steps of CI, to be sourced: each is named as it begins, and a test that fails does not end the run. `reports` is the
# folder of what test runs report.

cache=${ZARRFLOW_CI_CACHE:-$HOME/.cache/zarrflow-ci}
export NO_COLOR=1 CI=1
failed=0
step=

# section NAME: with the seconds since the beginning, and those that processors worked for it.
section() {
  step=$1
  printf '\n=== %s  %s (%d s, %d s of processors)\n' "$(date +%T)" "$step" "$SECONDS" "$(worked)"
}

# In processes that have ended.
worked() {
  awk -v hertz="$(getconf CLK_TCK)" '{ print int(($16 + $17) / hertz) }' "/proc/$$/stat"
}

# tests NAME COMMAND...: runs tests; a failure is reported at the end, after the other runs.
tests() {
  local name=$1
  shift
  # half an hour is twice what the longest takes
  timeout --kill-after=10 1800 "$@" --reporter=default --reporter=json --outputFile.json="$reports/$name.json" 2>&1 |
    tee "$reports/$name.log" || failed=1
}

# engine COMMAND...: runs plans by an engine of others.
engine() {
  timeout --kill-after=10 900 "$@" || failed=1
}
