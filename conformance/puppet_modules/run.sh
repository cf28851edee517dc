#!/bin/bash
# Applies a small manifest for each of some public modules with two programs, each in its own throw-away copy of the
# machine with systemd as its first process: first --noop, then twice. Compares lines, exit codes and every file that is left.
# Times, process numbers, names of temporary files and random keys are masked by plain.sed; own.txt has the files that the
# programs keep for themselves.
#
#   run.sh MODULEPATH PUPPET FIXPOINT [CASE ...]
#
# MODULEPATH holds the modules of modules.tsv; a case sees the module it is named after, those on its first line
# (`# modules: …`) and what they depend on. PUPPET is the original, FIXPOINT our program
# (`none`: only the original is run). What the cases install is in
# the archive $ARCHIVES (packages.txt; `apt-get install --download-only`); augeas-tools, which augeas needs in ours, may be named in
# $DEBS. The results are in $OUT (or ./out): CASE.a,
# CASE.b, CASE.diff. The original's are kept while the case is as it was.
set -u
modulepath=$1 puppet=$2 fixpoint=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=($(cd "$here/cases" && ls *.pp | sed 's/\.pp$//'))
# What the original's own packages bring.
core="augeas_core cron_core host_core mount_core selinux_core sshkeys_core yumrepo_core"
one() {
    local keep
    keep=$(mktemp -d)
    cp "$here/cases/$1.pp" "$keep/site.pp"
    mkdir "$keep/modules"
    for module in $(python3 "$here/dependencies.py" "$modulepath" $(sed -n '1s/^# modules: //p' "$keep/site.pp") "$1" $core); do
        ln -s "$module" "$keep/modules/"
    done
    cat > "$keep/turns" << END
mkdir -p /tmp/case /tmp/case-src
echo hello > /tmp/a.txt
touch -d 2020-01-01T00:00:00Z /tmp/a.txt
tar -C /tmp -c a.txt | gzip -n > /tmp/case-src/a.tar.gz
export DEBIAN_FRONTEND=noninteractive
for turn in --noop --no-noop --no-noop; do
    echo "== \$turn"
    $2 apply \$turn --modulepath /root/case/modules --color=false --detailed-exitcodes site.pp
    echo "code \$?"
done
( cd /tmp && find case case-src | sort | while read -r name; do
    echo "tmp \$(stat -c '%A %U %G' "\$name") \$name \$(readlink "\$name")"
    if grep -Iqs '' "\$name"; then cat "\$name"; elif [ -f "\$name" ]; then sha256sum < "\$name"; fi
done )
END
    timeout 900 "$here/../booted.sh" "${program:-/bin/true}" "$keep" sh turns 2>&1
    sed 's/^/left /' "$keep/left"
    rm -rf "$keep"
}
plain() {
    sed -E -f "$here/plain.sed" | grep -avE -f "$here/own.txt"
}
equal=0
for case in "${cases[@]}"; do
    sum=$(sha256sum < "$here/cases/$case.pp")
    if [ "$(cat "$out/$case.sum" 2> /dev/null)" != "$sum" ]; then
        one "$case" "$puppet" > "$out/$case.a.raw" && echo "$sum" > "$out/$case.sum"
    fi
    [ "$fixpoint" = none ] && continue
    program=$fixpoint
    one "$case" "/usr/local/bin/fixpoint puppet" > "$out/$case.b.raw"
    for side in a b; do plain < "$out/$case.$side.raw" > "$out/$case.$side"; done
    if diff -a "$out/$case.a" "$out/$case.b" > "$out/$case.diff"; then
        echo "$case equal"
        equal=$((equal + 1))
    else
        echo "$case differs by $(grep -c '^[<>]' "$out/$case.diff") lines"
    fi
done
echo "puppet_modules: $equal of ${#cases[@]} equal"
