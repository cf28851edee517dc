# compare_runs.rb REQUESTS REAL_NODE OUR_NODE OUR_CLIENT: compares what two clients asked and saved, and verifies the
# signatures of ours with the key that the server has of it.
require "base64"
require "digest"
require "json"
require "openssl"
requests, real_file, our_file, client_file = ARGV
runs = {}
current = nil
File.foreach(requests) do |line|
  if line.start_with?("# ")
    current = line[2..].strip
    runs[current] = []
  elsif current
    runs[current] << JSON.parse(line)
  end
end
problems = []

# What a request is about; files may come in any order.
shape = lambda do |row, who|
  path = row["path"].sub("/organizations/acme", "").gsub(who, "NODE").gsub(/\h{8}-\h{4}-\h{4}-\h{4}-\h{12}/, "ID")
  body = begin
    JSON.parse(row["body"])
  rescue JSON::ParserError
    nil
  end
  keys = body.is_a?(Hash) ? body.keys.sort : []
  keys = [] if path.include?("data-collector")
  [row["method"], path, row["headers"]["x-ops-server-api-version"], keys, row["status"]].to_s
end
%w{first second}.each do |which|
  lists = %w{real ours}.map { |who| runs.fetch("#{who} #{which}").map { |row| shape.call(row, who) } }
  files, rest = lists.map { |list| list.partition { |row| row.include?("file_store") } }.transpose
  problems << "#{which} run: files differ: #{files.map(&:size)}" if files[0].sort != files[1].sort
  next if rest[0] == rest[1]
  (rest[0] - rest[1]).each { |row| problems << "#{which} run: only the real client: #{row}" }
  (rest[1] - rest[0]).each { |row| problems << "#{which} run: only ours: #{row}" }
  problems << "#{which} run: another order:\n  #{rest[0].join("\n  ")}\n---\n  #{rest[1].join("\n  ")}" if rest[0].sort == rest[1].sort
end

# Facts that differ between two looks at one machine, that docs/chef.md lists as missing, or that need a name
# service, which a copy lacks, are left out.
real, ours = [real_file, our_file].map { |file| JSON.parse(File.read(file)) }
%w{chef_environment run_list normal override json_class chef_type}.each do |part|
  problems << "node: #{part}: #{real[part]} and #{ours[part]}" if real[part] != ours[part]
end
real["default"].delete("audit")
problems << "node: default: #{real["default"]} and #{ours["default"]}" if real["default"] != ours["default"]
%w{recipes roles expanded_run_list cookbooks chef_environment chef_guid platform platform_version platform_family
  hostname os os_version}.each do |name|
  a, b = real["automatic"][name], ours["automatic"][name]
  problems << "node: automatic #{name}: #{a} and #{b}" if a != b
end

# Version 1.1: the text itself is under the padding of the signature.
known = OpenSSL::PKey::RSA.new(JSON.parse(File.read(client_file))["public_key"])
verified = 0
runs.select { |name, _| name.start_with?("ours") }.values.flatten.each do |row|
  h = row["headers"]
  next unless h["x-ops-sign"] && h["x-ops-userid"] == "ours"
  sha = ->(text) { Base64.strict_encode64(Digest::SHA1.digest(text)) }
  path = row["path"].sub(/\?.*/, "").squeeze("/").sub(%r{(.)/\z}, '\1')
  text = "Method:#{row["method"]}\nHashed Path:#{sha[path]}\nX-Ops-Content-Hash:#{sha[row["body"].encode("ISO-8859-1").b]}\n" \
    "X-Ops-Timestamp:#{h["x-ops-timestamp"]}\nX-Ops-UserId:#{sha[h["x-ops-userid"]]}"
  signature = (1..20).map { |n| h["x-ops-authorization-#{n}"] }.compact.join
  opened = begin
    known.public_decrypt(Base64.decode64(signature))
  rescue OpenSSL::PKey::PKeyError
    nil
  end
  problems << "signature: #{row["method"]} #{row["path"]}" if opened != text
  verified += 1
end
puts "requests: #{runs.map { |name, list| "#{name} #{list.size}" }.join(", ")}"
puts "signatures verified: #{verified}"
problems << "no signature of ours was seen" if verified.zero?
problems.each { |problem| warn "DIFFERS: #{problem}" }
exit 1 unless problems.empty?
