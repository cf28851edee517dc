#!/bin/bash
# Load and memory of `fixpoint serve` and `puppet agent`, and of a real puppetserver 7 and agent in the same run on the
# same cores, with the same requests (`fleet`, an example of fx-remote). Prints each figure; the goals are in brackets.
#
#   cargo build --release -p fixpoint; cargo build --release -p fx-remote --example fleet
#   load.sh FIXPOINT FLEET CASES MODULES [PART …]
#
# CASES has the recorded module cases (ntp, apache), MODULES their modules. Parts: start rates fleet memory agent real; all by
# default. "real" needs puppetserver, starts it in /etc/puppet and takes minutes: run it in a throw-away copy of the machine.
# Environment: AGENTS (1000), SPREAD (60 s), CATALOGS (100000); catalogs that the real server makes before it is measured: WARM (600)
# of ntp, WARM_APACHE (150).
set -u
fixpoint=$(realpath "$1") fleet=$(realpath "$2") cases=$(realpath "$3") modules=$(realpath "$4")
shift 4
parts=${*:-start rates fleet memory agent real}
D=$(mktemp -d)
trap 'stop; rm -rf "$D"' EXIT
server=
stop() { [ -n "$server" ] && kill $server 2> /dev/null && wait $server 2> /dev/null; server=; }
wants() { [[ " $parts " = *" $1 "* ]]; }
ntp=$cases/ntp/ntp__default__debian-12 apache=$cases/apache/apache__vhost__debian-12
environment() { # DIR: what a catalog has is chosen by a fact
    mkdir -p "$1/production/manifests"
    ln -sfn "$modules" "$1/production/modules"
    {
        echo "case \$facts['load_case'] {"
        echo "'ntp': {"; cat "$ntp/manifest.pp"; echo "}"
        echo "'apache': {"; cat "$apache/manifest.pp"; echo "}"
        echo "default: { range(1, 500).each |\$n| { file { \"/srv/load/\$n\": ensure => file, mode => '0644', content => \"\$n\\n\" } } }"
        echo "}"
    } > "$1/production/manifests/site.pp"
}
facts() { # CASE FILE: the facts of a case with its name
    python3 - "$1" "$2" "${3:-$ntp/facts.json}" <<'P'
import json, sys
name, to, source = sys.argv[1:]
facts = json.load(open(source))
facts = facts.get('values', facts)
facts['load_case'] = name
json.dump(facts, open(to, 'w'))
P
}
facts ntp "$D/ntp.json"
facts apache "$D/apache.json" "$apache/facts.json"
facts five "$D/five.json"
tree() { # PID: it and its children
    echo "$1"
    for child in $(pgrep -P "$1"); do tree "$child"; done
}
cpu() { # PID: seconds of it and its children, those that ended included
    local total=0 one
    for one in $(tree "$1"); do
        total=$((total + $(sed 's/.*) //' "/proc/$one/stat" | awk '{print $12 + $13 + $14 + $15}')))
    done
    awk "BEGIN { printf \"%.3f\", $total / $(getconf CLK_TCK) }"
}
spent_by_threads() { # PID: milliseconds of it and its children, without threads that ended; finer than cpu
    local one
    for one in $(tree "$1"); do cat /proc/"$one"/task/*/schedstat; done | awk '{ all += $1 } END { printf "%d", all / 1000000 }'
}
memory() { # PID: MB of it and its children; pages they share are counted once (Pss)
    local total=0 one
    for one in $(tree "$1"); do
        total=$((total + $(awk '/^Pss:/ {print $2}' "/proc/$one/smaps_rollup" 2> /dev/null || echo 0)))
    done
    awk "BEGIN { printf \"%.1f\", $total / 1024 }"
}
serve() {
    : > "$D/listening"
    "$fixpoint" serve --listen 127.0.0.1:"${1:-0}" --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
        --set codedir="$D/code" --set certname=localhost --set autosign=true --set environment_timeout=unlimited \
        > "$D/listening" 2> "$D/log" &
    server=$!
    until [ -s "$D/listening" ]; do kill -0 $server 2> /dev/null || { cat "$D/log"; exit 1; }; sleep 0.005; done
    port=$(sed -n 's/.*://p' "$D/listening")
}
rate() { # WHO FACTS COUNT: catalogs a second, and processor time of each
    local before after
    before=$(cpu $server)
    "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/$2.json" "$3" "${4:-4}" | sed "s/^/$1 $2: /"
    after=$(cpu $server)
    awk "BEGIN { printf \"$1 $2: %.2f ms of processor time each\\n\", ($after - $before) * 1000 / $3 }"
}
environment "$D/code/environments"
serve
"$fleet" enroll "localhost:$port" "$D/nodes" "${AGENTS:-1000}" > /dev/null || exit 1
stop

if wants start; then
    for number in 1 2 3 4 5; do
        began=$(date +%s%N)
        serve
        "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/ntp.json" 1 1 > /dev/null
        ended=$(date +%s%N)
        echo "$(((ended - began) / 1000000)) ms, $(spent_by_threads $server) ms of processor time, $(memory $server) MB"
        stop
    done | sort -n | sed -n '3s/$/ (the median of five)/;3p' | sed 's/^/start to first catalog: /; s/$/ [100 ms, 64 MB]/'
fi
if wants rates; then
    serve
    "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/ntp.json" 50 2 > /dev/null
    rate fixpoint ntp 2000
    "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/apache.json" 20 2 > /dev/null
    rate fixpoint apache 600
    echo "fixpoint: $(memory $server) MB"
    stop
fi
if wants fleet; then
    serve
    before=$(cpu $server)
    "$fleet" cycles "localhost:$port" "$D/nodes" "$D/five.json" "${SPREAD:-60}" | sed 's/^/fleet: /'
    awk "BEGIN { printf \"fleet: %.1f ms of processor time of the server for each agent\n\", ($(cpu $server) - $before) * 1000 / ${AGENTS:-1000} }"
    echo "fleet: $(memory $server) MB, most of the server itself $(awk '/VmHWM/ {print int($2 / 1024)}' /proc/$server/status) MB [no error, p99 under 500 ms, 256 MB]"
    stop
fi
if wants memory; then
    serve
    "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/ntp.json" 1000 4 > /dev/null
    first=$(memory $server)
    "$fleet" catalogs "localhost:$port" "$D/nodes" "$D/ntp.json" "${CATALOGS:-100000}" 4 | sed 's/^/memory: /'
    echo "memory: $first MB after 1,000 catalogs, $(memory $server) MB after the last [within a tenth]"
    stop
fi
agent() { # PROGRAM NAME
    "$1" agent -t --certname="$2" --server=localhost --serverport="$port" --ca_port="$port" --confdir="$D/$2/conf" \
        --vardir="$D/$2/var" --ssldir="$D/$2/ssl" --publicdir="$D/$2/public" --rundir="$D/$2/run" --logdir="$D/$2/log" \
        > "$D/$2.out" 2>&1
}
spent() { # NAME PROGRAM: processor time of a run in which nothing changes
    agent "$2" "$1"
    agent "$2" "$1" # files of the first
    local code
    /usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@"' _ "$2" agent -t --certname="$1" --server=localhost --serverport="$port" \
        --ca_port="$port" --confdir="$D/$1/conf" --vardir="$D/$1/var" --ssldir="$D/$1/ssl" --publicdir="$D/$1/public" \
        --rundir="$D/$1/run" --logdir="$D/$1/log" > "$D/$1.out" 2> "$D/$1.time"
    code=$?
    awk -v who="$1" -v code=$code 'END { printf "agent %s: %.3f s of processor time, ended with %s\n", who, $1 + $2, code }' "$D/$1.time"
}
if wants agent; then
    mkdir -p "$D/bin" /srv/load "$D/few"
    ln -sfn "$fixpoint" "$D/bin/puppet"
    # As many plug-ins as a site has, not those of all modules there are.
    for module in stdlib concat ntp apache; do ln -sfn "$modules/$module" "$D/few/$module"; done
    ln -sfn "$D/few" "$D/code/environments/production/modules"
    serve
    spent ours "$D/bin/puppet"
    if command -v puppet > /dev/null; then spent real "$(command -v puppet)"; else echo "agent: SKIPPED, there is no puppet here"; fi
    stop
fi
if wants real; then
    if ! command -v puppetserver > /dev/null; then echo "real: SKIPPED, there is no puppetserver here"; exit 77; fi
    rm -rf /etc/puppet/code/environments /etc/puppet/puppetserver/ca /var/lib/puppet/ssl "$D/nodes"
    environment /etc/puppet/code/environments
    printf '[server]\ncertname=localhost\ndns_alt_names=localhost\nautosign=true\nenvironment_timeout=unlimited\n' > /etc/puppet/puppet.conf
    cp -rL "$modules" /etc/puppet/modules.load && ln -sfn /etc/puppet/modules.load /etc/puppet/code/environments/production/modules
    chown -R puppet /etc/puppet
    puppetserver ca setup > /dev/null
    began=$(date +%s%N)
    JAVA_ARGS="-Xms400m -Xmx1g" puppetserver foreground > "$D/real.log" 2>&1 &
    server=$! port=8140
    until curl -sk https://localhost:8140/status/v1/simple 2> /dev/null | grep -q running; do
        kill -0 $server 2> /dev/null || { tail "$D/real.log"; exit 1; }
        sleep 0.5
    done
    "$fleet" enroll localhost:8140 "$D/nodes" 4 > /dev/null || exit 1
    "$fleet" catalogs localhost:8140 "$D/nodes" "$D/ntp.json" 1 1 > /dev/null
    echo "real: start to first catalog $((($(date +%s%N) - began) / 1000000)) ms, $(cpu $server) s of processor time, $(memory $server) MB"
    "$fleet" catalogs localhost:8140 "$D/nodes" "$D/ntp.json" "${WARM:-600}" 2 > /dev/null
    rate real ntp 300 2
    "$fleet" catalogs localhost:8140 "$D/nodes" "$D/apache.json" "${WARM_APACHE:-150}" 2 > /dev/null
    rate real apache 100 2
    echo "real: $(memory $server) MB"
    stop
fi
