//! Names and values made for a shell, in every core resource that runs a tool: nothing of them
//! is run. The tools are stand-ins that write down what they are called with.

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const RECIPE: &str = r##"
Chef::Config[:http_retry_count] = 0
VALUES = ["x;touch /srv/P1", "x\ntouch /srv/P2", "$(touch /srv/P3)", "`touch /srv/P4`", "-oProxyCommand=touch /srv/P5",
          "x' ; touch /srv/P6 #", "x\" ; touch /srv/P7 #", "x|touch /srv/P8", "--upload-pack=touch /srv/P9", "x && touch /srv/P10"]
def t(type, name, **props, &block)
  declare_resource(type, name) do
    ignore_failure :quiet
    props.each { |k, v| send(k, v) }
    instance_eval(&block) if block
  end
rescue Chef::Exceptions::ValidationFailed, ArgumentError
  # What a property does not take is not run either.
end
VALUES.each do |v|
  %i[Init Debian Redhat Insserv Invokercd Systemd Simple].each do |way|
    t(:service, v, provider: Chef::Provider::Service.const_get(way), supports: { status: true, restart: true, reload: true }, action: %i[enable start restart reload stop disable])
  end
  t(:service, "#{v} ", user: v, action: %i[enable start])
  t(:systemd_unit, "#{v}.service", content: "[Unit]\n", action: %i[create enable start], verify: false)
  t(:hostname, v, ipaddress: nil)
  t(:sysctl, v, value: v)
  t(:sysctl, "vm.x", value: v)
  t(:ssh_known_hosts_entry, v, port: 22)
  t(:ssh_known_hosts_entry, "h", key_type: v)
  t(:kernel_module, v, action: %i[install load unload uninstall])
  t(:locale, "l#{v}", lang: v)
  t(:timezone, v)
  t(:mdadm, v, devices: [v, v], level: 5, action: %i[create assemble stop])
  t(:mdadm, "/dev/md0", devices: ["/dev/a"], bitmap: v, layout: v, metadata: v)
  t(:swap_file, v, size: 1, action: %i[create remove])
  t(:user, v, comment: v, shell: v, home: v, gid: 1, password: v, action: %i[create modify lock unlock remove])
  t(:group, v, members: [v], action: %i[create modify remove])
  t(:mount, "/mnt#{v}", device: v, fstype: v, options: [v], action: %i[mount remount umount enable])
  t(:route, v, gateway: v, device: v, action: %i[add delete])
  t(:ifconfig, v, device: v, mask: v, action: %i[add enable disable delete])
  t(:cron, v, user: v, command: "true")
  t(:cron_d, "c#{v}", user: v, command: "true")
  t(:git, "/srv/g", repository: v, revision: v, remote: v, checkout_branch: v, action: %i[checkout sync])
  t(:git, "/srv/g2", repository: v, revision: "a" * 40)
  t(:subversion, "/srv/s", repository: v, revision: v, svn_username: v, svn_password: "p", action: %i[checkout export sync])
  t(:alternatives, v, link: v, path: v, priority: 1, action: %i[install set auto refresh remove])
  t(:archive_file, "/srv/a.tar", destination: "/srv/x#{v}", owner: v, group: v)
  t(:archive_file, v, destination: "/srv/y")
  %i[apt_package dpkg_package rpm_package dnf_package yum_package zypper_package pacman_package portage_package gem_package package].each do |kind|
    t(kind, v, version: v, action: %i[install upgrade remove purge lock unlock].first(kind == :gem_package ? 3 : 6))
    t(kind, "p", source: v) unless %i[zypper_package portage_package pacman_package].include?(kind)
  end
  t(:apt_repository, v, uri: v, key: [v, "0xABCDEF01"], keyserver: v, key_proxy: v, components: ["main"], cache_rebuild: false)
  t(:apt_update, v, action: :update)
  t(:apt_preference, v, pin: v, pin_priority: "1")
  t(:yum_repository, v, baseurl: v, description: v, make_cache: true, action: %i[create remove makecache])
  t(:zypper_repository, v, baseurl: v, gpgkey: v, action: %i[create refresh remove])
  t(:rhsm_register, v, activation_key: [v], organization: v)
  t(:rhsm_register, v, username: v, password: v, environment: v, action: :register)
  t(:rhsm_repo, v, action: %i[enable disable])
  t(:rhsm_subscription, v, action: %i[attach remove])
  t(:rhsm_errata, v)
  t(:rhsm_errata_level, v)
  t(:selinux_boolean, v, value: "on")
  t(:selinux_fcontext, v, secontext: v, action: %i[manage delete])
  t(:selinux_port, v, protocol: "tcp", secontext: v, action: %i[manage delete])
  t(:selinux_permissive, v, action: %i[add delete])
  t(:selinux_module, v, content: "x", base_dir: "/srv/m#{v}", action: %i[create install remove])
  t(:selinux_user, v, level: v, range: v, roles: [v], action: %i[manage delete])
  t(:selinux_login, v, user: v, range: v, action: %i[manage delete])
  t(:openssl_dhparam, "/srv/dh#{v.delete("/")}", key_length: 1024)
  t(:openssl_x509_crl, "/srv/crl", ca_cert_file: v, ca_key_file: v, serial_to_revoke: 1)
  t(:sudo, v, user: v, commands: [v], visudo_binary: "/srv/bin/visudo")
  t(:user_ulimit, v, username: v, filehandle_limit: 1)
  t(:chef_client_cron, v, user: v)
  t(:kernel_module, v, options: [v])
  t(:remote_file, "/srv/rf", source: "file:///srv/none#{v.delete("/\n")}")
  t(:http_request, v, url: "http://127.0.0.1:1/")
  t(:link, "/srv/l#{v.delete("/")}", to: v, owner: v)
end
"##;

const TOOLS: &str = "systemctl hostnamectl sysctl ssh-keyscan modprobe lsmod locale locale-gen timedatectl mdadm swapon \
    swapoff mkswap fallocate dd df useradd usermod userdel chpasswd passwd groupadd groupmod groupdel gpasswd mount umount \
    route ip ifconfig crontab git svn update-alternatives alternatives tar unzip apt-get apt-cache apt-mark dpkg dpkg-query \
    dpkg-deb rpm dnf yum zypper pacman emerge gem apt-key gpg apt subscription-manager getsebool setsebool getenforce semanage \
    seinfo semodule make find xargs restorecon openssl visudo update-initramfs hostname insserv chkconfig service update-rc.d invoke-rc.d";

#[test]
fn no_value_of_a_core_resource_is_run() {
    let sandbox = match Sandbox::new(&SandboxOptions::default()) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED no_value_of_a_core_resource_is_run: {error}");
            return;
        }
    };
    sandbox.write("/srv/a.rb".as_ref(), RECIPE.as_bytes()).expect("the box takes files");
    let line = r#"
cd /srv; mkdir bin x y; export FIXPOINT_STATE=/srv/state
cat > /srv/tool <<'END'
#!/bin/sh
{ printf '%s' "${0##*/}"; for w in "$@"; do printf '\037%s' "$w"; done; printf '\036'; } >> /srv/called
[ "${0##*/}" = getenforce ] && echo Permissive
exit 0
END
chmod 755 tool; for t in TOOLS; do cp tool bin/$t; done
for t in /sbin/insserv /sbin/chkconfig /sbin/service /usr/sbin/update-rc.d /usr/sbin/invoke-rc.d /bin/hostname /bin/rpm /usr/bin/hostnamectl /usr/bin/timedatectl; do cp --remove-destination tool $t; done
export PATH=/srv/bin:$PATH; : > a.tar
timeout 240 PROGRAM chef-apply a.rb > out 2>&1; echo "code $?"
grep -c action out; tr '\036' '\n' < called | wc -l
ls -d P[0-9]* /P[0-9]* /root/P[0-9]* 2>/dev/null
echo "execute 'touch /srv/P0; true'" > b.rb; PROGRAM chef-apply b.rb > /dev/null 2>&1; ls P0
cut -d '' -f 1 called | tr '\036\037' '\n,' | cut -d, -f 1 | sort -u | tr '\n' ' '
"#
    .replace("TOOLS", TOOLS)
    .replace("PROGRAM", env!("CARGO_BIN_EXE_fixpoint"));
    let spec = Spec { merge_stderr: true, ..Spec::shell(line) };
    let ended = sandbox.run(&OsHost::new(), &spec).expect("a shell runs in the box");
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let out = sandbox.read("/srv/out".as_ref()).ok().flatten().unwrap_or_default();
    let out = String::from_utf8_lossy(&out).into_owned();
    let tail = &out[out.len().saturating_sub(2000)..];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.first(), Some(&"code 0"), "{text}\n{tail}");
    let number = |at: usize| lines.get(at).and_then(|n| n.trim().parse::<u32>().ok()).unwrap_or(0);
    assert!(number(1) > 500, "actions: {text}");
    assert!(number(2) > 500, "calls: {text}");
    assert_eq!(lines.get(3), Some(&"P0"), "only what a recipe asks for is run: {text}");
    let called: Vec<&str> = lines.last().map(|l| l.split(' ').collect()).unwrap_or_default();
    assert!(called.len() > 35, "tools called: {called:?}");
}
