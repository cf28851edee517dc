#!/bin/bash
# Applies a small manifest for each of some public modules twice with two programs, each in its own throw-away copy of the
# machine, and compares lines, exit codes and the files that are left.
#
#   run.sh ISOLATE MODULES PUPPET-A PUPPET-B [CASE ...]
#
# ISOLATE DIR COMMAND … runs a command in a throw-away copy of the machine in which only DIR is real; MODULES is a directory of modules; the results are in $OUT (or ./out).
set -u
isolate=$1 modules=$2 first=$3 second=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
cases=("$@")
[ ${#cases[@]} -gt 0 ] || cases=($(cd "$here/cases" && ls *.pp | sed 's/\.pp$//'))
# What differs by nature: times, seconds, the file with the state, checksums of times.
plain() {
    sed -E 's/\x1b\[[0-9;]*m//g; s/in [0-9.]+ seconds/in S seconds/; s/puppet-file[0-9a-z-]+/puppet-fileNAME/; s/20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( \+0000)?/TIME/g; /serverip6 fact/d'
}
for case in "${cases[@]}"; do
    for side in a b; do
        program=$first
        [ $side = b ] && program=$second
        keep=$(mktemp -d)
        cp "$here/cases/$case.pp" "$keep/site.pp"
        timeout 300 "$isolate" "$keep" sh -c "
            mkdir -p /tmp/case /tmp/case-src; echo hello > /tmp/a.txt
            tar -C /tmp -czf /tmp/case-src/a.tar.gz a.txt
            for turn in 1 2; do
                $program apply --modulepath '$modules' --color=false --detailed-exitcodes site.pp
                echo \"code \$?\"
            done
            for file in \$(find /tmp/case /etc/hosts /etc/fstab /etc/motd /etc/timezone /etc/localtime /etc/resolv.conf /etc/ssh /root/.ssh /etc/security /etc/sysctl.d /etc/sysctl.conf /etc/systemd/system /etc/tmpfiles.d /var/spool/cron /etc/alternatives/casealt -newer /tmp/a.txt ! -type d 2>/dev/null | sort); do
                echo \"== \$file \$(stat -c '%A %U %G' \"\$file\") \$(readlink \"\$file\")\"; cat \"\$file\"
            done" > "$keep/raw" 2>&1 < /dev/null
        plain < "$keep/raw" > "$out/$case.$side"
        rm -rf "$keep"
    done
    if diff "$out/$case.a" "$out/$case.b" > "$out/$case.diff"; then echo "$case equal"; else echo "$case differs"; fi
done
