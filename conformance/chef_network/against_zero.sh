#!/usr/bin/env bash
# against_zero.sh PROGRAM SOURCES
#
# Our chef-client against chef-zero, beside the real one: both register, converge twice and save their
# nodes through a recorder. Compared are the requests (method, path, version of the interface, keys of the
# body) and the saved nodes; every signature of ours is verified with the key that was registered. SOURCES as
# for pedant.sh, with chef-zero (v15.1.11) beside. Run it inside a copy of the machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM SOURCES" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") sources=$(realpath "$2")
command -v ruby >/dev/null || { echo "SKIPPED: no ruby, so no chef-zero" >&2; exit 77; }
for dir in chef/chef-bin chef-zero/lib; do
    [ -d "$sources/$dir" ] || { echo "SKIPPED: no $dir below $sources" >&2; exit 77; }
done
lib=$here/stubs
for dir in chef/lib chef/chef-config/lib chef/chef-utils/lib chef/chef-bin/lib chef/knife/lib chef-zero/lib \
    license-acceptance/components/ruby/lib ohai/lib mixlib-shellout/lib mixlib-authentication/lib; do
    lib=$lib:$sources/$dir
done
export RUBYLIB=$lib CHEF_LICENSE=accept-no-persist LANG=C.UTF-8
scratch=$(mktemp -d)
cd "$scratch"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
zero_port=$(free_port) port=$(free_port)
ruby "$sources/chef-zero/bin/chef-zero" --multi-org -H 127.0.0.1 -p "$zero_port" > zero.out 2>&1 &
zero=$!
python3 "$here/recorder.py" "$port" "127.0.0.1:$zero_port" requests.jsonl &
recorder=$!
trap 'kill $zero $recorder 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do grep -q "listening at" zero.out && break; sleep 0.1; done
grep -q "listening at" zero.out || { cat zero.out >&2; exit 1; }
curl -sf -X POST -H 'Content-Type: application/json' -H 'Accept: application/json' \
    -d '{"name":"acme","full_name":"acme"}' "http://127.0.0.1:$zero_port/organizations" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["private_key"], end="")' > validator.pem
url=http://127.0.0.1:$port/organizations/acme
mkdir -p repo/cookbooks/{web,base}/{recipes,files/default} repo/roles repo/environments repo/data_bags/users
echo "name 'web'; version '1.0.0'; depends 'base'" > repo/cookbooks/web/metadata.rb
echo "name 'base'; version '0.1.0'" > repo/cookbooks/base/metadata.rb
echo "log 'base'" > repo/cookbooks/base/recipes/default.rb
echo "a file" > repo/cookbooks/web/files/default/plain
cat > repo/cookbooks/web/recipes/default.rb <<R
include_recipe 'base'
others = search(:node, 'name:none').size
shell = data_bag_item('users', 'alice')['shell']
cookbook_file("$scratch/plain-#{node.name}") { source 'plain' }
node.normal['seen'] = true
file("$scratch/made-#{node.name}") { content "#{shell} #{node['color']} #{node.chef_environment} #{others}\n" }
R
echo '{"name":"web","run_list":["recipe[web]"],"default_attributes":{"color":"red"}}' > repo/roles/web.json
echo '{"name":"prod","cookbook_versions":{"web":"~> 1.0"}}' > repo/environments/prod.json
echo '{"id":"alice","shell":"/bin/zsh"}' > repo/data_bags/users/alice.json
cat > knife.rb <<R
chef_server_url 'http://127.0.0.1:$zero_port/organizations/acme'
node_name 'admin'
client_key '$scratch/validator.pem'
chef_repo_path '$scratch/repo'
R
ruby "$sources/chef/knife/bin/knife" upload /cookbooks /roles /environments /data_bags -c knife.rb > /dev/null 2>&1
for who in real ours; do
    cat > $who.rb <<R
chef_server_url '$url'
validation_client_name 'acme-validator'
validation_key '$scratch/validator.pem'
node_name '$who'
client_key '$scratch/$who.pem'
file_cache_path '$scratch/cache-$who'
lockfile '$scratch/lock-$who'
chef_guid '11111111-2222-3333-4444-555555555555'
R
done
run() {
    case $1 in
        real) ruby "$sources/chef/chef-bin/bin/chef-client" -c real.rb --no-fork --no-color "${@:2}" ;;
        ours) "$program" chef-client -c ours.rb --no-color "${@:2}" ;;
    esac
}
for who in real ours; do
    echo "# $who first" >> requests.jsonl
    run $who -r 'role[web]' -E prod > $who.1 2>&1 || { cat $who.1 >&2; echo "FAILED: first run of $who" >&2; exit 1; }
    echo "# $who second" >> requests.jsonl
    run $who > $who.2 2>&1 || { cat $who.2 >&2; echo "FAILED: second run of $who" >&2; exit 1; }
    curl -sf -H 'Accept: application/json' "http://127.0.0.1:$zero_port/organizations/acme/nodes/$who" > $who.json
    curl -sf -H 'Accept: application/json' "http://127.0.0.1:$zero_port/organizations/acme/clients/$who" > $who.client
done
ruby "$here/compare_runs.rb" requests.jsonl real.json ours.json ours.client
for who in real ours; do
    [ "$(cat "made-$who")" = "/bin/zsh red prod 0" ] || { echo "FAILED: $who made another file" >&2; exit 1; }
    grep -q "0/3 resources updated" $who.2 || { cat $who.2 >&2; echo "FAILED: $who changed something twice" >&2; exit 1; }
done
echo "all checks passed"
