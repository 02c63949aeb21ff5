#!/usr/bin/env bash
# Makes sure that there is a PostgreSQL server for tests/db, and prints where. No server is left running: the tests start
# one of their own.
set -u
. "$(dirname "$0")/install_lib.sh"

find_it() {
    for folder in "${COTERIE_POSTGRES:-}" $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin 2>/dev/null | sort -rV); do
        [ -n "$folder" ] && [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && echo "$folder" && return 0
    done
    found=$(command -v initdb) && dirname "$found"
}
# Debian would make a cluster and start it on the usual port; the tests need the programs only.
install_it() {
    setting=/etc/postgresql-common/createcluster.d/coterie.conf
    $as_root mkdir -p "$(dirname "$setting")" && echo 'create_main_cluster = false' | $as_root tee "$setting" &&
        install --no-install-recommends postgresql
    done=$?
    $as_root rm -f "$setting"
    return $done
}

ensure PostgreSQL PostgreSQL postgresql 'Set COTERIE_POSTGRES to its bin folder.'
