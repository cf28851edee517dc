module RbConfig
  CONFIG = { "MAJOR" => "3", "MINOR" => "2", "TEENY" => "0", "PATCHLEVEL" => "0", "ruby_version" => "3.2.0", "host_os" => "linux-gnu", "target_os" => "linux", "arch" => "x86_64-linux", "host_cpu" => "x86_64", "target_cpu" => "x86_64", "bindir" => "/usr/bin", "ruby_install_name" => "ruby", "RUBY_INSTALL_NAME" => "ruby", "EXEEXT" => "", "prefix" => "/usr", "sysconfdir" => "/etc", "libdir" => "/usr/lib", "rubylibdir" => "/usr/lib/ruby/3.2.0", "sitelibdir" => "/usr/local/lib/site_ruby/3.2.0", "sitedir" => "/usr/local/lib/site_ruby", "DLEXT" => "so", "build_os" => "linux-gnu", "RUBY_PROGRAM_VERSION" => "3.2.0" }
  SIZEOF = { "int" => 4, "short" => 2, "long" => 8, "long long" => 8, "void*" => 8, "size_t" => 8, "time_t" => 8, "float" => 4, "double" => 8, "int64_t" => 8 }
  LIMITS = { "FIXNUM_MAX" => 2**62 - 1, "FIXNUM_MIN" => -2**62, "INT_MAX" => 2**31 - 1, "INT_MIN" => -2**31, "UINT_MAX" => 2**32 - 1, "LONG_MAX" => 2**63 - 1, "LONG_MIN" => -2**63, "ULONG_MAX" => 2**64 - 1 }
  TOPDIR = "/usr"
  def self.ruby = "/usr/bin/ruby"
  def self.expand(v, c = CONFIG) = v
  def self.fire_update!(*) = nil
end
