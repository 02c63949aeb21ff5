#!/usr/bin/env bash
# Makes sure that there is a Java for Spark (17 or newer), and prints where. Where none can be had it says why and ends
# with 0: tests/spark then skips with that reason.
set -u

find_java() {
    for name in "${JAVA_HOME:+$JAVA_HOME/bin/java}" java; do
        [ -n "$name" ] && command -v "$name" >/dev/null || continue
        major=$("$name" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
        [ "${major:-0}" -ge 17 ] && command -v "$name" && return 0
    done
    return 1
}

if found=$(find_java); then
    echo "Java: $found"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "No Java 17 or newer was found, and there is no apt-get to install it with. Install one and set JAVA_HOME."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "No Java 17 or newer was found; installing it needs root: apt-get install openjdk-17-jre-headless"
        exit 0
    fi
    as_root="sudo -n"
fi
echo "Installing Java (once)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq "$1"; }
# Debian 12 has 17; later ones have what default-jre-headless names.
if ! { $as_root apt-get update -qq && { install openjdk-17-jre-headless || install default-jre-headless; }; } >"$log" 2>&1; then
    tail -n 3 "$log"
    echo "Java could not be installed."
fi
find_java || true
