# boot.sh DIR PROGRAM [FIRST ...]: becomes systemd, or FIRST, in a copy of this machine below DIR. Nothing that is written there reaches the
# machine: it lies in memory. The program under test is /usr/local/bin/fixpoint.
set -e
root=$1/root
mount -t tmpfs -o mode=755 tmpfs "$1/layer"
mkdir "$1/layer/upper" "$1/layer/work"
# One device number for all files, as on a plain disk.
mount -t overlay -o "xino=on,lowerdir=/,upperdir=$1/layer/upper,workdir=$1/layer/work" overlay "$root"
mkdir -p "$root/usr/local/bin"
cp "$2" "$root/usr/local/bin/fixpoint"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup" 2>/dev/null || :
mount -t cgroup2 none "$root/sys/fs/cgroup"
for dir in run dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$dir"; done
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
# What would reach for the machine's clock, devices and kernel, or only takes time.
for unit in systemd-timesyncd systemd-networkd systemd-resolved systemd-udevd systemd-udev-trigger systemd-modules-load \
    systemd-sysctl systemd-hwdb-update systemd-logind console-getty; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
[ $# -gt 2 ] || set -- "$@" /lib/systemd/systemd --system --unit=basic.target --log-target=null --show-status=no
shift 2
without=-sys_time,-sys_module,-sys_boot,-sys_rawio
exec env -i container=fixpoint PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --bounding-set "$without" --inh-caps "$without" \
    chroot "$root" "$@"
