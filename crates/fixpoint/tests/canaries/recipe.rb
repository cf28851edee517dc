# Sensitive resources, one canary a property, each found only by its number.
Chef::Config[:http_retry_count] = 0
def s(type, name, &block)
  declare_resource(type, name) { sensitive true; ignore_failure true; instance_eval(&block) }
end
s(:file, '/srv/c/f1') { content "CANARY01\n"; mode '0600' }
s(:file, '/srv/c/f2') { content "CANARY02\n" }
s(:file, '/srv/c/f3') { content "fine\n" }
s(:template, '/srv/c/t1') { local true; source '/srv/c/t.erb'; variables(x: 'CANARY05') }
s(:execute, 'e1') { command "echo CANARY06; echo CANARY07 >&2" }
s(:execute, 'e2') { command "echo CANARY08; false" }
s(:execute, 'e3') { command "true"; environment('TOKEN' => 'CANARY09') }
s(:bash, 'b1') { code "echo CANARY10\nexit 1" }
s(:script, 's1') { interpreter 'sh'; code "echo CANARY11\n"; environment('A' => 'CANARY12') }
s(:log, 'l1') { message 'CANARY14'; level :error }
s(:file, '/srv/c/f4') { content "x"; only_if "echo CANARY15; true" }
s(:file, '/srv/c/f5') { content "x"; not_if "echo CANARY16; true" }
s(:file, '/srv/c/none/f6') { content "CANARY17" }
s(:file, '/srv/c/f7') { content "CANARY18"; verify "echo CANARY19; false" }
s(:cron, 'c1') { command 'echo CANARY20'; environment('X' => 'CANARY21'); minute '5' }
s(:cron_d, 'c2') { command 'echo CANARY22'; minute '5' }
s(:systemd_unit, 'x.service') { content "[Service]\nEnvironment=A=CANARY23\n"; action :create; verify false }
s(:file, '/srv/c/f10') { content lazy { raise "no CANARY24".sub(/CANARY\d+/, 'luck') } }
s(:remote_file, '/srv/c/rf') { source 'http://user:CANARY25@127.0.0.1:1/x?token=CANARY26'; headers('Authorization' => 'CANARY27') }
s(:http_request, 'h1') { url 'http://127.0.0.1:1/CANARY28'; message 'CANARY29'; headers('X' => 'CANARY30'); action :post }
s(:git, '/srv/c/g') { repository 'https://u:CANARY31@127.0.0.1:1/r.git'; timeout 5 }
s(:mount, '/srv/c/m') { device '//srv/x'; fstype 'cifs'; options 'user=u,password=CANARY32'; action :enable }
s(:link, '/srv/c/l') { to '/srv/c/CANARY33' }
s(:sudo, 's2') { commands ['/bin/CANARY34']; user 'u'; visudo_path '/bin/true' }
s(:sysctl, 'kernel.none') { value 'CANARY35' }
s(:execute, 'e4') { command ["sh", "-c", "echo CANARY36 >&2; exit 3"]; retries 1; retry_delay 0 }
s(:execute, 'e5') { command "sleep 9; echo CANARY37"; timeout 1 }
s(:execute, 'e6') { command "cat"; input 'CANARY38'; live_stream true }
s(:execute, 'e7') { command "echo CANARY39"; live_stream true }
s(:yum_repository, 'y') { baseurl 'http://x'; description 'd'; password 'CANARY40' }
s(:file, '/srv/c/f8') { content 'CANARY41'; owner 'nosuchuser' }
s(:execute, 'e8') { command "echo ok"; user 'nosuch'; environment('A' => 'CANARY42') }
s(:file, '/srv/c/f9') { content 'CANARY43'; notifies :run, 'execute[e9]' }
s(:execute, 'e9') { command "echo CANARY44; exit 1"; action :nothing }
s(:openssl_ec_private_key, '/srv/c/k.pem') { key_pass 'CANARY46' }
s(:ruby_block, 'r1') { block { puts 'fine' } }
user('canuser') { password '$6$CANARY13$abcdefghijklmnop'; manage_home false }
git('/srv/c/g2') { repository 'https://u:CANARY51@127.0.0.1:1/r.git'; timeout 5; ignore_failure true }
remote_file('/srv/c/rf2') { source 'http://user:CANARY52@127.0.0.1:1/x'; ignore_failure true }
execute('at the end') { command "echo CANARY47; echo CANARY48 >&2; exit 1"; environment('A' => 'CANARY49'); sensitive true }
