# outer.sh DIR PROGRAM [FIRST ...]: boots systemd (or FIRST) in a copy of this machine below DIR, waits for its end and
# removes the control groups that it made. Runs in a mount namespace of its own.
set -e
here=$(dirname "$0")
mkdir "$1/groups" "$1/root" "$1/layer"
mount -t cgroup2 none "$1/groups"
own=$1/groups/fixpoint-test-$$
mkdir "$own"
echo $$ > "$own/cgroup.procs"
unshare --pid --uts --ipc --net --cgroup --fork sh "$here/boot.sh" "$@" || :
echo $$ > "$1/groups/cgroup.procs"
find "$own" -depth -type d -exec rmdir {} \; 2>/dev/null || :
