#!/bin/bash
# Exported resources over two agents and one `fixpoint serve`: what one node exports another collects, by tag, title and
# parameter; queries of manifests and over HTTP; a node that is gone exports nothing. On loopback, in a scratch directory.
#
#   exported.sh FIXPOINT [PUPPET]
#
# The agents are real ones where PUPPET is there, else this program's. Prints a line for each check and ends with 1 if one
# failed. Needs curl. Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") puppet=${2:-puppet}
agent_program=("$puppet" agent)
if ! command -v "$puppet" > /dev/null; then
    echo "there is no '$puppet' on this machine: this program's agent runs instead"
    agent_program=("$fixpoint" puppet agent)
fi
D=$(mktemp -d)
failed=0
check() { # NAME, then a command
    local name=$1
    shift
    if "$@" > "$D/check" 2>&1; then echo "ok    $name"; else echo "FAIL  $name"; cat "$D/check"; failed=1; fi
}
has() { grep -qF -- "$2" "$1" || { echo "no '$2' in"; cat "$1"; return 1; }; }
lacks() { ! grep -qF -- "$2" "$1" || { echo "'$2' in"; cat "$1"; return 1; }; }
mkdir -p "$D/code/environments/production/manifests" "$D/server"
cat > "$D/code/environments/production/manifests/site.pp" <<PP
node 'web1', 'web2' {
  @@file { "$D/collected_\${trusted['certname']}":
    ensure  => file,
    content => "made for \${trusted['certname']}\n",
    mode    => '0600',
    tag     => ['monitor', \$trusted['certname']],
  }
  @@notify { 'never collected': }
  notify { 'own': }
}
node 'monitor' {
  File <<| tag == 'monitor' and mode == '0600' |>> { mode => '0640' }
  Notify <<| title == 'no such title' |>>
  \$nodes = puppetdb_query('nodes[certname] { certname ~ "^web" order by certname }')
  file { "$D/queried": content => \$nodes.map |\$one| { \$one['certname'] }.join(',') }
}
node 'clash' {
  file { "$D/collected_web1": }
  File <<| tag == 'web1' |>>
}
PP
printf '*\n' > "$D/server/autosign.conf"
"$fixpoint" serve -v --listen 127.0.0.1:0 --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
    --set codedir="$D/code" --set certname=localhost --set keylength=2048 --set autosign="$D/server/autosign.conf" \
    ${STORE:+--store "$STORE"} > "$D/listening" 2> "$D/log" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$D"' EXIT
for _ in $(seq 600); do [ -s "$D/listening" ] && break; sleep 0.1; done
port=$(sed -n 's/.*://p' "$D/listening")
[ -n "$port" ] || { echo "FAIL  the server did not start"; cat "$D/log"; exit 1; }
ssl=$D/server/ssl
agent() { # NAME, arguments
    local n=$1
    shift
    mkdir -p "$D/$n/conf"
    printf '[main]\ncertname=%s\nserver=localhost\nserverport=%s\nssldir=%s\npublicdir=%s\nkeylength=2048\n' \
        "$n" "$port" "$D/$n/ssl" "$D/$n/var/public" > "$D/$n/conf/puppet.conf"
    "${agent_program[@]}" --confdir "$D/$n/conf" --vardir "$D/$n/var" --rundir "$D/$n/run" --logdir "$D/$n/log" \
        --color=false "$@" > "$D/$n.out" 2>&1
    echo "code $?" >> "$D/$n.out"
}
pdb() { # path, query
    curl -sS -G --cacert "$ssl/certs/ca.pem" --cert "$ssl/certs/localhost.pem" --key "$ssl/private_keys/localhost.pem" \
        ${2:+--data-urlencode "query=$2"} "https://localhost:$port/pdb/query/v4/$1" > "$D/body"
}
agent monitor -t
check "without exports a collector finds nothing" has "$D/monitor.out" "code 2"
check "the query finds no node" test ! -s "$D/queried"
agent web1 -t
check "an exporting node runs" has "$D/web1.out" "code 2"
check "it does not apply what it exports" test ! -e "$D/collected_web1"
agent web2 -t
agent monitor -t
check "the collecting node runs" has "$D/monitor.out" "code 2"
check "it has the resource of the first" has "$D/collected_web1" "made for web1"
check "it has the resource of the second" has "$D/collected_web2" "made for web2"
check "the collector overrides" test "$(stat -c %a "$D/collected_web1")" = 640
check "the query finds both nodes" has "$D/queried" "web1,web2"
check "what has another title is not collected" lacks "$D/monitor.out" "never collected"
agent monitor -t
check "a second run changes nothing" has "$D/monitor.out" "code 0"
agent clash -t
check "the same resource twice is an error" has "$D/clash.out" "A duplicate resource was found while collecting exported resources, with the type and title File[$D/collected_web1]"
pdb resources '["and",["=","type","Notify"],["=","exported",true]]'
check "what is exported and not collected is kept" has "$D/body" "never collected"
pdb nodes/web1
check "the node has a report" has "$D/body" '"latest_report_status":"changed"'
pdb events '["=","certname","web1"]'
check "its events are kept" has "$D/body" '"resource_title":"own"'
pdb facts/kernel
check "its facts are kept" has "$D/body" '"value":"Linux"'
curl -sS --cacert "$ssl/certs/ca.pem" --cert "$ssl/certs/localhost.pem" --key "$ssl/private_keys/localhost.pem" \
    -H 'Content-Type: application/json' -d '{"certname":"web2","producer_timestamp":"2099-01-01T00:00:00Z"}' \
    "https://localhost:$port/pdb/cmd/v1?command=deactivate_node&version=3&certname=web2" > /dev/null
rm "$D/collected_web2"
agent monitor -t
check "a node that is gone exports nothing" test ! -e "$D/collected_web2"
check "and no query finds it" lacks "$D/queried" web2
exit $failed
