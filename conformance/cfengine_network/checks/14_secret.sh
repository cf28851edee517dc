# Check 14: what one cf-secret encrypts the other decrypts.
both_secret() {
    make_site
    local size
    for size in 0 6 1000000; do
        head -c $size /dev/urandom > "$W/plain"
        s "$R/cf-secret" encrypt -k "$S/ppkeys/localhost.pub,$C/ppkeys/localhost.pub" -o "$W/shut" "$W/plain"
        for side in S C; do
            CFENGINE_TEST_OVERRIDE_WORKDIR=$W/$side "$O/cf-secret" decrypt -o "$W/open" "$W/shut"
            check "cf-secret: $size bytes for $side ($way)" cmp "$W/plain" "$W/open"
            rm -f "$W/open"
        done
    done
    "$R/cf-secret" print-headers "$W/shut" > "$W/one"
    "$O/cf-secret" print-headers "$W/shut" > "$W/other"
    check "cf-secret: headers are printed the same ($way)" diff "$W/one" "$W/other"
}
