# Checks 8 and 9 with the whole masterfiles framework: bootstrap to converged, then a run that the hub asks for. MASTERFILES
# says where the framework is; the distribution's own package has one.
both_framework() {
    local masterfiles=${MASTERFILES:-/usr/share/cfengine3/masterfiles} side
    [ -e "$masterfiles/promises.cf" ] || { echo "SKIPPED: no masterfiles framework in $masterfiles"; return; }
    make_site
    two_hosts || { check "framework: namespaces ($way)" false; return; }
    cp -r "$masterfiles/." "$S/masterfiles/"
    chmod -R go-w "$S/masterfiles"
    hub "$S/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "framework: the hub ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    cli "$C/bin/cf-agent" -B 10.9.0.1 > "$W/out" 2>&1
    check "framework: the client ($way)" holds "$W/out" "Bootstrap to '10.9.0.1' completed successfully!"
    check "framework: all files are there ($way)" test "$(cd "$S/masterfiles" && find . -name '*.cf' | wc -l)" -le "$(cd "$C/inputs" && find . -name '*.cf' | wc -l)"
    # What is left to do after a bootstrap is done once.
    cli "$C/bin/cf-agent" -KIf update.cf > "$W/first" 2>&1
    cli "$C/bin/cf-agent" -KI >> "$W/first" 2>&1
    cli "$C/bin/cf-agent" -KIf update.cf > "$W/out" 2>&1
    cli "$C/bin/cf-agent" -KI >> "$W/out" 2>&1
    check "framework: the second run changes nothing ($way)" test ! -s "$W/out"
    [ -s "$W/out" ] && sed 's/^/        /' "$W/out" | head -20
    # The hub asks the client for a run.
    [ -e "$C/cf-serverd.pid" ] || cli "$C/bin/cf-serverd" > /dev/null 2>&1
    for _ in $(seq 100); do
        ip netns exec fxcli sh -c 'grep -qi ":14BC .* 0A" /proc/net/tcp /proc/net/tcp6' && break
        sleep 0.1
    done
    CFENGINE_TEST_OVERRIDE_WORKDIR=$S "$S/bin/cf-key" -t "10.9.0.2:$C/ppkeys/localhost.pub" > /dev/null 2>&1
    CFENGINE_TEST_OVERRIDE_WORKDIR=$C "$C/bin/cf-key" -t "10.9.0.1:$S/ppkeys/localhost.pub" > /dev/null 2>&1
    hub "$S/bin/cf-runagent" -H 10.9.0.2 -D myclass > "$W/out" 2>&1
    check "framework: a run that the hub asked for ($way)" holds "$W/out" '(exit code: 0)'
    check "framework: it has the class ($way)" holds "$W/out" '-D myclass'
    end_hosts
}
