# Checksums of files.
require "digest"
class Chef
  class Digester
    def self.instance = @instance ||= new
    def self.checksum_for_file(path) = Digest::SHA256.file(path).hexdigest
    def self.generate_checksum_for_file(path) = checksum_for_file(path)
    def self.generate_md5_checksum_for_file(path) = Digest::MD5.file(path).hexdigest
    def generate_checksum(path) = Digester.checksum_for_file(path)
    alias checksum_for_file generate_checksum
    def generate_md5_checksum_for_file(path) = Digest::MD5.file(path).hexdigest
  end
end
