#!/usr/bin/env bash
# ntp.sh PROGRAM SOURCES FACTS [ROUNDS]
#
# The whole of ntp's spec/classes with the original, rspec-puppet 2.9 on CRuby, and with `PROGRAM test`, in turns: the
# processor time of each (the median), the examples, those whose verdict differs, and the ratio.
# SOURCES has puppetlabs-ntp 11.1.1 as `ntp`, puppetlabs-stdlib 9.7.0 as `stdlib` and puppetlabs-augeas_core 2.0.1 as
# `augeas_core`; FACTS has facts in facterdb's layout (4.2/debian-11-x86_64.facts …). Run it inside a copy of the machine.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: $0 PROGRAM SOURCES FACTS [ROUNDS]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") sources=$(realpath "$2") facts=$(realpath "$3") rounds=${4:-5}
for need in "$sources/ntp/spec/classes" "$sources/stdlib/lib" "$sources/augeas_core/lib" "$facts/4.2"; do
    [ -d "$need" ] || { echo "SKIPPED: no $need" >&2; exit 77; }
done
command -v rspec > /dev/null || { echo "SKIPPED: no rspec, so no original to measure" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$sources/ntp" "$scratch/ntp"
cd "$scratch/ntp"
mkdir -p spec/fixtures/modules
ln -sfn "$scratch/ntp" spec/fixtures/modules/ntp
for name in stdlib augeas_core; do ln -sfn "$sources/$name" spec/fixtures/modules/$name; done
ln -sfn "$scratch/ntp/spec/fixtures/my_ntp" spec/fixtures/modules/my_ntp
export FACTERDB_SKIP_DEFAULTDB=1 FACTERDB_SEARCH_PATHS=$facts LANG=C.UTF-8 STUBS=$here/stubs
python3 - "$program" "$scratch" "$rounds" <<'P'
import collections, json, os, resource, statistics, subprocess, sys
program, scratch, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])

def run(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def verdicts(file):
    report = json.load(open(file))
    return collections.Counter((one["file_path"], one["line_number"], one["full_description"], one["status"])
                               for one in report["examples"] if one["file_path"].startswith("./"))

out = {who: f"{scratch}/{who}.json" for who in ("real", "ours")}
real = ["rspec", "-I", os.environ["STUBS"], "--format", "json", "--out", out["real"], "--order", "defined", "spec/classes"]
ours = [program, "test", "--format", "json", "--out", out["ours"], "--order", "defined", "spec/classes"]
seconds = {"real": [], "ours": []}
for round in range(rounds):
    if round < 3:
        seconds["real"].append(run(real))
    for _ in range(3):
        seconds["ours"].append(run(ours))
took = {who: statistics.median(times) for who, times in seconds.items()}
found = {who: verdicts(file) for who, file in out.items()}
def places(one):  # the verdicts alone, by place
    all = collections.Counter()
    for (file, line, _, status), count in one.items():
        all[file, line, status] += count
    return all

differ = (places(found["real"]) - places(found["ours"])).total()
worded = (found["real"] - found["ours"]).total() - differ
passed = sum(count for key, count in found["ours"].items() if key[3] == "passed")
print(f"real: {took['real']:.2f} s, {found['real'].total()} examples ({' '.join(f'{t:.2f}' for t in seconds['real'])})")
print(f"ours: {took['ours']:.3f} s, {found['ours'].total()} examples, {passed} passed, {differ} differ, {worded} worded otherwise "
      f"({' '.join(f'{t:.3f}' for t in seconds['ours'])})")
print(f"{took['real'] / took['ours']:.1f} times less")
P
