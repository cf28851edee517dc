# Check 1, and 7: a tree is copied once, then what changes; extra files go; both sides remember.
both_copy() {
    make_site
    server_policy "$TRUSTS"
    client_policy 'trustkey => "true"; purge => "true";'
    serve
    run
    check "copy: first run trusts the key ($way)" holds "$W/out" "Trusting new key: $(s "$R/cf-key" -p "$S/ppkeys/localhost.pub")"
    check "copy: first run copies ($way)" holds "$W/out" "Updated file '$W/dst/sub/b' from '127.0.0.1:dat/sub/b'"
    check "copy: the trees are the same ($way)" diff -r "$W/data" "$W/dst"
    run
    check "copy: the second run has nothing to say ($way)" test ! -s "$W/out"
    printf x | dd of="$W/data/sub/b" bs=1 seek=77 conv=notrunc 2> /dev/null
    run
    check "copy: one byte is one file ($way)" holds "$W/out" "Updated '$W/dst/sub/b' from source 'dat/sub/b' on '127.0.0.1'"
    check "copy: and no other ($way)" lacks "$W/out" "dst/a'"
    touch "$W/dst/x"
    run
    check "copy: what the source lacks is purged ($way)" holds "$W/out" "Purged '$W/dst/x' copy dest directory"
    for bin in "$R" "$O"; do
        s "$bin/cf-key" -s > "$W/seen"
        check "seen: the server remembers, ${bin##*/} reads it ($way)" holds "$W/seen" "^Incoming *127.0.0.1 .*$(c "$bin/cf-key" -p "$C/ppkeys/localhost.pub")"
        c "$bin/cf-key" -s > "$W/seen"
        check "seen: the client remembers, ${bin##*/} reads it ($way)" holds "$W/seen" "^Outgoing *127.0.0.1 .*$(c "$bin/cf-key" -p "$S/ppkeys/localhost.pub")"
    done
    unserve
}
