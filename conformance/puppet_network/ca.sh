#!/bin/bash
# The same commands of `puppetserver ca` with two programs, the original and ours, each against a `fixpoint serve` of its
# own; compares lines and exit codes. On loopback, in a scratch directory.
#
#   ca.sh FIXPOINT [PUPPETSERVER]
#
# Fingerprints and times differ from run to run and are masked; how an action is called is explained in other words and
# is left out. Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") original=${2:-puppetserver}
if ! command -v "$original" > /dev/null; then
    echo "SKIPPED: there is no '$original' on this machine; nothing was compared"
    exit 77
fi
D=$(mktemp -d)
server=
trap 'kill $server 2> /dev/null; rm -rf "$D"' EXIT
turn() { # DIRECTORY, program and its first arguments
    local d=$1
    shift
    mkdir -p "$d/code/environments/production" "$d/n"
    "$fixpoint" serve --listen 127.0.0.1:0 --set confdir="$d" --set ssldir="$d/ssl" --set vardir="$d/var" --set codedir="$d/code" \
        --set certname=localhost --set keylength=2048 > "$d/listening" 2> "$d/log" &
    server=$!
    for _ in $(seq 600); do [ -s "$d/listening" ] && break; sleep 0.1; done
    printf '[main]\ncertname=localhost\nserver=localhost\nserverport=%s\nca_port=%s\nssldir=%s\ncadir=%s\nkeylength=2048\n' \
        "$(sed -n 's/.*://p' "$d/listening")" "$(sed -n 's/.*://p' "$d/listening")" "$d/ssl" "$d/puppetserver/ca" > "$d/puppet.conf"
    for name in a b longer-name.example.com; do
        openssl req -new -newkey rsa:2048 -nodes -keyout "$d/n/$name.key" -subj "/CN=$name" -out "$d/n/$name.csr" 2> /dev/null
        curl -sk -X PUT -H 'Content-Type: text/plain' --data-binary "@$d/n/$name.csr" \
            "https://localhost:$(sed -n 's/.*://p' "$d/listening")/puppet-ca/v1/certificate_request/$name"
    done
    while read -r line; do
        echo "== $line"
        "$@" ca $line --config "$d/puppet.conf" 2> "$d/err"
        echo "code $?"
        cat "$d/err"
    done << 'END' | sed -E "s#$d#D#g; s/([0-9A-F]{2}:){31}[0-9A-F]{2}/PRINT/g; s/localhost:[0-9]+/localhost:PORT/g; \
        s/([0-9A-F]{2}:){19}[0-9A-F]{2}/PRINT/g; s/20[0-9-]{8}T[0-9:]{8}UTC/TIME/g; /^Usage/,/^==/{/^==/!d}"
list
list --all
list --certname a,nobody
sign --certname a
sign --certname a
sign --certname nobody
list --all
sign --all
sign --all
list
list --all --format json
list --format xml
revoke --certname a
revoke --certname a
revoke --certname nobody
list --all
clean --certname a
clean --certname a
clean --certname nobody
generate --certname made
generate --certname made
list --all
list --certname made
sign
revoke
clean
generate
nothing
END
    kill $server
    wait $server 2> /dev/null
}
turn "$D/original" "$original" > "$D/original.out"
turn "$D/ours" "$fixpoint" puppetserver > "$D/ours.out"
# An authority made by each, and the original's served by us.
offline() { # DIRECTORY, program and its first arguments
    local d=$1
    shift
    mkdir -p "$d/code/environments/production"
    printf '[main]\ncertname=localhost\nserver=localhost\nssldir=%s\ncadir=%s\nkeylength=2048\n' "$d/ssl" "$d/puppetserver/ca" > "$d/puppet.conf"
    for turn in 1 2; do
        "$@" ca setup --config "$d/puppet.conf" 2>&1
        echo "code $?"
    done | sed "s#$d#D#g" | sort -u
    (cd "$d" && find puppetserver ssl -type f | sort)
    cat "$d/puppetserver/ca/serial"
    echo
    sed -E 's/20[0-9-]{8}T[0-9:]{8}UTC/TIME/g' "$d/puppetserver/ca/inventory.txt"
    openssl verify -CAfile "$d/ssl/certs/ca.pem" "$d/ssl/certs/localhost.pem" | sed "s#$d#D#g"
    openssl x509 -in "$d/ssl/certs/localhost.pem" -noout -ext subjectAltName,keyUsage,extendedKeyUsage,basicConstraints |
        sed 's/DNS:puppet, DNS:localhost/DNS:localhost, DNS:puppet/'
}
offline "$D/setup-original" "$original" > "$D/setup-original.out"
offline "$D/setup-ours" "$fixpoint" puppetserver > "$D/setup-ours.out"
cat "$D/setup-original.out" >> "$D/original.out"
cat "$D/setup-ours.out" >> "$D/ours.out"
d=$D/setup-original
"$fixpoint" serve --listen 127.0.0.1:0 --set confdir="$d" --set ssldir="$d/ssl" --set vardir="$d/var" --set codedir="$d/code" \
    --set cadir="$d/puppetserver/ca" --set certname=localhost > "$d/listening" 2> "$d/log" &
server=$!
for _ in $(seq 600); do [ -s "$d/listening" ] && break; sleep 0.1; done
port=$(sed -n 's/.*://p' "$d/listening")
printf 'serverport=%s\nca_port=%s\n' "$port" "$port" >> "$d/puppet.conf"
"$original" ca list --all --config "$d/puppet.conf" > "$D/imported" 2>&1
kill $server
grep -q '^    localhost ' "$D/imported" || { echo "the original's authority is not served:"; cat "$D/imported" "$d/log"; exit 1; }
[ -n "${SHOW:-}" ] && cat "$D/original.out"
if diff "$D/original.out" "$D/ours.out"; then echo "equal: $(grep -c '^== ' "$D/ours.out") commands"; else exit 1; fi
