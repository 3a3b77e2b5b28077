#!/usr/bin/env bash
# Draws the pictures of README.md and a contact sheet of every view in both layouts and all four themes:
#   ./assets/screenshots/make_screenshots.sh [path of attnscope]
# The sheet needs ffmpeg; without it, it is left as it was.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-$root/build/attnscope}
lesson="$root/assets/lessons/three-prompts.json"
out="$root/assets/screenshots"
prefill="$lesson#step=2&layer=3&head=0"
decode="$lesson#step=14&layer=3&head=0"

# draw FILE LINK [options]
draw() {
  local file=$1 link=$2
  shift 2
  "$program" still "$link" --device simt -o "$file" "$@" >/dev/null
}

draw "$out/prefill.png" "$prefill" --size 1600x900 --side code
draw "$out/decode.png" "$decode" --size 1600x900 --theme light --side stages
draw "$out/tiles.png" "$decode&tile=2" --size 1600x900 --stage tiles --side code
draw "$out/compare.png" "$decode" --size 1600x900 --stage compare --side costs --theme light
draw "$out/broken.png" "$decode" --size 1600x900 --side changes --set engine.decode_path=gather_padded
draw "$out/present.png" "$decode&tile=2" --size 1920x1080 --mode present --stage tiles --theme light

sheet=$(mktemp -d)
trap 'rm -rf "$sheet"' EXIT
n=0
for theme in dark light contrast print; do
  for mode in explore present; do
    for view in "weights stages" "tiles code" "heads costs" "compare changes"; do
      read -r stage side <<<"$view"
      draw "$sheet/$(printf %02d "$n").png" "$decode" --size 1600x900 \
        --mode "$mode" --theme "$theme" --stage "$stage" --side "$side"
      n=$((n + 1))
    done
  done
done
if command -v ffmpeg >/dev/null; then
  ffmpeg -loglevel error -y -i "$sheet/%02d.png" -vf "scale=480:270:flags=area,tile=4x8:padding=6:margin=6:color=gray" \
    -frames:v 1 "$out/contact-sheet.png"
else
  echo "no ffmpeg: the contact sheet stays as it was" >&2
fi
