# Check 13: what one cf-monitord leaves the other's cf-agent knows, and both take promises in the same order.
both_monitord() {
    [ "$R" != "$O" ] || return 0
    make_site
    cat > "$S/inputs/promises.cf" <<X
body common control { bundlesequence => { "main" }; }
bundle agent main
{
  reports:
    "cpu \$(mon.value_cpu)" if => regcmp("[0-9.]+", "\$(mon.value_cpu)");
    "port \$(mon.listening_ports)" if => regcmp("15399", "\$(mon.listening_ports)");
    "scalar \$(mon.value_scalar) \$(mon.av_scalar) text \$(mon.text) list \$(mon.list) growing \$(mon.value_growing)";
    weekly_high:: "weekly is high";
    "late measured" if => regcmp("7.00", "\$(mon.value_late)");
    "early measured" if => regcmp("8.00", "\$(mon.value_early)");
}
bundle monitor measured
{
  measurements:
    late:: "/bin/echo 7" handle => "late", stream_type => "pipe", data_type => "int", history_type => "weekly", match_value => number;
    any::
    "/bin/echo 5" handle => "scalar", stream_type => "pipe", data_type => "int", history_type => "scalar", match_value => number;
    "/bin/echo word" handle => "text", stream_type => "pipe", data_type => "string", history_type => "static", match_value => all;
    "$W/log" handle => "list", stream_type => "file", data_type => "slist", history_type => "static", match_value => all;
    "$W/log" handle => "growing", stream_type => "file", data_type => "counter", history_type => "scalar", match_value => number;
    "/bin/echo 4" handle => "weekly", stream_type => "pipe", data_type => "int", history_type => "weekly", match_value => number;
  classes:
    "late" expression => "any";
}
bundle monitor in_order
{
  classes:
    "before" expression => "any";
  measurements:
    before:: "/bin/echo 8" handle => "early", stream_type => "pipe", data_type => "int", history_type => "weekly", match_value => number;
}
body match_value number { select_line_matching => ".*"; extraction_regex => "(\d+)"; }
body match_value all { select_line_matching => ".*"; extraction_regex => "(.*)"; }
X
    chmod 600 "$S/inputs/promises.cf"
    printf '1\n2\n' > "$W/log"
    python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 15399)); time.sleep(30)' &
    local listener=$!
    listening 3C27
    CFENGINE_TEST_OVERRIDE_WORKDIR=$S timeout 30 "$R/cf-monitord" -F > "$W/said" 2>&1 &
    local monitor=$!
    for _ in $(seq 100); do
        [ -e "$S/state/env_data" ] && break
        sleep 0.1
    done
    CFENGINE_TEST_OVERRIDE_WORKDIR=$S timeout 60 "$O/cf-agent" -K > "$W/out" 2>&1
    kill $monitor $listener
    wait $monitor $listener 2> /dev/null
    check "cf-monitord: processor ($way)" holds "$W/out" 'R: cpu '
    check "cf-monitord: a port that is listened on ($way)" holds "$W/out" 'R: port 15399'
    check "cf-monitord: scalars, texts, lists ($way)" holds "$W/out" 'R: scalar 5 5.00 text word list 2 growing 2'
    check "cf-monitord: classes of a value ($way)" holds "$W/out" 'R: weekly is high'
    check "cf-monitord: a class that is defined later does not count ($way)" lacks "$W/out" 'late measured'
    check "cf-monitord: one that is defined before does ($way)" holds "$W/out" 'early measured'
}
