# What a run of an agent can bring along: sources, trees, templates, facts, a type of the module's own.
class demo (String $out = $facts['demo_out']) {
  file { $out: ensure => directory }
  file { "${out}/src.txt": ensure => file, source => 'puppet:///modules/demo/src.txt' }
  file { "${out}/tree": ensure => directory, recurse => true, source => 'puppet:///modules/demo/tree' }
  file { "${out}/erb.txt": content => template('demo/erb.txt.erb') }
  file { "${out}/epp.txt": content => epp('demo/epp.txt.epp') }
  file { "${out}/secret.txt": content => Sensitive("swordfish\n"), mode => '0600' }
  file { "${out}/deferred.txt": content => Deferred('sprintf', ["%s on the node\n", 'computed']) }
  file { "${out}/trusted.txt": content => "${trusted['certname']} ${trusted['authenticated']} ${trusted['extensions']['pp_role']}\n" }
  marker { "${out}/marker": text => "made by a type of the module\n" }
  exec { 'after source':
    command     => "/bin/echo again >> ${out}/refreshed",
    refreshonly => true,
    subscribe   => File["${out}/src.txt"],
  }
}
