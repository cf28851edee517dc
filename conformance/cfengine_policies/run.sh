#!/bin/bash
# Runs public policies with two agents, each in its own throw-away copy of the machine: -Kn, then twice -KI, then -Kn again;
# of a policy that does not pass cf-promises only what that prints. Compares lines, exit codes and every file that is left.
#
#   run.sh POLICIES MASTERFILES CF-AGENT FIXPOINT [NAME ...]
#
# policies.tsv names them: repository, commit, file; every file of these repositories with a bundle main or a bundlesequence,
# but for those that query servers of the net or print random or ever changing numbers. POLICIES has each repository as owner+name. The lib of MASTERFILES is
# where the agents look for the standard library, under the names it once had too. CF-AGENT is the original, FIXPOINT our program. The results are in $OUT (or
# ./out): NAME.a, NAME.b, NAME.diff. The original's are kept; remove them to run it again.
set -u
policies=$1 masterfiles=$2 original=$3 fixpoint=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
one() {
    local keep
    keep=$(mktemp -d)
    cp -a "$policies/$1/$(dirname "$2")/." "$keep/"
    cat > "$keep/turns" << END
mkdir -p /var/lib/cfengine3/inputs
cp -a '$masterfiles/lib' /var/lib/cfengine3/inputs/
[ -d '$masterfiles/modules' ] && cp -a '$masterfiles/modules/.' /var/lib/cfengine3/modules/
for old in cf_std_library cfengine_stdlib libraries/cfengine_stdlib; do
    grep -q "\"\$old.cf\"" '/root/case/$(basename "$2")' || continue
    mkdir -p \$(dirname /root/case/\$old)
    cp '$masterfiles'/lib/*.cf \$(dirname /root/case/\$old)
    mv \$(dirname /root/case/\$old)/stdlib.cf /root/case/\$old.cf
done
chmod -R go-w /var/lib/cfengine3 /root/case
[ '$3' = /usr/local/bin/cf-agent ] && ln -s fixpoint /usr/local/bin/cf-agent && ln -s fixpoint /usr/local/bin/cf-promises
echo "== check"
\$(dirname '$3')/cf-promises -cf '/root/case/$(basename "$2")' || { echo "code \$?"; exit; }
for turn in -Kn -KI -KI -Kn; do
    echo "== \$turn"
    timeout 60 '$3' \$turn -f '/root/case/$(basename "$2")'
    echo "code \$?"
done
( cd /tmp && find . -mindepth 1 | sort | while read -r name; do
    echo "tmp \$(stat -c '%A %U %G' "\$name") \$name \$(readlink "\$name")"
    if grep -Iqs '' "\$name"; then cat "\$name"; elif [ -f "\$name" ]; then sha256sum < "\$name"; fi
done )
END
    PLAIN=1 timeout 300 "$here/../booted.sh" "${program:-/bin/true}" "$keep" sh turns 2>&1
    sed 's/^/left /' "$keep/left"
    rm -rf "$keep"
}
plain() {
    sed -E -f "$here/plain.sed" | grep -avE -f "$here/own.txt"
}
equal=0 all=0
while IFS=$'\t' read -r repository commit file; do
    [ "$repository" = repository ] && continue
    dir=${repository/\//+}
    name=$(echo "$dir-$file" | sed 's/\.cf$//; s#[/ ]#-#g')
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    [ -s "$out/$name.a.raw" ] || one "$dir" "$file" "$original" > "$out/$name.a.raw"
    [ "$fixpoint" = none ] && continue
    program=$fixpoint
    one "$dir" "$file" /usr/local/bin/cf-agent > "$out/$name.b.raw"
    for side in a b; do plain < "$out/$name.$side.raw" > "$out/$name.$side"; done
    all=$((all + 1))
    if diff -a "$out/$name.a" "$out/$name.b" > "$out/$name.diff"; then
        echo "$name equal"
        equal=$((equal + 1))
    else
        echo "$name differs by $(grep -c '^[<>]' "$out/$name.diff") lines"
    fi
done < "$here/policies.tsv"
echo "cfengine_policies: $equal of $all equal"
