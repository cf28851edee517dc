#!/bin/bash
# Runs a command in a throw-away copy of this machine in which systemd is the first process, and writes what it left.
#
#   booted.sh PROGRAM DIR COMMAND [ARGUMENT ...]
#
# PROGRAM is /usr/local/bin/fixpoint in there and DIR's files are in /root/case, the current directory of the command. Its
# output is ours. DIR/left gets a line for each file that it made, changed or removed: kind, mode, owner, name, digest.
# With PLAIN=1 nothing is booted, which is faster. Packages in $ARCHIVES are in apt's cache, those named in $DEBS are
# installed first; there is no network but loopback. Needs root, systemd and overlayfs.
set -u
program=$1 case=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
wait_for=systemd
[ -z "${PLAIN:-}" ] || wait_for=sleep
unshare --mount --propagation private sh "$here/../crates/fixpoint/tests/systemd/outer.sh" "$dir" "$program" ${PLAIN:+/bin/sleep 900} \
    < /dev/null > /dev/null 2> "$dir/errors" &
outer=$! first=
inside() {
    nsenter --target "$first" --mount --pid --uts --ipc --net --cgroup "--root=/proc/$first/root" "--wd=/proc/$first/root/root/case" -- \
        env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/sh TERM=dumb LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
end() {
    [ -n "$first" ] && kill -9 "$first" 2> /dev/null
    wait "$outer" 2> /dev/null
    rm -rf "$dir"
}
trap end EXIT
for _ in $(seq 900); do
    for shell in $(cat "/proc/$outer/task/$outer/children" 2> /dev/null); do
        for pid in $(cat "/proc/$shell/task/$shell/children" 2> /dev/null); do
            [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = $wait_for ] && first=$pid
        done
    done
    if [ -n "$first" ]; then
        mkdir -p "/proc/$first/root/root/case"
        [ -z "${PLAIN:-}" ] || break
        case $(inside systemctl is-system-running 2> /dev/null) in running | degraded) break ;; esac
    fi
    kill -0 "$outer" 2> /dev/null || break
    sleep 0.1
done
if [ -z "$first" ] || ! kill -0 "$first" 2> /dev/null; then
    echo "systemd did not boot: $(cat "$dir/errors")" >&2
    exit 125
fi
cp -a "$case/." "/proc/$first/root/root/case/"
inside rm -f /etc/apt/apt.conf.d/docker-clean
# The index of manual pages only takes time, a minute a case where packages are installed.
inside ln -sf /bin/true /usr/bin/mandb
[ -z "${DEBS:-}" ] || inside sh -c "dpkg -i $DEBS" > /dev/null 2>&1
[ -z "${ARCHIVES:-}" ] || inside mount --bind "$ARCHIVES" /var/cache/apt/archives
touch "$dir/mark"
inside "$@" < /dev/null
code=$?
nsenter --target "$outer" --mount -- python3 - "$dir/layer/upper" "$dir/mark" < "$here/left.py" | sort > "$case/left"
exit $code
