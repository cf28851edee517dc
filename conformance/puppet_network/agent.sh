#!/bin/bash
# A real puppet agent, from nothing, against `fixpoint serve`: request, signature, plug-ins, catalog, files, report;
# a second run, a rehearsal, a repair, another node's certificate, a revocation. On loopback, in a scratch directory.
#
#   agent.sh FIXPOINT [PUPPET]
#
# Prints a line for each check and ends with 1 if one failed. Needs curl and openssl. Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") puppet=${2:-puppet}
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v "$puppet" > /dev/null; then
    echo "SKIPPED: there is no '$puppet' on this machine; nothing was compared"
    exit 77
fi
D=$(mktemp -d)
failed=0
check() { # NAME, then a command
    local name=$1
    shift
    if "$@" > "$D/check" 2>&1; then echo "ok    $name"; else echo "FAIL  $name"; failed=1; fi
}
has() { grep -qF -- "$2" "$1" || { echo "no '$2' in"; cat "$1"; return 1; }; }
lacks() { ! grep -qF -- "$2" "$1" || { echo "'$2' in"; cat "$1"; return 1; }; }
mkdir -p "$D/code/environments" "$D/out" "$D/server/puppetserver/conf.d"
echo 'certificate-authority: { allow-auto-renewal: true }' > "$D/server/puppetserver/conf.d/ca.conf"
cp -r "$here/environment" "$D/code/environments/production"
"$fixpoint" serve -v --listen 127.0.0.1:0 --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
    --set codedir="$D/code" --set certname=localhost --set keylength=2048 > "$D/listening" 2> "$D/log" &
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
    mkdir -p "$D/out/$n"
    DEMO_OUT=$D/out/$n/x "$puppet" agent --confdir "$D/$n/conf" --vardir "$D/$n/var" --rundir "$D/$n/run" --logdir "$D/$n/log" \
        --color=false "$@" > "$D/$n.out" 2>&1
    echo "code $?" >> "$D/$n.out"
}
admin() { # METHOD, path, body
    curl -sS -o "$D/body" -w '%{http_code}' -X "$1" --cacert "$ssl/certs/ca.pem" --cert "$ssl/certs/localhost.pem" \
        --key "$ssl/private_keys/localhost.pem" -H 'Content-Type: application/json' ${3:+-d "$3"} "https://localhost:$port$2"
}
as() { # NODE, METHOD, path
    curl -sS -o "$D/body" -w '%{http_code}' -X "$2" --cacert "$ssl/certs/ca.pem" --cert "$D/$1/ssl/certs/$1.pem" \
        --key "$D/$1/ssl/private_keys/$1.pem" -H 'Accept: application/json' "https://localhost:$port$3"
}
code() { # WANTED, command
    local wanted=$1 got
    shift
    got=$("$@")
    [ "$got" = "$wanted" ] || { echo "$got instead of $wanted"; cat "$D/body"; return 1; }
}

mkdir -p "$D/n1/conf"
printf 'extension_requests:\n  pp_role: web\n' > "$D/n1/conf/csr_attributes.yaml"
agent n1 -t
check "without a signature the agent ends with 1" has "$D/n1.out" "code 1"
check "it says what is missing" has "$D/n1.out" "Couldn't fetch certificate from CA server"
print=$(sed -n 's/.*fingerprint (SHA256): *//p; s/.*fingerprint (SHA256) *//p' "$D/n1.out" | head -1)
code 200 admin GET /puppet-ca/v1/certificate_status/n1 > /dev/null
check "the authority has the request with the agent's fingerprint" has "$D/body" "${print:-none}"
check "it is signed" code 204 admin PUT /puppet-ca/v1/certificate_status/n1 '{"desired_state":"signed"}'

agent n1 -t
cp "$D/n1.out" "$D/first.out"
x=$D/out/n1/x
check "the first run ends with 2" has "$D/n1.out" "code 2"
for line in "Retrieving pluginfacts" "Retrieving plugin" "Caching catalog for n1" "Applied catalog"; do
    check "it prints '$line'" has "$D/n1.out" "$line"
done
check "a source arrived" cmp "$x/src.txt" "$here/environment/modules/demo/files/src.txt"
check "a tree arrived" diff -r "$x/tree" "$here/environment/modules/demo/files/tree"
check "ERB sees both facts" has "$x/erb.txt" "custom from ruby, external from a file"
check "EPP sees both facts" has "$x/epp.txt" "custom from ruby, external from a file"
check "a secret arrived" has "$x/secret.txt" swordfish
check "the secret is in no output" lacks "$D/n1.out" swordfish
check "a value was left to the node" has "$x/deferred.txt" "computed on the node"
check "extensions of the request are trusted facts" has "$x/trusted.txt" "n1 remote web"
check "a type of the module works" has "$x/marker" "made by a type"
check "the report arrived" has "$D/log" '"PUT /puppet/v3/report/n1" 200'
check "puppet ssl verify agrees" "$puppet" ssl verify --confdir "$D/n1/conf" --vardir "$D/n1/var" --certname n1

: > "$D/log"
agent n1 -t
check "the second run ends with 0" has "$D/n1.out" "code 0"
check "it fetches no content" lacks "$D/log" file_content
check "it does not query the node" lacks "$D/log" /v3/node/

echo changed > "$x/src.txt"
agent n1 -t --noop
check "a rehearsal ends with 0" has "$D/n1.out" "code 0"
check "it names what it would do" has "$D/n1.out" "(noop) (corrective)"
check "it changes nothing" has "$x/src.txt" changed
agent n1 -t
check "a repair ends with 2" has "$D/n1.out" "code 2"
check "it is corrective" has "$D/n1.out" "(corrective)"
check "its subscriber ran" has "$x/refreshed" again

agent n1 -t --environment nosuch
check "an environment that is not there is not found" has "$D/n1.out" "not found on server"
check "the agent goes on with another" has "$D/n1.out" "restarting agent run with environment 'production'"

echo 'class demo::broken { fail("no") }' > "$D/code/environments/production/modules/demo/manifests/broken.pp"
echo 'node default { include demo::broken }' > "$D/code/environments/production/manifests/site.pp"
agent n1 -t
check "a failure to compile ends with 1" has "$D/n1.out" "code 1"
check "its text is the compiler's" has "$D/n1.out" "Error 500 on SERVER: Server Error: Evaluation Error"
cp "$here/environment/manifests/site.pp" "$D/code/environments/production/manifests/site.pp"

agent n2 -t
admin PUT /puppet-ca/v1/certificate_status/n2 '{"desired_state":"signed"}' > /dev/null
agent n2 -t
check "a second node runs" has "$D/n2.out" "code 2"
check "a node sees itself" code 200 as n2 GET '/puppet/v3/node/n2?environment=production'
check "a node does not see another" code 403 as n1 GET '/puppet/v3/node/n2?environment=production'
check "nor its catalog" code 403 as n1 GET '/puppet/v3/catalog/n2?environment=production'
check "nor may it administrate" code 403 as n1 GET /puppet-ca/v1/certificate_status/n2

# An agent of version 7 asks for no renewal, one of version 8 does so in this way, with the certificate that it has.
serial() { openssl x509 -noout -serial -in "$1"; }
own=$D/n1/ssl/certs/n1.pem
cp "$own" "$D/old.pem"
renew() { # CERTIFICATE
    curl -sS -o "$D/renewed.pem" -w '%{http_code}' -X POST --cacert "$ssl/certs/ca.pem" --cert "$1" \
        --key "$D/n1/ssl/private_keys/n1.pem" -H 'Content-Type: text/plain' --data '' \
        "https://localhost:$port/puppet-ca/v1/certificate_renewal"
}
check "a certificate is renewed by its holder" code 200 renew "$own"
cp "$D/renewed.pem" "$own"
check "the new one has another serial number" test "$(serial "$own")" != "$(serial "$D/old.pem")"
check "and the same key" cmp <(openssl x509 -noout -pubkey -in "$own") <(openssl x509 -noout -pubkey -in "$D/old.pem")
check "and the extensions of the old one" has <(openssl x509 -noout -text -in "$own") 1.3.6.1.4.1.34380.1.1.13
agent n1 -t
check "the agent runs with it" has "$D/n1.out" "code 0"
check "puppet ssl verify agrees with it" "$puppet" ssl verify --confdir "$D/n1/conf" --vardir "$D/n1/var" --certname n1
check "the old one is not renewed again" code 403 renew "$D/old.pem"

check "n2 is revoked" code 204 admin PUT /puppet-ca/v1/certificate_status/n2 '{"desired_state":"revoked"}'
check "a revoked node is refused" test "$(as n2 GET '/puppet/v3/node/n2?environment=production' 2> /dev/null)" != 200
agent n2 -t
check "a revoked agent ends with 1" has "$D/n2.out" "code 1"
check "another one is served" code 200 as n1 GET '/puppet/v3/node/n1?environment=production'

cp "$D/n2/ssl/certs/n2.pem" "$D/n2.revoked.pem"
cp "$D/n2/ssl/private_keys/n2.pem" "$D/n2.revoked.key"
check "the server forgets n2" code 204 admin DELETE /puppet-ca/v1/certificate_status/n2
check "n2 throws its own away" "$puppet" ssl clean --confdir "$D/n2/conf" --vardir "$D/n2/var" --certname n2
agent n2 -t
check "n2 asks anew" code 200 admin GET /puppet-ca/v1/certificate_status/n2
check "it is signed anew" code 204 admin PUT /puppet-ca/v1/certificate_status/n2 '{"desired_state":"signed"}'
agent n2 -t
check "n2 runs again" has "$D/n2.out" "code 0"
again() {
    curl -sS -o "$D/body" -w '%{http_code}' --cacert "$ssl/certs/ca.pem" --cert "$D/n2.revoked.pem" --key "$D/n2.revoked.key" \
        -H 'Accept: application/json' "https://localhost:$port/puppet/v3/node/n2?environment=production"
}
check "its old certificate stays refused" test "$(again 2> /dev/null)" != 200

if [ $failed = 1 ]; then
    [ -n "${KEEP:-}" ] && cp -r "$D" "$KEEP"
    exit 1
fi
echo "all checks passed"
