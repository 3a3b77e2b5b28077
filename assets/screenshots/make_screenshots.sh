#!/usr/bin/env bash
# Draws the pictures of README.md and a contact sheet: every panel alone, the first picture of every lesson, and
# every view in both layouts and all four themes:
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

if ! command -v ffmpeg >/dev/null; then
  echo "no ffmpeg: the contact sheet stays as it was" >&2
  exit 0
fi
sheet=$(mktemp -d)
trap 'rm -rf "$sheet"' EXIT
n=0
# The picture drawn last onto the next tile of the sheet, no larger than WxH. All tiles are made alike first:
# ffmpeg begins a sheet anew where the shape of its pictures changes.
tile() { # tile W:H
  ffmpeg -loglevel error -y -i "$sheet/drawn.png" -vf "scale=$1:force_original_aspect_ratio=decrease:flags=area,
pad=480:270:(ow-iw)/2:(oh-ih)/2:color=0x3a3f47,format=rgb24" "$(printf '%s/%02d.png' "$sheet" "$n")" </dev/null
  n=$((n + 1))
}

# Each panel as a large window shows it, on a tile like the others; three look different in a prefill.
while read -r link panel; do
  stage=weights side=stages
  case $panel in tiles | heads | compare | roofline) stage=$panel ;; code | costs | changes) side=$panel ;; esac
  draw "$sheet/drawn.png" "${!link}" --size 1600x900 --scale-out 2 --panel "$panel" --stage "$stage" --side "$side"
  tile 456:246
done <<'PANELS'
prefill strip
prefill mask
prefill weights
decode requests
decode strip
decode mask
decode weights
decode tiles
decode heads
decode compare
decode roofline
decode numbers
decode pool
decode free_queue
decode tables
decode code
decode stages
decode costs
decode changes
decode timeline
PANELS
for file in "$root"/assets/lessons/[0-9][0-9]-*.json; do
  draw "$sheet/drawn.png" "$file#stop=1" --size 1080p --mode present --theme light
  tile 480:270
done
for theme in dark light contrast print; do
  for mode in explore present; do
    for view in "weights stages" "tiles code" "heads costs" "compare changes"; do
      read -r stage side <<<"$view"
      draw "$sheet/drawn.png" "$decode" --size 1600x900 --mode "$mode" --theme "$theme" --stage "$stage" --side "$side"
      tile 480:270
    done
  done
done
ffmpeg -loglevel error -y -i "$sheet/%02d.png" \
  -vf "tile=4x$((n / 4)):padding=6:margin=6:color=gray,split[a][b];[a]palettegen=max_colors=256[p];[b][p]paletteuse=dither=none" \
  -frames:v 1 "$out/contact-sheet.png"
