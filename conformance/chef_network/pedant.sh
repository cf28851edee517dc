#!/usr/bin/env bash
# pedant.sh PROGRAM SOURCES [PEDANT_FLAGS... -- RSPEC_FLAGS...]
#
# Runs oc-chef-pedant, the Chef Server's own suite, against `fixpoint serve --chef`. SOURCES holds
# checkouts: chef-server, chef (v18.11.21), ohai, mixlib-shellout, mixlib-authentication,
# rspec-rerun, license-acceptance. Ruby with rspec, rest-client, activesupport and the like comes from the
# distribution. Without flags the core set is run: what chef-zero passes. Run it inside a copy of the
# machine.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 PROGRAM SOURCES [PEDANT_FLAGS... -- RSPEC_FLAGS...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1") sources=$(realpath "$2")
shift 2
command -v ruby >/dev/null || { echo "SKIPPED: no ruby, so no suite of the Chef Server" >&2; exit 77; }
[ -d "$sources/chef-server/oc-chef-pedant" ] || { echo "SKIPPED: no oc-chef-pedant below $sources" >&2; exit 77; }
if [ $# -eq 0 ]; then
    set -- --skip-validation --skip-authentication --skip-authorization --skip-oc_id --skip-omnibus \
        --skip-usags --skip-chef-zero-quirks --skip-status --skip=email_case_insensitive \
        --skip=nginx_default_error --skip=response_headers --skip-knife -- -f progress
fi
scratch=$(mktemp -d)
openssl genrsa -traditional -out "$scratch/web.pem" 2048 2> /dev/null
openssl rsa -in "$scratch/web.pem" -pubout -out "$scratch/web.pub" 2> /dev/null
"$program" serve --listen 127.0.0.1:0 --chef 127.0.0.1:0 --chef-plain --chef-web-key "$scratch/web.pub" --set vardir="$scratch/var" \
    --set confdir="$scratch/conf" --set certname=chef.localdomain > "$scratch/out" 2>&1 &
server=$!
python3 - <<'P' > "$scratch/dummy" &
import http.server, sys
class Yes(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    do_GET = do_POST
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes)
print(server.server_port, flush=True); server.serve_forever()
P
dummy=$!
trap 'kill $server $dummy 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do grep -q "^listening on" "$scratch/out" && [ -s "$scratch/dummy" ] && break; sleep 0.1; done
address=$(sed -n 's/^listening for Chef on //p' "$scratch/out")
[ -n "$address" ] || { cat "$scratch/out" >&2; exit 1; }
lib=$here/stubs
for dir in chef/lib chef/chef-config/lib chef/chef-utils/lib chef/chef-bin/lib chef/knife/lib \
    license-acceptance/components/ruby/lib ohai/lib mixlib-shellout/lib mixlib-authentication/lib \
    rspec-rerun/lib chef-server/oc-chef-pedant/lib chef-server/oc-chef-pedant/spec; do
    lib=$lib:$sources/$dir
done
export RUBYLIB=$lib PEDANT_DIR=$sources/chef-server/oc-chef-pedant LANG=C.UTF-8
export CHEF_LICENSE=accept-no-persist CHEF_URL=http://$address DUMMY_URL=http://127.0.0.1:$(cat "$scratch/dummy")/
SUPERUSER_KEY=$(cat "$scratch/var/chef/pivotal.pem")
WEBUI_KEY=$(cat "$scratch/web.pem")
export SUPERUSER_KEY WEBUI_KEY
cd "$scratch"
ruby "$here/pedant_run.rb" "$here/pedant_config.rb" "$@"
