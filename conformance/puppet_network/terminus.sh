#!/bin/bash
# The original's terminus for PuppetDB against `fixpoint serve`: facts, catalogs with exports, collectors, reports, queries
# of manifests, `puppet node status` and `deactivate`. On loopback, in a scratch directory.
#
#   terminus.sh FIXPOINT [PUPPET]
#
# Needs curl and the terminus (Debian: puppet-terminus-puppetdb). Prints a line for each check and ends with 1 if one failed.
# Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") puppet=${2:-puppet}
if ! command -v "$puppet" > /dev/null || ! ruby -e 'require "puppet"; require "puppet/util/puppetdb"' 2> /dev/null; then
    echo "SKIPPED: there is no '$puppet' with PuppetDB's terminus on this machine; nothing was tested"
    exit 77
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
"$fixpoint" serve -v --listen 127.0.0.1:0 --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
    --set codedir="$D/code" --set certname=localhost --set keylength=2048 ${STORE:+--store "$STORE"} > "$D/listening" 2> "$D/log" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$D"' EXIT
for _ in $(seq 600); do [ -s "$D/listening" ] && break; sleep 0.1; done
port=$(sed -n 's/.*://p' "$D/listening")
[ -n "$port" ] || { echo "FAIL  the server did not start"; cat "$D/log"; exit 1; }
ssl=$D/server/ssl
printf '[main]\nserver_urls = https://localhost:%s\n' "$port" > "$D/puppetdb.conf"
printf -- '---\nmaster:\n  facts:\n    terminus: puppetdb_apply\n    cache: facter\n' > "$D/routes.yaml"
# The terminus asks as the server does whose certificate it has; whose facts and catalogs they are it says itself.
as() { # NAME, a command of puppet
    local name=$1
    shift
    mkdir -p "$D/$name"
    cp "$D/puppetdb.conf" "$D/$name/"
    "$puppet" "$@" --confdir "$D/$name" --vardir "$D/$name/var" --publicdir "$D/$name/public" --rundir "$D/$name/run" \
        --logdir "$D/$name/log" --ssldir "$ssl" --certname localhost --certificate_revocation false \
        --node_name_value "$name" --color false > "$D/out" 2>&1
}
apply() { # NAME MANIFEST
    as "$1" apply --storeconfigs --storeconfigs_backend puppetdb --reports puppetdb --report -e "$2"
}
ask() { curl -s --cacert "$ssl/certs/ca.pem" --cert "$ssl/certs/localhost.pem" --key "$ssl/private_keys/localhost.pem" -G \
    "https://localhost:$port/pdb/query/v4/$1" --data-urlencode "query=$2" > "$D/found"; }

check 'an exporting node runs' apply one "@@notify { 'of one': tag => 'group', message => 'collected' } notify { 'own': }"
check 'without a complaint' lacks "$D/out" 'Error'
ask resources '["and", ["=", "certname", "one"], ["=", "exported", true]]'
check 'its export is kept' has "$D/found" '"title":"of one"'
ask catalogs '["=", "certname", "one"]'
check 'its catalog is kept' has "$D/found" '"certname":"one"'
ask reports '["=", "certname", "one"]'
check 'its report is kept' has "$D/found" '"status":"changed"'
check 'another node runs' apply two "Notify <<| tag == 'group' |>>
\$names = puppetdb_query('nodes[certname] { order by certname }')
notify { 'queried': message => \$names.map |\$one| { \$one['certname'] }.join('+') }
\$own = puppetdb_query(['from', 'resources', ['extract', 'title', ['=', 'exported', true]]])
notify { 'a tree': message => \$own.map |\$one| { \$one['title'] }.join('+') }"
check 'it collects the resource of the first' has "$D/out" "defined 'message' as 'collected'"
check 'its query finds the first' has "$D/out" 'one'
check 'a query as a tree is answered' has "$D/out" "'of one'"
check 'without a complaint' lacks "$D/out" 'Error'
check 'facts are found' as one facts find one --terminus puppetdb
check 'with their values' has "$D/out" '"kernel": "Linux"'
check 'the status of a node is found' as one node status one two
check 'with its catalog' has "$D/out" 'Last catalog: 20'
check 'a node is deactivated' as one node deactivate one
check 'which is told' has "$D/out" 'one'
ask nodes '["=", "certname", "one"]'
check 'and not found any more' lacks "$D/found" '"certname":"one"'
check 'its export is not collected any more' apply two "Notify <<| tag == 'group' |>>"
check 'not at all' lacks "$D/out" 'collected'
[ $failed = 0 ] && echo 'all checks passed'
exit $failed
