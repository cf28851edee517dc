# Check 5: cf-net.
both_net() {
    make_site
    server_policy "$TRUSTS"
    serve
    n() { c "$O/cf-net" -H 127.0.0.1:15308 "$@" > "$W/out" 2>&1; }
    n connect
    check "cf-net: connect ($way)" holds "$W/out" "Connected & authenticated successfully to '127.0.0.1:15308'"
    n stat dat/a
    check "cf-net: a file ($way)" holds "$W/out" "127.0.0.1:15308:'dat/a' is a regular file"
    n stat dat
    check "cf-net: a directory ($way)" holds "$W/out" "is a directory"
    n stat dat/zz
    check "cf-net: nothing ($way)" holds "$W/out" "Could not stat: 'dat/zz'"
    n opendir dat
    sort "$W/out" > "$W/sorted"
    printf '.\n..\na\ne\nsub\n' | sort > "$W/expected"
    check "cf-net: names ($way)" diff "$W/expected" "$W/sorted"
    n get -o "$W/b" dat/sub/b
    check "cf-net: content ($way)" cmp "$W/b" "$W/data/sub/b"
    unserve
}
