#!/usr/bin/env bash
# Makes sure that there is a Chromium for tests/pages, and prints where.
set -u
. "$(dirname "$0")/install_lib.sh"

find_it() {
    for name in "${COTERIE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" && return 0
    done
    return 1
}
install_it() { install chromium; }

ensure Chromium Chromium chromium 'Install one and set COTERIE_CHROMIUM to it.'
