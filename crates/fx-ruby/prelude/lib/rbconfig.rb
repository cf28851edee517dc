module RbConfig
  CONFIG = {
    "MAJOR" => "3", "MINOR" => "2", "TEENY" => "0", "PATCHLEVEL" => "0", "ruby_version" => "3.2.0",
    "host_os" => "linux-gnu", "target_os" => "linux", "arch" => "x86_64-linux",
    "host_cpu" => "x86_64", "target_cpu" => "x86_64", "bindir" => "/usr/bin",
    "ruby_install_name" => "ruby", "RUBY_INSTALL_NAME" => "ruby", "EXEEXT" => "",
    "prefix" => "/usr", "sysconfdir" => "/etc", "libdir" => "/usr/lib",
    "rubylibdir" => "/usr/lib/ruby/3.2.0", "sitelibdir" => "/usr/local/lib/site_ruby/3.2.0",
    "sitedir" => "/usr/local/lib/site_ruby", "DLEXT" => "so", "SOEXT" => "so",
    "archdir" => "/usr/lib/ruby/3.2.0/x86_64-linux",
    "rubyarchdir" => "/usr/lib/ruby/3.2.0/x86_64-linux",
    "sitearchdir" => "/usr/local/lib/site_ruby/3.2.0/x86_64-linux",
    "vendordir" => "/usr/lib/ruby/vendor_ruby",
    "vendorlibdir" => "/usr/lib/ruby/vendor_ruby/3.2.0", "datadir" => "/usr/share",
    "mandir" => "/usr/share/man", "sbindir" => "/usr/sbin", "localstatedir" => "/var",
    "ENABLE_SHARED" => "no", "LIBRUBY" => "libruby-static.a", "LIBRUBY_SO" => "libruby.so.3.2.0",
    "AR" => "ar", "STRIP" => "strip", "CC" => "gcc", "OBJEXT" => "o", "LIBEXT" => "a",
    "PATH_SEPARATOR" => ":", "build" => "x86_64-linux", "build_cpu" => "x86_64",
    "host" => "x86_64-linux", "SHELL" => "/bin/sh", "configure_args" => "",
    "RUBY_SO_NAME" => "ruby", "build_os" => "linux-gnu", "RUBY_PROGRAM_VERSION" => "3.2.0"
  }
  SIZEOF = {
    "int" => 4, "short" => 2, "long" => 8, "long long" => 8, "void*" => 8, "size_t" => 8,
    "time_t" => 8, "float" => 4, "double" => 8, "int8_t" => 1, "uint8_t" => 1, "int16_t" => 2,
    "uint16_t" => 2, "int32_t" => 4, "uint32_t" => 4, "int64_t" => 8, "uint64_t" => 8,
    "intptr_t" => 8, "uintptr_t" => 8, "ssize_t" => 8, "ptrdiff_t" => 8, "off_t" => 8,
    "clock_t" => 8, "__int128" => 16
  }
  LIMITS = {
    "CHAR_MAX" => 127, "CHAR_MIN" => -128, "SCHAR_MAX" => 127, "SCHAR_MIN" => -128,
    "UCHAR_MAX" => 255, "SHRT_MAX" => 32767, "SHRT_MIN" => -32768, "USHRT_MAX" => 65535,
    "LLONG_MAX" => 2**63 - 1, "LLONG_MIN" => -2**63, "ULLONG_MAX" => 2**64 - 1, "INT8_MAX" => 127,
    "INT8_MIN" => -128, "UINT8_MAX" => 255, "INT16_MAX" => 32767, "INT16_MIN" => -32768,
    "UINT16_MAX" => 65535, "INT32_MAX" => 2**31 - 1, "INT32_MIN" => -2**31,
    "UINT32_MAX" => 2**32 - 1, "INT64_MAX" => 2**63 - 1, "INT64_MIN" => -2**63,
    "UINT64_MAX" => 2**64 - 1, "FIXNUM_MAX" => 2**62 - 1, "FIXNUM_MIN" => -2**62,
    "INT_MAX" => 2**31 - 1, "INT_MIN" => -2**31, "UINT_MAX" => 2**32 - 1, "LONG_MAX" => 2**63 - 1,
    "LONG_MIN" => -2**63, "ULONG_MAX" => 2**64 - 1
  }
  TOPDIR = "/usr"
  def self.ruby = "/usr/bin/ruby"
  def self.expand(v, c = CONFIG) = v
  def self.fire_update!(*) = nil
end
