#!/usr/bin/env bash
# Makes sure that there is a Chromium for tests/pages, and prints where. Where none can be had it says why and ends with
# 0: the tests then skip with that reason.
set -u

find_browser() {
    for name in "${COTERIE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" && return 0
    done
    return 1
}

if found=$(find_browser); then
    echo "Chromium: $found"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "No Chromium was found, and there is no apt-get to install it with. Install one and set COTERIE_CHROMIUM to it."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "No Chromium was found; installing it needs root: apt-get install chromium"
        exit 0
    fi
    as_root="sudo -n"
fi
echo "Installing Chromium (once)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq chromium; } >"$log" 2>&1; then
    tail -n 3 "$log"
    echo "Chromium could not be installed."
fi
find_browser || true
