#!/bin/bash
# The same steps for a real agent and for ours: first run, tampering, a rehearsal, a repair, a changed manifest,
# tampering and a changed manifest at once. The lines about changes must be the same, with `(corrective)` where the real
# agent has it. On loopback, in a scratch directory.
#
#   corrective.sh FIXPOINT [PUPPET]
#
# Prints a line for each step and ends with 1 if one differs. Run it in a throw-away copy.
set -u
fixpoint=$(realpath "$1") puppet=${2:-puppet}
if ! command -v "$puppet" > /dev/null; then
    echo "SKIPPED: there is no '$puppet' on this machine; nothing was compared"
    exit 77
fi
D=$(mktemp -d)
failed=0
site=$D/code/environments/production
mkdir -p "$site/manifests" "$site/modules/m/files" "$D/server"
manifest() { # MODE, CONTENT, COMMAND
    cat > "$site/manifests/site.pp" <<PP
file { \$out: ensure => directory }
file { "\$out/plain": ensure => file, content => "$2\n", mode => '$1' }
file { "\$out/there": ensure => present }
file { "\$out/sourced": source => 'puppet:///modules/m/sourced' }
file { "\$out/gone": ensure => absent }
file { "\$out/link": ensure => link, target => '/etc/passwd' }
exec { 'each time': command => '$3', path => '/bin:/usr/bin' }
exec { 'guarded': command => "touch \$out/guard", creates => "\$out/guard", path => '/bin:/usr/bin' }
notify { 'said': }
PP
}
manifest 0644 one true
echo first > "$site/modules/m/files/sourced"
printf '*\n' > "$D/server/autosign.conf"
"$fixpoint" serve -v --listen 127.0.0.1:0 --set confdir="$D/server" --set ssldir="$D/server/ssl" --set vardir="$D/server/var" \
    --set codedir="$D/code" --set certname=localhost --set keylength=2048 --set autosign="$D/server/autosign.conf" \
    > "$D/listening" 2> "$D/log" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$D"' EXIT
for _ in $(seq 600); do [ -s "$D/listening" ] && break; sleep 0.1; done
port=$(sed -n 's/.*://p' "$D/listening")
[ -n "$port" ] || { echo "FAIL  the server did not start"; cat "$D/log"; exit 1; }
agent() { # WHO, arguments
    local n=$1
    shift
    local program=("$puppet" agent)
    [ "$n" = ours ] && program=("$fixpoint" puppet agent)
    mkdir -p "$D/$n/conf"
    printf '[main]\ncertname=%s\nserver=localhost\nserverport=%s\nssldir=%s\npublicdir=%s\nkeylength=2048\n' \
        "$n" "$port" "$D/$n/ssl" "$D/$n/var/public" > "$D/$n/conf/puppet.conf"
    FACTER_out=$D/$n.d "${program[@]}" -t --confdir "$D/$n/conf" --vardir "$D/$n/var" --rundir "$D/$n/run" --logdir "$D/$n/log" \
        --color=false "$@" > "$D/$n.all" 2>&1
    echo "code $?" >> "$D/$n.all"
    # Diffs, times and names of the scratch directory apart. The real agent prints the diff of a corrective change twice.
    grep -E '^(Notice: /|Error|code)' "$D/$n.all" | sed "s#$D/$n.d#OUT#g; s#$D/$n/#OWN/#g; s/ in [0-9.]* seconds//" | uniq > "$D/$n.lines"
}
step() { # NAME, arguments of the agents
    local name=$1
    shift
    agent real "$@"
    agent ours "$@"
    if diff "$D/real.lines" "$D/ours.lines" > "$D/diff"; then
        echo "ok    $name ($(grep -c corrective "$D/real.lines") corrective)"
    else
        echo "FAIL  $name"
        cat "$D/diff"
        failed=1
    fi
}
tamper() {
    for n in real ours; do
        chmod 600 "$D/$n.d/plain"
        echo other > "$D/$n.d/plain"
        echo other > "$D/$n.d/sourced"
        rm -f "$D/$n.d/there" "$D/$n.d/guard" "$D/$n.d/link"
        touch "$D/$n.d/gone"
    done
}
step "the first run"
step "the second run"
tamper
step "a rehearsal after tampering" --noop
step "a repair"
manifest 0600 two true
echo second > "$site/modules/m/files/sourced"
step "a changed manifest"
tamper
manifest 0640 three true
echo third > "$site/modules/m/files/sourced"
step "tampering and a changed manifest"
manifest 0640 four false
step "a command that fails"
step "it fails again"
[ "$(stat -c %a "$D/real/var/state/transactionstore.yaml")" = "$(stat -c %a "$D/ours/var/state/transactionstore.yaml")" ] \
    && echo "ok    the store has the mode of the original's" || { echo "FAIL  the mode of the store"; failed=1; }
exit $failed
