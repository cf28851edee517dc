require "resolv"
p Resolv::IPv6.create("2620:0:861::1").to_s, Resolv::IPv4.create("10.1.2.3").to_name.to_s
p Resolv::IPv6.create("::1").to_name, Resolv::IPv6.create("::ffff:1.2.3.4")
p "1.2.3.4" =~ Resolv::IPv4::Regex, "1.2.3.444" =~ Resolv::IPv4::Regex, "fe80::1" =~ Resolv::AddressRegex
begin
  Resolv::IPv4.create("x")
rescue ArgumentError => e
  p e.message
end
p Resolv::DNS::Resource::IN::A.new("192.0.2.1").address.to_s, Resolv.getaddress("192.0.2.7")
p Regexp.compile("a+", Regexp::IGNORECASE)
