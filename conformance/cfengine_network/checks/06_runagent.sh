# Check 6: cf-runagent.
both_runagent() {
    make_site
    server_policy "$TRUSTS"
    client_policy ''
    serve
    c "$O/cf-key" -t "127.0.0.1:$S/ppkeys/localhost.pub"
    r() { c "$O/cf-runagent" -H 127.0.0.1:15308 "$@" > "$W/out" 2>&1; echo "exit $?" >> "$W/out"; }
    r -D role1 --remote-bundles bun1
    check "cf-runagent: runs ($way)" holds "$W/out" "127.0.0.1> -> RUN -D role1 --bundlesequence bun1"
    check "cf-runagent: ends as the command did ($way)" holds "$W/out" "^exit 0"
    r -D bad
    check "cf-runagent: no role ($way)" holds "$W/out" "EXEC denied role activation"
    check "cf-runagent: no status ($way)" holds "$W/out" "^exit 255"
    r -s nosuch
    check "cf-runagent: no class ($way)" holds "$W/out" "Hello  (127.0.0.1), nothing relevant to do here..."
    r -s linux
    check "cf-runagent: a class ($way)" holds "$W/out" "(exit code: 0)"
    unserve
}
