# Two work directories: S for the server with tools of R, C for the client with tools of O.
make_site() {
    rm -rf "$W"
    mkdir -p "$W/data/sub"
    S=$W/S C=$W/C
    local side bin
    for side in S C; do
        bin=$([ $side = S ] && echo "$R" || echo "$O")
        mkdir -p "$W/$side"/{bin,inputs,state,ppkeys,outputs,masterfiles,modules}
        chmod 700 "$W/$side" "$W/$side/ppkeys"
        for tool in "$bin"/cf-*; do ln -s "$tool" "$W/$side/bin/"; done
        CFENGINE_TEST_OVERRIDE_WORKDIR=$W/$side "$bin/cf-key"
    done
    echo hi > "$W/data/a"
    : > "$W/data/e"
    head -c 70000 /dev/urandom > "$W/data/sub/b"
}
s() { CFENGINE_TEST_OVERRIDE_WORKDIR=$S timeout 60 "$@"; }
c() { CFENGINE_TEST_OVERRIDE_WORKDIR=$C timeout 60 "$@"; }

server_policy() { # what is added to the control body
    cat > "$S/inputs/promises.cf" <<X
body common control { bundlesequence => { "main" }; }
body server control { port => "15308"; allowallconnects => { "127.0.0.1" }; allowlegacyconnects => { "127.0.0.1" };
  allowusers => { "root" }; cfruncommand => "/bin/echo RUN"; maxconnections => "100"; $1 }
bundle agent main { }
bundle server a { access: "$W/data" shortcut => "dat", admit_ips => { "127.0.0.1" }; "/bin/echo" admit_ips => { "127.0.0.1" };
  "bun.*" resource_type => "bundle", admit_ips => { "127.0.0.1" };
  roles: "role.*" authorize => { "root" }; }
X
    chmod 600 "$S/inputs/promises.cf"
}
client_policy() { # what is added to the copy body, and to the common control body
    cat > "$C/inputs/promises.cf" <<X
body common control { bundlesequence => { "main" }; ${2:-} }
bundle agent main { files: "$W/dst" copy_from => net, depth_search => r; }
body copy_from net { source => "dat"; servers => { "127.0.0.1" }; portnumber => "15308"; compare => "digest"; $1 }
body depth_search r { depth => "inf"; }
X
    chmod 600 "$C/inputs/promises.cf"
}
listening() { # waits until somebody listens on a port, given as the kernel lists it
    for _ in $(seq 100); do
        grep -q ":$1 0*:0* 0A" /proc/net/tcp && return
        sleep 0.1
    done
}
serve() {
    s "$S/bin/cf-serverd" -K > /dev/null
    for _ in $(seq 50); do
        (: < /dev/tcp/127.0.0.1/15308) 2> /dev/null && return
        sleep 0.1
    done
}
unserve() {
    kill "$(cat "$S/cf-serverd.pid")"
    for _ in $(seq 50); do
        (: < /dev/tcp/127.0.0.1/15308) 2> /dev/null || return
        sleep 0.1
    done
}
run() { c "$C/bin/cf-agent" -KI > "$W/out" 2>&1; }
TRUSTS='trustkeysfrom => { "127.0.0.1" };'

# Two hosts with a network between them: fxhub has 10.9.0.1, fxcli 10.9.0.2.
two_hosts() {
    ip netns del fxhub 2> /dev/null
    ip netns del fxcli 2> /dev/null
    ip netns add fxhub && ip netns add fxcli || return 1
    ip link add fxv0 netns fxhub type veth peer name fxv1 netns fxcli
    ip -n fxhub addr add 10.9.0.1/24 dev fxv0
    ip -n fxcli addr add 10.9.0.2/24 dev fxv1
    for n in fxhub fxcli; do ip -n $n link set lo up; done
    ip -n fxhub link set fxv0 up
    ip -n fxcli link set fxv1 up
}
end_hosts() {
    local tool side
    for tool in cf-serverd cf-execd cf-monitord; do
        for side in "$S" "$C"; do [ -e "$side/$tool.pid" ] && kill "$(cat "$side/$tool.pid")"; done
    done 2> /dev/null
    ip netns del fxhub
    ip netns del fxcli
}
hub() { ip netns exec fxhub env CFENGINE_TEST_OVERRIDE_WORKDIR="$S" timeout 180 "$@"; }
cli() { ip netns exec fxcli env CFENGINE_TEST_OVERRIDE_WORKDIR="$C" timeout 180 "$@"; }
