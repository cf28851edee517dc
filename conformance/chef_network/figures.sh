#!/usr/bin/env bash
# figures.sh PROGRAM SOURCES
#
# What the real client and chef-zero cost beside ours, in one run: processor time of a client run that changes nothing
# (minimal ohai, against our server), of a small node read and of a large one saved. SOURCES as for against_zero.sh.
# Run it inside a copy of the machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM SOURCES" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") sources=$(realpath "$2")
command -v ruby >/dev/null || { echo "SKIPPED: no ruby, so no original to measure" >&2; exit 77; }
lib=$here/stubs
for dir in chef/lib chef/chef-config/lib chef/chef-utils/lib chef/chef-bin/lib chef-zero/lib \
    license-acceptance/components/ruby/lib ohai/lib mixlib-shellout/lib mixlib-authentication/lib; do
    [ -d "$sources/$dir" ] || { echo "SKIPPED: no $dir below $sources" >&2; exit 77; }
    lib=$lib:$sources/$dir
done
export RUBYLIB=$lib CHEF_LICENSE=accept-no-persist LANG=C.UTF-8
scratch=$(mktemp -d)
cd "$scratch"
mkdir -p repo/cookbooks/{web,base}/recipes
echo "name 'web'; version '1.0.0'; depends 'base'" > repo/cookbooks/web/metadata.rb
echo "name 'base'; version '0.1.0'" > repo/cookbooks/base/metadata.rb
echo "file('$scratch/base') { content 'base' }" > repo/cookbooks/base/recipes/default.rb
echo "include_recipe 'base'; file('$scratch/web') { content 'web' }" > repo/cookbooks/web/recipes/default.rb
set_dirs=(--chef-organization acme --set "vardir=$scratch/var" --set "confdir=$scratch/conf")
"$program" serve import "${set_dirs[@]}" repo > /dev/null
"$program" serve --listen 127.0.0.1:0 --chef 127.0.0.1:0 --chef-plain "${set_dirs[@]}" --set certname=chef.localdomain \
    > ours.out 2>&1 &
ours=$!
zero_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ruby "$sources/chef-zero/bin/chef-zero" --multi-org -H 127.0.0.1 -p "$zero_port" > zero.out 2>&1 &
zero=$!
trap 'kill $ours $zero 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do grep -q "^listening on" ours.out && grep -q "listening at" zero.out && break; sleep 0.1; done
url=http://$(sed -n 's/^listening for Chef on //p' ours.out)/organizations/acme
curl -sf -X POST -H 'Content-Type: application/json' -H 'Accept: application/json' \
    -d '{"name":"acme","full_name":"acme"}' "http://127.0.0.1:$zero_port/organizations" > /dev/null
for who in real ours; do
    cat > $who.rb <<R
chef_server_url '$url'
validation_client_name 'acme-validator'
validation_key '$scratch/var/chef/acme-validator.pem'
node_name '$who'
client_key '$scratch/$who.pem'
file_cache_path '$scratch/cache-$who'
lockfile '$scratch/lock-$who'
R
done
# Each process is waited for by itself, and no shell is between: what the kernel says of it is what it used.
python3 - "$program" "$sources" <<'P'
import os, statistics, sys
program, sources = sys.argv[1:]
words = {
    "real": ["ruby", f"{sources}/chef/chef-bin/bin/chef-client", "-c", "real.rb", "--no-fork", "--no-color", "--minimal-ohai"],
    "ours": [program, "chef-client", "-c", "ours.rb", "--no-color", "--minimal-ohai"],
}

def run(who, *more):
    with open(f"{who}.out", "w+") as out:
        ends = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, out.fileno(), 2)]
        child = os.posix_spawnp(words[who][0], words[who] + list(more), os.environ, file_actions=ends)
        _, status, used = os.wait4(child, 0)
        out.seek(0)
        text = out.read()
    if status:
        sys.exit(f"FAILED: {who}: {text}")
    return text, used.ru_utime + used.ru_stime

for who, count in (("real", 5), ("ours", 21)):
    run(who, "-r", "recipe[web]")
    times = []
    for _ in range(count):
        text, used = run(who)
        assert "0/2 resources updated" in text, text
        times.append(used)
    print(f"{who}: a run that changes nothing: {statistics.median(times) * 1000:.1f} ms of processor time")
P
python3 "$here/figures.py" chef-zero $zero "http://127.0.0.1:$zero_port/organizations/acme"
python3 "$here/figures.py" ours $ours "$url" admin "$scratch/var/chef/admin.pem"
