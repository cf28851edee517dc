# Checksums of zlib; compression is not here.
module Zlib
  class Error < StandardError; end
  CRC_TABLE = Array.new(256) do |n|
    8.times { n = n.odd? ? (n >> 1) ^ 0xEDB88320 : n >> 1 }
    n
  end.freeze

  def self.crc_table = CRC_TABLE

  def self.crc32(text = nil, crc = 0)
    return 0 if text.nil?
    crc ^= 0xFFFFFFFF
    text.to_s.each_byte { |byte| crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8) }
    crc ^ 0xFFFFFFFF
  end

  def self.adler32(text = nil, adler = 1)
    return 1 if text.nil?
    a = adler & 0xFFFF
    b = adler >> 16
    text.to_s.each_byte do |byte|
      a = (a + byte) % 65521
      b = (b + a) % 65521
    end
    (b << 16) | a
  end
end
