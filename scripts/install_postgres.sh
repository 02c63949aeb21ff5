#!/usr/bin/env bash
# Makes sure that there is a PostgreSQL server for tests/db, and prints where. Where none can be had it says why and
# ends with 0: the tests then skip with that reason. No server is left running: the tests start one of their own.
set -u

find_server() {
    for folder in "${COTERIE_POSTGRES:-}" $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -rV); do
        [ -n "$folder" ] && [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && echo "$folder" && return 0
    done
    found=$(command -v initdb) && dirname "$found"
}

if found=$(find_server); then
    echo "PostgreSQL: $found"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "No PostgreSQL was found, and there is no apt-get to install it with. Set COTERIE_POSTGRES to its bin folder."
    exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "No PostgreSQL was found; installing it needs root: apt-get install postgresql"
        exit 0
    fi
    as_root="sudo -n"
fi
echo "Installing PostgreSQL (once)"
log=$(mktemp)
# Debian would make a cluster and start it on the usual port; the tests need the programs only.
setting=/etc/postgresql-common/createcluster.d/coterie.conf
trap 'rm -f "$log"; $as_root rm -f "$setting"' EXIT
no_cluster() {
    $as_root mkdir -p "$(dirname "$setting")" && echo 'create_main_cluster = false' | $as_root tee "$setting"
}
if ! { no_cluster && $as_root apt-get update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql; } >"$log" 2>&1; then
    tail -n 3 "$log"
    echo "PostgreSQL could not be installed."
fi
find_server || true
