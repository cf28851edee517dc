#!/bin/bash
# Our CFEngine tools and the real ones in each other's place, over loopback and between two network
# namespaces: copies, trust, denials, protocols, cf-net, cf-runagent, hosts seen, bootstrap,
# pipelining and abuse, cf-execd's files, cf-secret.
#
#   interop.sh FIXPOINT [CHECK ...]
#
# Prints a line for each check and ends with 1 if one failed. Run it as root in a throw-away copy
# with a network of its own. Where the real tools are not installed nothing is compared, it says so
# and ends with 77.
set -u
fixpoint=$(realpath "$1")
shift
for tool in cf-agent cf-serverd cf-key cf-net cf-runagent cf-secret; do
    command -v $tool > /dev/null && continue
    echo "SKIPPED: the real '$tool' is not on this machine; nothing was compared"
    exit 77
done
here=$(cd "$(dirname "$0")" && pwd)
D=$(mktemp -d)
mkdir "$D/ours" "$D/real"
for tool in cf-agent cf-promises cf-serverd cf-key cf-net cf-runagent cf-execd cf-secret cf-check cf-monitord; do
    ln -s "$fixpoint" "$D/ours/$tool"
    real=$(command -v $tool) && ln -s "$real" "$D/real/$tool"
done
failed=0 passed=0
check() { # NAME, then a command
    local name=$1
    shift
    if "$@" > "$D/last" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        sed 's/^/        /' "$D/last" | head -20
    fi
}
holds() { # FILE PATTERN
    grep -q -- "$2" "$1" || { echo "no '$2' in:"; cat "$1"; return 1; }
}
lacks() {
    ! grep -q -- "$2" "$1" || { echo "there is '$2' in:"; cat "$1"; return 1; }
}
wanted() { # whether a check was asked for; all are without a name
    [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]
}
names=("$@")
for file in "$here"/checks/*.sh; do
    . "$file"
done
for pair in "real ours" "ours real" "ours ours"; do
    set -- $pair
    R=$D/$1 O=$D/$2 W=$D/$1-$2 way="$1 server, $2 client"
    for one in $(declare -F | sed -n 's/^declare -f both_//p'); do
        wanted "$one" && "both_$one"
    done
done
echo "$passed passed, $failed failed"
rm -rf "$D"
[ $failed -eq 0 ]
