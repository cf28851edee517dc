require "openssl"
%w[MD5 SHA1 SHA224 SHA256 SHA384 SHA512].each { |d|
  puts OpenSSL::HMAC.hexdigest(d, "k"*200, "v"), OpenSSL::HMAC.hexdigest(d, "", ""), OpenSSL::KDF.pbkdf2_hmac("p", salt: "s", iterations: 4096, length: 50, hash: d).unpack1("H*")
}
begin; OpenSSL::KDF.pbkdf2_hmac("p", salt: "s", iterations: 0, length: 20, hash: "SHA256"); rescue => e; p e; end
p 5 & 3, -5 & 0xff, -1 ^ 7, 2**40 | 1, -(2**61) & -1, 1 << 61, 1 << 62, -1 << 61, -1<<62, 3 << 60, 0 << 100, (2**62-1) & (2**62-1), -2**62 | 1, 1 << -1
