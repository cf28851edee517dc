#!/usr/bin/env bash
# real_client.sh PROGRAM SOURCES
#
# The real chef-client and knife 18.11.21, from their sources, against `fixpoint serve --chef`: upload with
# knife, register with the validator's key, converge twice, and look at what is kept. SOURCES as for pedant.sh.
# Run it inside a copy of the machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM SOURCES" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") sources=$(realpath "$2")
command -v ruby >/dev/null || { echo "SKIPPED: no ruby, so no real chef-client" >&2; exit 77; }
[ -d "$sources/chef/chef-bin" ] || { echo "SKIPPED: no chef-client below $sources" >&2; exit 77; }
scratch=$(mktemp -d)
cd "$scratch"
"$program" serve --listen 127.0.0.1:0 --chef 127.0.0.1:0 --chef-plain --chef-organization acme \
    --set vardir="$scratch/var" --set confdir="$scratch/conf" --set certname=chef.localdomain > out 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do grep -q "^listening on" out && break; sleep 0.1; done
url=http://$(sed -n 's/^listening for Chef on //p' out)/organizations/acme
lib=$here/stubs
for dir in chef/lib chef/chef-config/lib chef/chef-utils/lib chef/chef-bin/lib chef/knife/lib \
    license-acceptance/components/ruby/lib ohai/lib mixlib-shellout/lib mixlib-authentication/lib; do
    lib=$lib:$sources/$dir
done
export RUBYLIB=$lib CHEF_LICENSE=accept-no-persist LANG=C.UTF-8
mkdir -p repo/cookbooks/{web,base}/recipes repo/roles repo/environments repo/data_bags/users
echo "name 'web'; version '1.0.0'; depends 'base'" > repo/cookbooks/web/metadata.rb
echo "name 'base'; version '0.1.0'" > repo/cookbooks/base/metadata.rb
echo "log 'base'" > repo/cookbooks/base/recipes/default.rb
cat > repo/cookbooks/web/recipes/default.rb <<R
include_recipe 'base'
others = search(:node, '*:*').size
shell = data_bag_item('users', 'alice')['shell']
file('$scratch/made') { content "#{shell} #{node['color']} #{node.chef_environment} #{others >= 0}\n" }
R
echo '{"name":"web","run_list":["recipe[web]"],"default_attributes":{"color":"red"}}' > repo/roles/web.json
echo '{"name":"prod","cookbook_versions":{"web":"~> 1.0"}}' > repo/environments/prod.json
echo '{"id":"alice","shell":"/bin/zsh"}' > repo/data_bags/users/alice.json
cat > knife.rb <<R
chef_server_url '$url'
node_name 'admin'
client_key '$scratch/var/chef/admin.pem'
chef_repo_path '$scratch/repo'
R
cat > client.rb <<R
chef_server_url '$url'
validation_client_name 'acme-validator'
validation_key '$scratch/var/chef/acme-validator.pem'
node_name 'n1.example.com'
client_key '$scratch/client.pem'
file_cache_path '$scratch/cache'
lockfile '$scratch/lock'
R
knife() { ruby "$sources/chef/knife/bin/knife" "$@" -c knife.rb; }
client() { ruby "$sources/chef/chef-bin/bin/chef-client" -c client.rb --no-fork --no-color -r 'role[web]' -E prod; }
expect() { grep -q -- "$2" <<<"$1" || { echo "FAILED: no '$2' in:" >&2; echo "$1" >&2; exit 1; }; }
knife upload /cookbooks /roles /environments /data_bags >/dev/null
expect "$(knife cookbook list)" "^web:* *1.0.0"
expect "$(client)" "2/2 resources updated\|1/2 resources updated"
expect "$(cat made)" "^/bin/zsh red prod true$"
expect "$(client)" "0/2 resources updated"
expect "$(knife node show n1.example.com)" "Recipes: *web, web::default, base::default"
expect "$(knife search node role:web -i)" "n1.example.com"
expect "$(knife client list)" "n1.example.com"
expect "$(knife node run_list add n1.example.com 'recipe[base]')" "recipe\[base\]"
expect "$(knife data bag show users alice)" "shell: /bin/zsh"
expect "$(knife diff /roles /data_bags; echo same)" "^same$"
echo "all checks passed"
