# Check 10: idle connections and nonsense end no server of ours.
both_abuse() {
    [ "${R##*/}" = ours ] || return 0
    make_site
    server_policy "$TRUSTS"
    client_policy 'trustkey => "true";'
    serve
    local fd fds=() n
    for n in $(seq 100); do exec {fd}<> /dev/tcp/127.0.0.1/15308 && fds+=("$fd"); done
    for n in 't 0\0\0\0\0\0CAUTH x' 'x 5\0\0\0\0\0CAUTH' 't 99999\0CAUTH x' 't 5'; do
        printf "$n" > /dev/tcp/127.0.0.1/15308
    done 2> /dev/null
    head -c 3000000 /dev/urandom > /dev/tcp/127.0.0.1/15308 2> /dev/null
    run
    check "abuse: the server answers all the same ($way)" diff -r "$W/data" "$W/dst"
    check "abuse: its memory is bounded ($way)" test "$(awk '/VmRSS/ { print $2 }' "/proc/$(cat "$S/cf-serverd.pid")/status")" -lt 200000
    for fd in "${fds[@]}"; do exec {fd}>&-; done
    unserve
}
