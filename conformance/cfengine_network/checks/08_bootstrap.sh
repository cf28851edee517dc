# Check 8: from nothing to the policy of a hub, in two network namespaces.
both_bootstrap() {
    make_site
    two_hosts || { check "bootstrap: namespaces ($way)" false; return; }
    cat > "$S/masterfiles/promises.cf" <<X
body common control { bundlesequence => { "main" }; }
body server control { allowallconnects => { "10.9.0.0/24" }; allowconnects => { "10.9.0.0/24" }; trustkeysfrom => { "10.9.0.0/24" }; }
bundle agent main { reports: "main runs"; }
bundle server a { access: "$S/masterfiles" shortcut => "masterfiles", admit_ips => { "10.9.0.0/24" }; "$S/modules" shortcut => "modules", admit_ips => { "10.9.0.0/24" }; }
X
    chmod 600 "$S/masterfiles/promises.cf"
    hub "$S/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "bootstrap: the hub ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    check "bootstrap: the hub is one ($way)" test -e "$S/state/am_policy_hub"
    cli "$C/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "bootstrap: the client ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    check "bootstrap: policy was fetched ($way)" cmp "$S/masterfiles/promises.cf" "$C/inputs/promises.cf"
    check "bootstrap: the hub is remembered ($way)" holds "$C/policy_server.dat" '^10.9.0.1$'
    end_hosts
}
