# Check 4: both forms of the protocol, encrypted or not, and TLS 1.3 alone.
both_protocols() {
    make_site
    server_policy "$TRUSTS"
    serve
    local more
    for more in 'protocol_version => "classic";' 'protocol_version => "classic"; encrypt => "true";' 'protocol_version => "2";' 'protocol_version => "latest";'; do
        rm -rf "$W/dst"
        client_policy "trustkey => \"true\"; $more"
        run
        check "protocols: $more ($way)" diff -r "$W/data" "$W/dst"
    done
    rm -rf "$W/dst"
    client_policy 'trustkey => "true";' 'tls_min_version => "1.3";'
    run
    check "protocols: TLS 1.3 alone ($way)" diff -r "$W/data" "$W/dst"
    unserve
}
