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
run() {
    case $1 in
        real) ruby "$SOURCES/chef/chef-bin/bin/chef-client" -c real.rb --no-fork --no-color --minimal-ohai "${@:2}" ;;
        ours) "$FIXPOINT" chef-client -c ours.rb --no-color --minimal-ohai "${@:2}" ;;
    esac
}
# One process that waits for all of its children knows what they used, by the microsecond.
export -f run
export FIXPOINT=$program SOURCES=$sources
for who in real ours; do
    run $who -r 'recipe[web]' > $who.1 2>&1 || { cat $who.1 >&2; echo "FAILED: first run of $who" >&2; exit 1; }
    count=5
    [ $who = real ] || count=21
    python3 - $who $count <<'P'
import resource, statistics, subprocess, sys
def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
times = []
for _ in range(int(sys.argv[2])):
    before = used()
    done = subprocess.run(["bash", "-c", f"exec 2>&1; run {sys.argv[1]}"], capture_output=True, text=True)
    assert done.returncode == 0 and "0/2 resources updated" in done.stdout, done.stdout
    times.append(used() - before)
before = used()
for _ in range(20):
    subprocess.run(["bash", "-c", "exec 2>&1; :"], check=True)
shell = (used() - before) / 20
print(f"{sys.argv[1]}: a run that changes nothing: {(statistics.median(times) - shell) * 1000:.1f} ms of processor time")
P
done
python3 "$here/figures.py" chef-zero $zero "http://127.0.0.1:$zero_port/organizations/acme"
python3 "$here/figures.py" ours $ours "$url" admin "$scratch/var/chef/admin.pem"
