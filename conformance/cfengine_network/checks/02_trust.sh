# Check 2: nobody talks to a key that he does not trust.
both_trust() {
    make_site
    server_policy "$TRUSTS"
    client_policy ''
    serve
    run
    check "trust: an unknown server is refused ($way)" holds "$W/out" "TRUST FAILED, server presented untrusted key: MD5="
    check "trust: nothing is copied ($way)" test ! -e "$W/dst/a"
    c "$O/cf-key" -t "127.0.0.1:$S/ppkeys/localhost.pub"
    run
    check "trust: a known server is not ($way)" diff -r "$W/data" "$W/dst"
    unserve
    rm -rf "$W/dst" "$S"/ppkeys/root-*
    server_policy ''
    serve
    run
    check "trust: an unknown client gets nothing ($way)" test ! -e "$W/dst/a"
    unserve
}
