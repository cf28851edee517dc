# Check 3: what is denied and what is missing look the same, and the connection goes on.
both_deny() {
    make_site
    server_policy "$TRUSTS"
    mkdir "$W/other"
    echo secret > "$W/other/f"
    cat > "$C/inputs/promises.cf" <<X
body common control { bundlesequence => { "main" }; }
bundle agent main { files: "$W/d1" copy_from => net("$W/other/f"); "$W/d2" copy_from => net("$W/data/none"); "$W/d3" copy_from => net("dat/a"); }
body copy_from net(s) { source => "\$(s)"; servers => { "127.0.0.1" }; portnumber => "15308"; trustkey => "true"; }
X
    chmod 600 "$C/inputs/promises.cf"
    serve
    run
    check "deny: outside of every rule ($way)" holds "$W/out" "Can't stat file '$W/other/f' on '127.0.0.1' in files.copy_from promise"
    check "deny: missing ($way)" holds "$W/out" "Can't stat file '$W/data/none' on '127.0.0.1' in files.copy_from promise"
    check "deny: nothing of it is here ($way)" test ! -e "$W/d1"
    check "deny: what is allowed still comes ($way)" cmp "$W/data/a" "$W/d3"
    unserve
}
