//! What is done inside, one line of shell each. `$T` calls the test's own helper for system
//! calls that no common program makes. What could harm if it worked only opens the file.

/// What is expected of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// It fails.
    Fails,
    /// It may succeed, in the copy.
    Contained,
}

use Expect::{Contained, Fails};

/// Name, expectation, and the line. With `net:` in front of its name it has the network.
pub(crate) const ACTIONS: &[(&str, Expect, &str)] = &[
    // Settings of the kernel.
    ("swappiness", Fails, "echo 61 > /proc/sys/vm/swappiness"),
    ("drop caches", Fails, "echo 1 > /proc/sys/vm/drop_caches"),
    ("core pattern", Fails, "echo '|/tmp/x' > /proc/sys/kernel/core_pattern"),
    ("modprobe path", Fails, "echo /tmp/x > /proc/sys/kernel/modprobe"),
    ("hotplug path", Fails, "echo /tmp/x > /sys/kernel/uevent_helper"),
    ("host name by file", Fails, "echo fxhost > /proc/sys/kernel/hostname"),
    ("forwarding", Fails, "echo 1 > /proc/sys/net/ipv4/ip_forward"),
    ("net:forwarding of the machine", Fails, "echo 1 > /proc/sys/net/ipv4/ip_forward"),
    ("namespaces", Fails, "echo 7 > /proc/sys/user/max_user_namespaces"),
    ("system requests", Fails, "echo h > /proc/sysrq-trigger"),
    ("interrupts", Fails, "echo 1 > /proc/irq/default_smp_affinity"),
    ("same-page merging", Fails, "echo 1 > /sys/kernel/mm/ksm/run"),
    ("huge pages", Fails, "echo never > /sys/kernel/mm/transparent_hugepage/enabled"),
    ("a processor", Fails, ": >> /sys/devices/system/cpu/cpu1/online"),
    ("sleep", Fails, ": >> /sys/power/state"),
    ("binfmt", Fails, "echo ':x:M::fx::/tmp/x:' > /proc/sys/fs/binfmt_misc/register"),
    ("sysctl tool", Fails, "sysctl -w vm.swappiness=62"),
    // Devices and disks.
    ("block device", Fails, "mknod /tmp/lp b 7 0"),
    ("memory device", Fails, "mknod /tmp/mem c 1 1"),
    ("device by call", Fails, "$T mknod"),
    ("write to a disk", Fails, "mknod /tmp/d b 254 0 && dd if=/dev/zero of=/tmp/d bs=1 count=1"),
    ("loop device", Fails, "truncate -s 1M /tmp/i && losetup -f /tmp/i"),
    ("mode of null", Fails, "chmod 600 /dev/null"),
    ("owner of zero", Fails, "chown 1:1 /dev/zero"),
    ("times of full", Fails, "touch -d 2001-01-01 /dev/full"),
    ("remove null", Fails, "rm -f /dev/null"),
    ("device of the machine", Fails, "echo x > /srv/fx-machine/device"),
    ("swap off", Fails, "swapoff /dev/zram0 || $T swapoff"),
    ("new terminal", Contained, "ls /dev/pts; : < /dev/ptmx"),
    // Mounts.
    ("proc", Fails, "mkdir /tmp/p; mount -t proc proc /tmp/p"),
    ("sysfs", Fails, "mkdir /tmp/p; mount -t sysfs sysfs /tmp/p"),
    (
        "cgroup",
        Fails,
        "mkdir /tmp/p; mount -t cgroup2 none /tmp/p || mount -t cgroup -o pids none /tmp/p",
    ),
    (
        "debug",
        Fails,
        "mount -t debugfs none /mnt || mount -t tracefs none /mnt || mount -t securityfs none /mnt || mount -t bpf none /mnt || mount -t configfs none /mnt",
    ),
    ("device file system", Fails, "mount -t devtmpfs none /mnt"),
    ("temporary file system", Fails, "mount -t tmpfs none /mnt"),
    ("bind", Fails, "mount --bind / /mnt"),
    ("remount proc", Fails, "mount -o remount,rw /proc"),
    ("remount sys", Fails, "mount -o remount,rw /sys"),
    ("remount root with devices", Fails, "mount -o remount,dev /"),
    ("unmount proc", Fails, "umount -l /proc"),
    ("unmount what hides", Fails, "umount /proc/kcore"),
    ("new mount calls", Fails, "$T fsopen"),
    ("tree", Fails, "$T open_tree"),
    ("pivot", Fails, "$T pivot_root"),
    // Namespaces and roots.
    ("user namespace", Fails, "unshare -U true"),
    ("user and mount namespace", Fails, "unshare -Urm true"),
    ("mount namespace", Fails, "unshare -m true"),
    ("enter the first process", Fails, "nsenter -t 1 -m true"),
    ("set namespace by call", Fails, "$T setns"),
    ("climb out of a chroot", Contained, "$T climb"),
    ("root of the first process", Fails, "test -e /proc/1/root/srv"),
    ("descriptors of the first process", Fails, "readlink /proc/1/fd/0"),
    (
        "working directory of another",
        Contained,
        "for p in /proc/[0-9]*; do echo x > $p/cwd/srv/fx-machine/scratch/planted; done",
    ),
    // Processes.
    ("kill all", Contained, "kill -9 -1"),
    ("kill the group", Contained, "kill -9 0"),
    ("end the first process", Contained, "kill -9 1; kill -TERM 1"),
    ("the machine's process", Contained, "for p in $(seq 2 400); do kill -9 $p; done"),
    ("nice", Contained, "renice -n 15 -u root; renice -n -5 -p $$"),
    ("real time", Fails, "chrt -f 99 true"),
    ("out of memory score", Fails, "echo -1000 > /proc/self/oom_score_adj"),
    ("memory of the first process", Fails, ": <> /proc/1/mem"),
    ("fork bomb", Contained, "i=0; while [ $i -lt 3000 ]; do sleep 9 & i=$((i+1)); done"),
    // The machine as a whole.
    ("clock", Fails, "$T clock"),
    ("reboot", Fails, "$T reboot"),
    ("host name by call", Fails, "$T sethostname"),
    ("module", Fails, "$T module"),
    ("module tool", Fails, "insmod /srv/fx-machine/scratch/file || modprobe -r dummy_fx"),
    ("kernel log", Fails, "dmesg -C || $T syslog"),
    ("write to the kernel log", Fails, "test -c /dev/kmsg && echo x > /dev/kmsg"),
    ("firewall", Contained, "iptables -P INPUT DROP; nft add table fx"),
    ("net:firewall of the machine", Contained, "iptables -P INPUT DROP; nft add table fx; true"),
    ("interface", Contained, "ip link set lo down"),
    ("net:interface of the machine", Fails, "ip link set lo down || ifconfig lo down"),
    ("net:raw packets", Fails, "$T raw"),
    // Talking to the machine.
    ("socket", Fails, "$T connect /srv/fx-machine/socket"),
    ("net:socket with the network", Fails, "$T connect /srv/fx-machine/socket"),
    ("abstract socket", Fails, "$T abstract"),
    ("pipe", Contained, "echo x 1<> /srv/fx-machine/pipe"),
    ("shared memory", Contained, "echo x > /dev/shm/fx; ipcmk -M 4096 -Q; true"),
    ("audit", Fails, "$T audit"),
    (
        "control groups",
        Fails,
        "echo 1 > /sys/fs/cgroup/cgroup.procs || echo 1 > /sys/fs/cgroup/pids/cgroup.procs",
    ),
    // Files.
    (
        "files",
        Contained,
        "rm -rf /srv/fx-machine/scratch/*; echo evil >> /etc/passwd; chmod -R 777 /srv/fx-machine; ln -s /etc/shadow /srv/fx-machine/scratch/l",
    ),
    (
        "replace a directory by a link",
        Contained,
        "rm -rf /srv/fx-machine/scratch; ln -s / /srv/fx-machine/scratch; echo x > /srv/fx-machine/scratch/x",
    ),
    ("own mark", Contained, "rm -rf /run/fixpoint-copy; ln -s /srv/fx-machine /run/fixpoint-copy"),
];
