# For the scripts that install what some tests need. Each defines `find_it`, which prints where the program is, and
# `install_it`, then calls `ensure`. Where nothing can be had, it says why and the script ends with 0: tests then skip.

as_root=""
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; }

# ensure NAME MISSING PACKAGE HINT: what it is called, how its lack is put, what apt-get calls it, what else one can do
ensure() {
    if found=$(find_it); then
        echo "$1: $found"
        exit 0
    fi
    if ! command -v apt-get >/dev/null; then
        echo "No $2 was found, and there is no apt-get to install it with. $4"
        exit 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
            echo "No $2 was found; installing it needs root: apt-get install $3"
            exit 0
        fi
        as_root="sudo -n"
    fi
    echo "Installing $1 (once)"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! { $as_root apt-get update -qq && install_it; } >"$log" 2>&1; then
        tail -n 3 "$log"
        echo "$1 could not be installed."
    fi
    find_it || true
}
