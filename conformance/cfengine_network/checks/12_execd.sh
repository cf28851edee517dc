# Check 12: cf-execd sends what a run printed, and does not send the same twice. One of each side, in turn; no peer.
mail_dialogue() { # a server for one mail: what the client says goes to FILE
    python3 - "$1" <<'X' &
import socket, sys
listener = socket.create_server(("127.0.0.1", 25))
listener.settimeout(20)
said = open(sys.argv[1], "wb")
try:
    peer, _ = listener.accept()
except TimeoutError:
    sys.exit()
peer.settimeout(20)
peer.sendall(b"220 here\r\n")
data, rest = False, b""
while True:
    got = peer.recv(65536)
    if not got:
        break
    said.write(got)
    said.flush()
    rest += got
    while b"\n" in rest:
        line, rest = rest.split(b"\n", 1)
        line = line.rstrip(b"\r")
        if data:
            if line == b".":
                data = False
                peer.sendall(b"250 kept\r\n")
            continue
        data = line == b"DATA"
        peer.sendall(b"354 go on\r\n" if data else b"221 bye\r\n" if line == b"QUIT" else b"250 ok\r\n")
X
    mailer=$!
    listening 0019
}
both_execd() {
    [ "$way" = "ours server, real client" ] || return 0
    make_site
    local side bin
    for side in S C; do
        bin=$([ $side = S ] && echo "$R" || echo "$O")
        cat > "$W/$side/inputs/promises.cf" <<'X'
body common control { bundlesequence => { "main" }; }
body executor control { mailto => "root@example.org"; mailfrom => "agent@example.org"; smtpserver => "127.0.0.1"; exec_command => "/usr/bin/printf 'one 100%%\n\ntwo\n'"; }
bundle agent main { }
X
        chmod 600 "$W/$side/inputs/promises.cf"
        : > "$W/$side/mail"
        python3 -c 'pass' || { check "cf-execd: python3 speaks for a mail server" false; return; }
        mail_dialogue "$W/$side/mail"
        CFENGINE_TEST_OVERRIDE_WORKDIR=$W/$side timeout 60 "$bin/cf-execd" --once > "$W/$side/said" 2>&1
        wait $mailer
        sed -E 's/\r//; s/^Date: .*/Date:/; s/MD5=[0-9a-f]+/MD5=/' "$W/$side/mail" > "$W/$side/plain"
        : > "$W/$side/again"
        mail_dialogue "$W/$side/again"
        CFENGINE_TEST_OVERRIDE_WORKDIR=$W/$side timeout 60 "$bin/cf-execd" --once >> "$W/$side/said" 2>&1
        kill $mailer 2> /dev/null
        wait $mailer 2> /dev/null
        check "cf-execd of $side: the same again is not sent" test ! -s "$W/$side/again"
        cat "$W/$side"/outputs/cf_* | sed -E 's/[0-9]{6,}//' > "$W/$side/kept"
    done
    check "cf-execd: a mail was sent" holds "$W/S/plain" '^MAIL FROM'
    check "cf-execd: the dialogue is the original's" diff "$W/C/plain" "$W/S/plain"
    check "cf-execd: the files are the original's" diff "$W/C/kept" "$W/S/kept"
}
