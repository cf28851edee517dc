# Check 8: from nothing to the policy of a hub, in two network namespaces.
both_bootstrap() {
    make_site
    ip netns del fxhub 2> /dev/null
    ip netns del fxcli 2> /dev/null
    ip netns add fxhub && ip netns add fxcli || { check "bootstrap: namespaces ($way)" false; return; }
    ip link add fxv0 netns fxhub type veth peer name fxv1 netns fxcli
    ip -n fxhub addr add 10.9.0.1/24 dev fxv0
    ip -n fxcli addr add 10.9.0.2/24 dev fxv1
    for n in fxhub fxcli; do ip -n $n link set lo up; done
    ip -n fxhub link set fxv0 up
    ip -n fxcli link set fxv1 up
    cat > "$S/masterfiles/promises.cf" <<X
body common control { bundlesequence => { "main" }; }
body server control { allowallconnects => { "10.9.0.0/24" }; allowconnects => { "10.9.0.0/24" }; trustkeysfrom => { "10.9.0.0/24" }; }
bundle agent main { reports: "main runs"; }
bundle server a { access: "$S/masterfiles" shortcut => "masterfiles", admit_ips => { "10.9.0.0/24" }; "$S/modules" shortcut => "modules", admit_ips => { "10.9.0.0/24" }; }
X
    chmod 600 "$S/masterfiles/promises.cf"
    ip netns exec fxhub env CFENGINE_TEST_OVERRIDE_WORKDIR="$S" timeout 120 "$S/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "bootstrap: the hub ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    check "bootstrap: the hub is one ($way)" test -e "$S/state/am_policy_hub"
    ip netns exec fxcli env CFENGINE_TEST_OVERRIDE_WORKDIR="$C" timeout 120 "$C/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "bootstrap: the client ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    check "bootstrap: policy was fetched ($way)" cmp "$S/masterfiles/promises.cf" "$C/inputs/promises.cf"
    check "bootstrap: the hub is remembered ($way)" holds "$C/policy_server.dat" '^10.9.0.1$'
    for tool in cf-serverd cf-execd; do
        for side in "$S" "$C"; do [ -e "$side/$tool.pid" ] && kill "$(cat "$side/$tool.pid")"; done
    done 2> /dev/null
    ip netns del fxhub
    ip netns del fxcli
}
