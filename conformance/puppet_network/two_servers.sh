#!/bin/bash
# Two `fixpoint serve` over one PostgreSQL, behind a plain TCP balancer: agents run while one of the servers is killed again
# and again, and no name gets two certificates. On loopback, in a scratch directory, with a cluster of its own.
#
#   two_servers.sh FIXPOINT [AGENTS]
#
# Prints a line for each check and ends with 1 if one failed. Needs PostgreSQL, python3 and openssl.
set -u
fixpoint=$(realpath "$1") agents=${2:-8}
bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -1)
if [ -z "$bin" ]; then
    echo "SKIPPED: PostgreSQL is not installed; nothing was tested"
    exit 77
fi
D=$(mktemp -d)
failed=0
check() { # NAME, then a command
    local name=$1
    shift
    if "$@" > "$D/check" 2>&1; then echo "ok    $name"; else echo "FAIL  $name"; cat "$D/check"; failed=1; fi
}
mkdir "$D/pg"
as=()
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$D"
    chown postgres "$D/pg"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
"${as[@]}" "$bin/initdb" -A trust -U fixpoint -E UTF8 --locale=C -D "$D/pg/data" > /dev/null || exit 1
"${as[@]}" "$bin/postgres" -D "$D/pg/data" -c listen_addresses= -k "$D/pg" > /dev/null 2>&1 &
postgres=$!
disown
for _ in $(seq 300); do "$bin/pg_isready" -q -h "$D/pg" && break; sleep 0.1; done
store="postgresql:///postgres?host=$D/pg&user=fixpoint"

mkdir -p "$D/code/environments/production/manifests" "$D/server"
cat > "$D/code/environments/production/manifests/site.pp" <<PP
file { "$D/out_\${trusted['certname']}": content => "for \${trusted['certname']}\n" }
@@notify { "from \${trusted['certname']}": }
PP
declare -A server
serve() { # NUMBER
    "$fixpoint" serve -v --listen 127.0.0.1:0 --store "$store" --set confdir="$D/server" --set ssldir="$D/server/ssl" \
        --set vardir="$D/server/var" --set codedir="$D/code" --set certname=localhost --set keylength=2048 --set autosign=true \
        > "$D/listening.new" 2>> "$D/log$1" &
    server[$1]=$!
    disown
    for _ in $(seq 600); do [ -s "$D/listening.new" ] && break; sleep 0.1; done
    sed -n 's/.*://p' "$D/listening.new" > "$D/port$1.new"
    mv "$D/port$1.new" "$D/port$1"
    rm "$D/listening.new"
}
trap 'kill -9 ${server[@]} $balancer $killer $postgres 2> /dev/null; rm -rf "$D"' EXIT
balancer= killer=
serve 1
serve 2
check "two servers run" test -s "$D/port1" -a -s "$D/port2"
cat > "$D/balancer.py" <<'PY'
import itertools, socket, sys, threading
dir = sys.argv[1]
turn = itertools.count()
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try: one.shutdown(socket.SHUT_RDWR)
        except OSError: pass
def serve(client):
    for _ in range(200):
        number = next(turn) % 2 + 1
        try:
            port = int(open(f"{dir}/port{number}").read())
            other = socket.create_connection(("127.0.0.1", port), 1)
            other.settimeout(None)
            break
        except (OSError, ValueError):
            threading.Event().wait(0.05)
    else:
        return client.close()
    threading.Thread(target=pump, args=(client, other), daemon=True).start()
    pump(other, client)
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
PY
python3 "$D/balancer.py" "$D" > "$D/balanced" &
balancer=$!
disown
for _ in $(seq 100); do [ -s "$D/balanced" ] && break; sleep 0.1; done
port=$(cat "$D/balanced")
agent() { # NAME
    mkdir -p "$D/$1/conf"
    printf '[main]\ncertname=%s\nserver=localhost\nserverport=%s\nssldir=%s\npublicdir=%s\nkeylength=2048\n' \
        "$1" "$port" "$D/$1/ssl" "$D/$1/var/public" > "$D/$1/conf/puppet.conf"
    "$fixpoint" puppet agent -t --confdir "$D/$1/conf" --vardir "$D/$1/var" --rundir "$D/$1/run" --logdir "$D/$1/log" \
        --color=false > "$D/$1.out" 2>&1
    echo "code $?" >> "$D/$1.out"
}
for n in $(seq "$agents"); do agent "n$n" & pids[n]=$!; done
wait "${pids[@]}"
first=$(grep -l 'code 2' "$D"/n*.out | wc -l)
check "all agents get a certificate and a catalog" test "$first" = "$agents"
[ "$first" = "$agents" ] || { grep -L 'code 2' "$D"/n*.out | xargs cat; tail -n 5 "$D"/log1 "$D"/log2; }
( # One of the two is always there.
    for turn in $(seq 40); do
        sleep 0.5
        kill -9 "${server[1]}" 2> /dev/null
        rm -f "$D/port1"
        serve 1
        echo "${server[1]}" > "$D/pid1"
    done
) &
killer=$!
for round in 1 2 3; do
    for n in $(seq "$agents"); do
        rm -f "$D/out_n$n"
        # A run whose server was killed in the middle of a request ends with an error; the next one succeeds.
        (for _ in 1 2 3 4 5; do agent "n$n"; grep -q 'code [02]' "$D/n$n.out" && break; done) & pids[n]=$!
    done
    wait "${pids[@]}"
done
kill "$killer" 2> /dev/null
[ -s "$D/pid1" ] && server[3]=$(cat "$D/pid1")
done_=$(grep -l 'code [02]' "$D"/n*.out | wc -l)
check "all agents finish while one server is killed" test "$done_" = "$agents"
check "all have their files" test "$(ls "$D"/out_n* | wc -l)" = "$agents"
count() { "$bin/psql" -h "$D/pg" -U fixpoint -Atc "$1" postgres; }
check "each name has one certificate" test "$(count 'SELECT COUNT(*) FROM (SELECT name FROM certificate GROUP BY name HAVING COUNT(*) > 1) t')" = 0
check "no serial number was given twice" test "$(count 'SELECT COUNT(*) = COUNT(DISTINCT serial) FROM certificate')" = t
check "each node has a catalog" test "$(count "SELECT COUNT(*) FROM catalog WHERE node LIKE 'n%'")" = "$agents"
check "reports are kept" test "$(count 'SELECT COUNT(*) FROM report')" -ge "$((agents * 3))"
for n in $(seq 20); do
    "$fixpoint" puppet ssl submit_request --confdir "$D/n1/conf" --vardir "$D/race$n/var" --ssldir "$D/race$n/ssl" \
        --certname "race$((n % 4))" > "$D/race$n.out" 2>&1 &
    pids[n]=$!
done
wait "${pids[@]}"
check "requests at once for one name give one certificate" test "$(count "SELECT string_agg(n::text, ',') FROM (SELECT COUNT(*) n FROM certificate WHERE name LIKE 'race%' GROUP BY name) t")" = 1,1,1,1
exit $failed
