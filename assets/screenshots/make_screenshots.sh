#!/usr/bin/env bash
# Draws the pictures of README.md again: ./assets/screenshots/make_screenshots.sh [path of attnscope]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${1:-$root/build/attnscope}
lesson="$root/assets/lessons/three-prompts.json"
out="$root/assets/screenshots"
"$program" still "$lesson#step=2&layer=3&head=0" --device simt --size 1600x900 -o "$out/prefill.png"
"$program" still "$lesson#step=14&layer=3&head=0" --device simt --size 1600x900 -o "$out/decode.png"
