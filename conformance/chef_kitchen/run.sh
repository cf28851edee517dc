#!/bin/bash
# Converges kitchen suites of public cookbooks twice with a client, each suite in its own throw-away copy of the machine
# in which a real systemd is the first process, and keeps what is comparable.
#
#   run.sh BOOKS OUT CLIENT [COOKBOOK/SUITE …]
#
# BOOKS is a directory of cookbooks (see suites.jsonl for repository and commit); OUT gets for each suite what the two
# runs printed (NAME.1, NAME.2), their exit codes (NAME.codes) and the files they left (NAME.files). CLIENT is the
# client's command, for example '/path/fixpoint chef-client'. The copies have a network of their own, from which only the package
# registries of this machine's apt can be reached, and cannot set the clock. FORCE=1 runs suites again that OUT has.
set -u
books=$(cd "$1" && pwd) out=$2 client=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
boot=$here/../../crates/fixpoint/tests/systemd/outer.sh
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
cache=${CACHE:-$out/packages}
mkdir -p "$cache/partial"
cache=$(cd "$cache" && pwd)
ruby "$here/registry.rb" serve "$work/registry" &
serve=$!
trap 'kill $serve 2>/dev/null; rm -rf "$work"' EXIT

# name_of LINE SEPARATOR
name_of() {
    [[ $1 =~ \"cookbook\":\"([^\"]*)\",\"suite\":\"([^\"]*)\" ]]
    echo "${BASH_REMATCH[1]}$2${BASH_REMATCH[2]}"
}

children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }

# The copy's first process, once it is systemd; nothing so far otherwise.
first_of() {
    for shell in $(children "$1"); do
        for pid in $(children "$shell"); do
            [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = systemd ] && echo "$pid" && return
        done
    done
}

inside() {
    nsenter --target "$first" --mount --pid --uts --ipc --net --cgroup --root="/proc/$first/root" --wdns=/ -- \
        env -i HOME=/root USER=root LOGNAME=root LANG=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Names, modes, owners and digests of what differs from the machine; not what packages, logs and the clients keep for
# themselves.
files() {
    nsenter --target "$outer" --mount ruby "$here/files.rb" "$1/layer/upper"
    echo "packages $(inside dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' | sha1sum | cut -c1-12)"
    # A busy machine may let the first query time out.
    for _ in 1 2 3; do inside systemctl list-units > /dev/null 2>&1 && break; done
    inside sh -c 'systemctl list-unit-files --no-legend --state=enabled,masked | awk "{print \"unit\", \$1, \$2}"; systemctl list-units --no-legend --plain --type=service --state=active,failed | awk "{print \"state\", \$1, \$3, \$4}"' | grep -v -E 'session|user@|user-runtime'
}

# one SUITE-LINE: converges a suite.
one() {
    local dir=$work/copy name code codes=
    name=$(name_of "$1" .)
    [ -z "${FORCE:-}" ] && [ -e "$out/$name.codes" ] && return
    rm -rf "$dir" && mkdir -p "$dir"
    ruby "$here/repo.rb" "$books" "$1" "$work/repo" > "$out/$name.1" 2>&1 || { echo "$name cannot be laid out: $(tail -1 "$out/$name.1")"; echo "none" > "$out/$name.codes"; return; }
    unshare --mount --propagation private sh "$boot" "$dir" "${client%% *}" > /dev/null 2> "$work/errors" < /dev/null &
    outer=$!
    first=
    for _ in $(seq 600); do
        [ -n "$first" ] || first=$(first_of "$outer")
        [ -n "$first" ] && case $(inside systemctl is-system-running 2>/dev/null) in running | degraded) break ;; esac
        sleep 0.1
    done
    nsenter --target "$first" --net sh -c 'ip link set lo up; ip link add eth0 address 02:00:00:00:00:01 type veth peer name other0 && ip addr add 192.0.2.2/24 dev eth0 && ip link set eth0 up && ip link set other0 up && ip route add default via 192.0.2.1 && ip route add unreachable 0.0.0.0/1 && ip route add unreachable 128.0.0.0/1'
    nsenter --target "$first" --net ruby "$here/registry.rb" relay "$work/registry" &
    relay=$!
    for _ in $(seq 100); do nsenter --target "$first" --net ruby -rsocket -e 'TCPSocket.new("127.0.0.1", 3142)' 2>/dev/null && break; done
    nsenter --target "$outer" --mount mount --bind "$cache" "$dir/root/var/cache/apt/archives"
    nsenter --target "$outer" --mount cp -r "$work/repo" "$dir/root/opt/kitchen"
    # Lists of manual pages and of a desktop's software only take time.
    inside sh -c 'ln -sf /bin/true /usr/bin/mandb; ln -sf /dev/null /etc/systemd/system/packagekit.service; rm -f /etc/apt/apt.conf.d/20packagekit /etc/apt/apt.conf.d/50appstream /etc/apt/apt.conf.d/docker-clean; printf "Acquire::%s::Proxy \"http://127.0.0.1:3142\";\n" http https > /etc/apt/apt.conf.d/99registry; echo nameserver 127.0.0.1 > /etc/resolv.conf; hostname kitchen; echo kitchen > /etc/hostname; echo "127.0.1.1 kitchen.example.com kitchen" >> /etc/hosts'
    rm -rf "$work/repo"
    [ -n "${TIMES:-}" ] && date +"%T booted"
    for turn in 1 2; do
        inside sh -c "cd /opt/kitchen && exec timeout ${PATIENCE:-420} $client -z -c /opt/kitchen/client.rb -j /opt/kitchen/dna.json --force-formatter --no-color -F doc -l warn" > "$out/$name.$turn" 2>&1 < /dev/null
        code=$?
        [ -n "${TIMES:-}" ] && date +"%T run $turn"
        codes="$codes$code "
        [ "$code" = 0 ] || break
    done
    files "$dir" > "$out/$name.files" 2>> "$out/$name.2"
    echo "$codes" > "$out/$name.codes"
    kill "$relay" 2>/dev/null
    kill -9 "$first" 2>/dev/null
    wait "$outer" 2>/dev/null
    echo "$name $codes $(grep -h '^Infra Phase' "$out/$name.1" "$out/$name.2" 2>/dev/null | grep -o '[0-9]*/[0-9]* resources' | tr '\n' ' ')"
}

while IFS= read -r line <&3; do
    if [ $# -gt 0 ]; then
        name=$(name_of "$line" /)
        case " $* " in *" $name "* | *" ${name%%/*} "*) ;; *) continue ;; esac
    fi
    one "$line"
done 3< "${SUITES:-$here/suites.jsonl}"
