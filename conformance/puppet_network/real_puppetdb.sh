#!/bin/bash
# A real PuppetDB behind `fixpoint serve` (`storeconfigs_backend = puppetdb`): what two agents leave reaches it, what one
# exports the other collects from it, a manifest's query asks it. On loopback, in a scratch directory, with a PostgreSQL
# cluster of its own.
#
#   real_puppetdb.sh FIXPOINT [PUPPET]
#
# The agents are real ones where PUPPET is there, else this program's. Prints a line for each check and ends with 1 if one
# failed. Needs PuppetDB (Debian: puppetdb), PostgreSQL, Java and curl. Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") puppet=${2:-puppet}
jar=/usr/share/puppetdb/puppetdb.jar
bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -1)
if [ ! -e $jar ] || [ -z "$bin" ] || ! command -v java > /dev/null; then
    echo "SKIPPED: PuppetDB, PostgreSQL or Java is not installed; nothing was tested"
    exit 77
fi
agent_program=("$puppet" agent)
command -v "$puppet" > /dev/null || agent_program=("$fixpoint" puppet agent)
D=$(mktemp -d)
failed=0
check() { # NAME, then a command
    local name=$1
    shift
    if "$@" > "$D/check" 2>&1; then echo "ok    $name"; else echo "FAIL  $name"; cat "$D/check"; failed=1; fi
}
has() { grep -qF -- "$2" "$1" || { echo "no '$2' in"; cat "$1"; return 1; }; }
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
processes=()
trap 'kill -9 ${processes[@]} 2> /dev/null; rm -rf "$D"' EXIT

mkdir "$D/pg"
as=()
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$D"
    chown postgres "$D/pg"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
pg_port=$(free)
"${as[@]}" "$bin/initdb" -A trust -U puppetdb -E UTF8 --locale=C -D "$D/pg/data" > /dev/null || exit 1
"${as[@]}" "$bin/postgres" -D "$D/pg/data" -c listen_addresses=127.0.0.1 -p "$pg_port" -k "$D/pg" > /dev/null 2>&1 &
processes+=($!)
disown
for _ in $(seq 300); do "$bin/pg_isready" -q -h "$D/pg" -p "$pg_port" && break; sleep 0.1; done

# The server makes the authority, and with it the certificate that PuppetDB shows.
mkdir -p "$D/code/environments/production/manifests" "$D/server"
cat > "$D/code/environments/production/manifests/site.pp" <<'P'
@@notify { "from ${trusted['certname']}": tag => 'shared' }
Notify <<| tag == 'shared' |>>
$known = puppetdb_query('nodes[certname] { order by certname }').map |$one| { $one['certname'] }
notify { "known: ${join($known, ' ')}": }
P
db_port=$(free) http_port=$(free)
printf '[main]\nserver_urls = https://localhost:%s\n' "$db_port" > "$D/server/puppetdb.conf"
"$fixpoint" serve -v --listen 127.0.0.1:0 --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
    --set codedir="$D/code" --set certname=localhost --set keylength=2048 --set autosign=true \
    --set storeconfigs_backend=puppetdb --set reports=store,puppetdb > "$D/listening" 2> "$D/log" &
processes+=($!)
disown
for _ in $(seq 600); do [ -s "$D/listening" ] && break; sleep 0.1; done
port=$(sed -n 's/.*://p' "$D/listening") ssl=$D/server/ssl
[ -n "$port" ] || { echo "FAIL  the server did not start"; cat "$D/log"; exit 1; }

cp -r /etc/puppetdb/conf.d "$D/pdb"
rm "$D"/pdb/*.ini
mkdir "$D/kept"
cat > "$D/pdb/all.ini" <<I
[global]
vardir = $D/kept
[database]
subname = //127.0.0.1:$pg_port/puppetdb
username = puppetdb
password = none
[jetty]
host = 127.0.0.1
port = $http_port
ssl-host = 127.0.0.1
ssl-port = $db_port
ssl-key = $ssl/private_keys/localhost.pem
ssl-cert = $ssl/certs/localhost.pem
ssl-ca-cert = $ssl/certs/ca.pem
[puppetdb]
disable-update-checking = true
I
"$bin/createdb" -h "$D/pg" -p "$pg_port" -U puppetdb puppetdb
java -Xmx256m -cp $jar clojure.main -m puppetlabs.puppetdb.core services -c "$D/pdb" -b /etc/puppetdb/bootstrap.cfg > "$D/pdb.log" 2>&1 &
processes+=($!)
disown
for _ in $(seq 1200); do
    kill -0 "${processes[-1]}" 2> /dev/null || break
    curl -s "http://127.0.0.1:$http_port/status/v1/services/puppetdb-status" 2> /dev/null | grep -q '"state":"running"' && break
    sleep 0.1
done

ask() { # PATH: what PuppetDB itself answers
    curl -sS -G "http://127.0.0.1:$http_port/pdb/query/v4/$1" ${2:+--data-urlencode "query=$2"} > "$D/rows"
    cat "$D/rows"
}
check "PuppetDB runs" test "$(ask nodes)" = "[]"
[ $failed = 0 ] || { tail "$D/pdb.log"; exit 1; }
agent() { # NAME
    "${agent_program[@]}" -t --color=false --certname="$1" --server=localhost --serverport="$port" --ca_port="$port" \
        --confdir="$D/$1/conf" --vardir="$D/$1/var" --ssldir="$D/$1/ssl" --publicdir="$D/$1/public" --rundir="$D/$1/run" \
        --logdir="$D/$1/log" --keylength=2048 > "$D/$1.out" 2>&1
    echo "code $?" >> "$D/$1.out"
}
count() { ask "$1" "$2" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
reaches() { # WANTED ENTITY QUERY: commands are taken in order, a moment after they were handed on
    for _ in $(seq 300); do [ "$(count "$2" "$3")" = "$1" ] && return 0; sleep 0.1; done
    ask "$2" "$3"
    tail -5 "$D/log"
    return 1
}
agent n1
check "the first node runs" has "$D/n1.out" "code 2"
for entity in facts catalogs reports; do
    case $entity in
        facts) query='["and", ["=", "certname", "n1"], ["=", "name", "os"]]' ;;
        *) query='["=", "certname", "n1"]' ;;
    esac
    check "its $entity reach PuppetDB" reaches 1 $entity "$query"
done
check "what it exports does" reaches 1 resources '["and", ["=", "exported", true], ["=", "title", "from n1"]]'
agent n2
check "the second node runs" has "$D/n2.out" "code 2"
check "it gets what the first exports" has "$D/n2.out" "from n1"
check "a manifest's query is answered" has "$D/n2.out" "known: n1"
check "the report has its events" reaches 3 events '["=", "certname", "n2"]'
check "PuppetDB has both" reaches 2 nodes ''

kill -KILL "${processes[-1]}"
agent n1
check "without PuppetDB a catalog that collects is refused" has "$D/n1.out" "code 1"
check "the refusal names PuppetDB's address" has "$D/n1.out" "localhost:$db_port"
[ $failed = 0 ] && echo "all checks passed"
exit $failed
