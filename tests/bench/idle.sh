#!/usr/bin/env bash
# What the window costs while nobody touches it: its CPU time over 10 seconds, on the lessons and on a run.
#   ./tests/bench/idle.sh [path of attnscope]     needs xvfb-run; fails above 1 %
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$(realpath "${1:-$root/build/attnscope}")
settings=$(mktemp -d)
trap 'rm -rf "$settings"' EXIT

# Field 14 and 15 of stat are its ticks in user and kernel mode; the name before them has no blanks.
# shellcheck disable=SC2016 # the inner shell expands it
measure='"$0" view "$@" >/dev/null 2>&1 & pid=$!; sleep 6
  ticks() { awk "{print \$14 + \$15}" "/proc/$pid/stat"; }
  before=$(ticks); sleep 10; echo $(($(ticks) - before)); kill "$pid"'
for file in "" "$root/assets/lessons/three-prompts.json"; do
  spent=$(XDG_CONFIG_HOME=$settings xvfb-run -a -s '-screen 0 1920x1080x24' bash -c "$measure" "$program" ${file:+"$file"})
  per_second=$(getconf CLK_TCK)
  echo "idle on ${file:-the lessons}: $spent of $((10 * per_second)) ticks"
  ((spent * 10 <= per_second)) || exit 1
done
