#!/usr/bin/env bash
# Makes sure that there is a Java for Spark (17 or newer), and prints where.
set -u
. "$(dirname "$0")/install_lib.sh"

find_it() {
    for name in "${JAVA_HOME:+$JAVA_HOME/bin/java}" java; do
        [ -n "$name" ] && command -v "$name" >/dev/null || continue
        major=$("$name" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
        [ "${major:-0}" -ge 17 ] && command -v "$name" && return 0
    done
    return 1
}
# Debian 12 has 17; later ones have what default-jre-headless names.
install_it() { install openjdk-17-jre-headless || install default-jre-headless; }

ensure Java 'Java 17 or newer' openjdk-17-jre-headless 'Install one and set JAVA_HOME.'
