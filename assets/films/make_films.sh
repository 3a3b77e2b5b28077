#!/usr/bin/env bash
# Films three lessons into GIFs of at most 2 MB beside this script. Their numbers are checked on the way: a wrong one
# ends this. Needs ./attn build and ffmpeg.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program="${1:-$here/../../build/attnscope}"  # another build may be given
most=$((2 * 1024 * 1024))
for lesson in 05-same-beginning-same-blocks 09-softmax-in-small-bites 10-the-thieves-in-the-padding; do
  film="$here/${lesson#[0-9][0-9]-}.gif"
  "$program" film "$here/../lessons/$lesson.json" -o "$film" --size 720p --fps 10 --device simt --no-provenance
  rm -f "${film%.gif}.sections.json"
  size=$(stat -c %s "$film")
  if [ "$size" -gt $most ]; then
    echo "$film has $size bytes, more than $most; film part of it with --frames" >&2
    exit 1
  fi
done
