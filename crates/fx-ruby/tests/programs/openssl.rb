# OpenSSL as policies use it: digests, ciphers, keys, certificates.
require "openssl"
def t
  p yield
rescue Exception => e
  puts "#{e.class}: #{e.message}"
end
KEY = <<PEM
-----BEGIN RSA PRIVATE KEY-----
MIICXQIBAAKBgQDjS0kg7P3Z87scBdOmMkj1fFHM2ZGWBURihnaTJVwmOeLjcw6m
Xa5ocS224rfRifq17fkw059in3RBbZ49DbAOyW1LB0SLDWGCiQ0tbp7nAziAd0de
G9dpznnR2HMeS4CYirgFP5QTcDxr55pIz1U5IiMmZ9IgM3BrQRaoFaqGzwIDAQAB
AoGAMp1XQY/Ez74o0oqxoPbdrFzs0lM4ylGN8urCiO3u4UxOrBu5DW8bIYLijTFb
gbvaKp09upPFkG61ssQ4UpwzsgvKEmJjLyfgIJe/L3ETngcLoTRDa0a4yKVmhy0u
cfrBaqJtWOKW7KO42tjhH4+PhTLmdInMNqPQ15jZTRt4KQECQQD4a4NnatfKSELH
upE/56R1WZKl2XAdtxgQaUSqpdo2HVvoDIVFyyxtPaVcg6+hrcbECpCW7T6HwNdO
4mqa7A6PAkEA6jrAWqypa5jNYxgJLjTEa2PshZq0GnjhMXeCe9U1m7sPYZdo0nXN
839YLVjlt53AI5V0hJNXVpVzkeu5e+ojwQJBALos+UIcVLUJCuNc81aNaDd6delN
2DSs75/9BLVPrwY3YpW6LHduGVGVjcST/KCS+BAcStiR3PcokzRPg82vdAkCQQCF
q9vEo47YWc60w63Rkcmao98CbERmax/RFCwCMa4zXrCreDYZDaPoV39h+b63aC6T
4CIr2s5YGlhnKUikf/3BAkAgYgPqb+BswWd7bSMMVzzf4ADUL8oiIiVtHpQ9eRKE
wROttbZQUwuzbnIwW9rvkVbXQwjaZ2M/Mg1AkPzEZsJf
-----END RSA PRIVATE KEY-----
PEM
ECKEY = <<PEM
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIF6uj7MQd1nkANxuUEruPxaRJq40IAWyfGLRoQPPgl4XoAoGCCqGSM49
AwEHoUQDQgAEv3DEE1hhv/ZRrxAwKXCbYSWVMhNE3NekpzuIdEPrKufyVW0OKt19
Pw9CipT3BlozwwiL12fHXmunxbNQG0AMQA==
-----END EC PRIVATE KEY-----
PEM
CERT = <<PEM
-----BEGIN CERTIFICATE-----
MIICvzCCAiigAwIBAgIUEY6ZEUkzu5oPcpxCxLIkdAm8yBEwDQYJKoZIhvcNAQEL
BQAwSzELMAkGA1UEBhMCREUxEjAQBgNVBAoMCUFjbWUsIEluYzESMBAGA1UEAwwJ
bG9jYWxob3N0MRQwEgYJKoZIhvcNAQkBFgVhQGIuYzAgFw0yNjExMTYwMzUxMTda
GA8yMTA5MDEwNTAzNTExN1owSzELMAkGA1UEBhMCREUxEjAQBgNVBAoMCUFjbWUs
IEluYzESMBAGA1UEAwwJbG9jYWxob3N0MRQwEgYJKoZIhvcNAQkBFgVhQGIuYzCB
nzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEA40tJIOz92fO7HAXTpjJI9XxRzNmR
lgVEYoZ2kyVcJjni43MOpl2uaHEttuK30Yn6te35MNOfYp90QW2ePQ2wDsltSwdE
iw1hgokNLW6e5wM4gHdHXhvXac550dhzHkuAmIq4BT+UE3A8a+eaSM9VOSIjJmfS
IDNwa0EWqBWqhs8CAwEAAaOBnTCBmjAdBgNVHQ4EFgQUqNOAPJfS4/ZAWc5UCRXU
NFEX5sYwHwYDVR0jBBgwFoAUqNOAPJfS4/ZAWc5UCRXUNFEX5sYwDwYDVR0TAQH/
BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwKwYIKwYBBQUHAQEE
HzAdMBsGCCsGAQUFBzAChg9odHRwOi8veC9jYS5jcnQwDQYJKoZIhvcNAQELBQAD
gYEARdxOjr2+ossM8lqZtJaJeNc4aJmWxksOaPZwGMJzKPnJclQ7e9TOzFytvxVa
xNIGot3Bcg7baSRp8WJsgnwPxHkUKfFyDLDdH2HlIcbwzMeZKyJKyBr2o5xxLGq4
i1olDfnar6zYD5WoK3F/mzPGwluIKV6ODc8vyjdqjDlnXwc=
-----END CERTIFICATE-----
PEM
LOCKED = <<PEM
-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,D8DE4DCB1C0BAC87CEC2E9984B56B9F2

fQw+8S+86Zvto6iqYip0PiTDA/nCHqLWltQW2sDzR0cSOZrnBEcFYK7GSeDw82Qt
6A9z6Y3yI2JYSVu6rALdPTJWtgyLfTP7wGSguc9Aj4NiQiTdvPlR9GswoKEtcTq4
Dt7wmA3rCDjvbDKHhmKrG2k/9RAckr57SWt6JDZ+GZF+E2TqyD0RFe3SPtlm6cVO
SKh0/p6qOFoM7kYQg6N5Np5IbdLhQWV3KRA2+zuAaDz1Gi4r/lUCs1sGtlYXlRgf
d4DEKnffdK1V8YlNHVCVj053VTET/jyLO8e1he10p2bpOJAp9ug2eVUmy8YneNTV
RS+GZgpd3DuoUalU6hFsMh5H6SyakwF5BEQH91rzHaIf6twXbwf67Z9Anz/Cur4h
7x8puboKK4ctje9tYHup3Ljqwr5LYLmHU1uNxTJGJMiiee/mWZyWzPZ4xBSGB584
gwPuQ1+cD5dkmOl6mVOWAQOhuCxlkr5kqz+pkDfgACpcMKTYoufDxhDuhygp2icP
IixmhUxInKpm+opKZDKSiwgzWkq3X79M/CxUwYINVE0Xd9BwUFTxlw32vT47aUFn
W+vMoi92q2gCCW9O8BIuCZC+sqL052qKhlV41GBYUoNyjChftwes5yRtKpNobJuo
4WLCLq9fiISc5dHinokFgT1IVhgvNtf7vvPPdTYAsZB5rU0cbGZrk6AJ3OnvNXdg
XsOaVUpToFyZrrprH2wyCztkGAEiEj9QMUMST++TlzbqTJ6gL57PVHUZDJQADuwK
NA94OoQgg6K1JnlBbHMomSfi2pBYCTEdYm796+MFsy9kkH0kUSb4bxwzIYY8Ut23
-----END RSA PRIVATE KEY-----
PEM
SEALED = <<PEM
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIIC3TBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIY1rgr1iQQpACAggA
MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBB2skaVvZSgWlQ1iK2lUuP2BIIC
gELK9lWikESwI2cM4hxbHOd0nSTFmYK43xz8r0fifSSrw84DB7Jg3/xwuvdeksxI
ft7Djg6ZP3iLYIteXToryEYvUxYZLxho8Z49HtL8f9W7G7iM7iTIO/MSCokjXd/I
pcxD9lAg6OX55crfluM4GVJgk3EnRUntsciNLkas4h+666nIvkQqdIht9UAYLDp0
1Z/2NzwSxyf45V2U4UkatUiBbNNRH7DqF5Bhtp5iL7jDGcQV6uGkMM4i77zG+ou8
iBFtrCfV1eLRCpGAlwZ3blXgRyU72wNpDNvO94kWuAlSwzJms/68CSMLpOdH48p1
r63B+xNN+4O+C/6Zkw1mUbTf5IFxkHFKSk9NIxvApT+lP7pL/BS9REohr8qFdlpE
krTjfQpbrkUkvTleACjxvZvb9ikY6dHWMM4YiAdB4mwHBr8EcPyTRCBVU2wn28q9
U0ac01xFDJjcsQsVDElw1/hId1/XgO+1dqz6qX1Ebr953GbqnFwKNQuHXZOIECqb
sLHNYrph5IVZA6gLArrlldMD5oghfTHoQxf88cXwWq3X/9J1EL20C0+zdQ9L4C1N
V6QW1Z4n7CxoQb2s90JD7L2kxgP81tEkAwam8PtVZciQ7uJaP+jBffTUDcT08dDd
i7Qa/BhUmYEAwLOxdJ61JkhCTwAfzydVYYxTZkBTQUIuoRA8TXW79gq3WXt1kagI
heAm2yqnXAl2hJ2dTaX7Xw/L78dAExlekDzUiPuTpt0GdCZh8SpbhFRffo9ASndh
IxWXKC9ZwmNqpWCOwLexfultrGDwQj6EltxwjybCzC00fELXcNlSvw7onRXhlhSh
frddPCSTsET9itWME0RqS/U=
-----END ENCRYPTED PRIVATE KEY-----
PEM
t { OpenSSL::X509::Certificate.new("x") }
t { OpenSSL::X509::Certificate.new("-----BEGIN CERTIFICATE-----\nzzz\n-----END CERTIFICATE-----\n") }
t { OpenSSL::PKey::RSA.new("x") }
t { OpenSSL::PKey::EC.new("x") }
t { OpenSSL::PKey.read("x") }
t { OpenSSL::X509::Request.new("x") }
t { OpenSSL::Cipher.new("foo") }
t { OpenSSL::Cipher.new("aes-256-cbc").key = "x" }
t { OpenSSL::Cipher.new("aes-256-cbc").iv = "x" }
t { OpenSSL::Digest.new("foo") }
t { OpenSSL::ASN1.decode("\x30\x05\x02") }
t { OpenSSL::X509::Name.parse("/FOO=x") }
t { OpenSSL::PKey::RSA.new(64) }
t { OpenSSL::PKey::RSA.new(LOCKED, "bad") }
%w[aes-128-cbc AES-256-CBC des3].each do |name|
  c = OpenSSL::Cipher.new(name).encrypt
  c.key = "k" * c.key_len
  c.iv = "i" * c.iv_len
  shut = c.update("attack at dawn, with all") + c.final
  d = OpenSSL::Cipher.new(name).decrypt
  d.key = "k" * d.key_len
  d.iv = "i" * d.iv_len
  p c.name, c.block_size, shut.unpack1("H*"), d.update(shut) + d.final
  t { d.update(shut[0, shut.bytesize - 1]); d.final }
end
c = OpenSSL::Cipher.new("aes-256-gcm").encrypt
c.key = "k" * 32
c.iv = "i" * 12
c.auth_data = "head"
shut = c.update("secret") + c.final
p shut, c.auth_tag
d = OpenSSL::Cipher.new("aes-256-gcm").decrypt
d.key = "k" * 32
d.iv = "i" * 12
d.auth_tag = c.auth_tag
d.auth_data = "tail"
t { d.update(shut) + d.final }
c = OpenSSL::Cipher.new("aes-256-cbc").encrypt
c.pkcs5_keyivgen("pass", "saltsalt")
p (c.update("x") + c.final).unpack1("H*")

key = OpenSSL::PKey::RSA.new(KEY)
p key.n.to_s(16)[0, 20], key.e.to_i, key.d.class, key.private?, key.public_key.private?, key.n.num_bits
p key.to_pem == KEY, OpenSSL::PKey::RSA.new(LOCKED, "pw").to_pem == KEY, OpenSSL::PKey.read(SEALED, "pw").to_pem == KEY
puts key.public_key.to_pem, key.private_to_pem
p OpenSSL::PKey::RSA.new(key.public_key.to_pem).to_der == key.public_key.to_der
p OpenSSL::PKey::RSA.new(key.to_pem(OpenSSL::Cipher.new("des3"), "pw"), "pw").n == key.n
sig = key.sign(OpenSSL::Digest.new("SHA256"), "text")
p sig.unpack1("H*")[0, 32], key.verify("SHA256", sig, "text"), key.public_key.verify("SHA256", sig, "other")
p key.private_decrypt(key.public_encrypt("hello"))
p key.public_decrypt(key.private_encrypt("hello"))
ec = OpenSSL::PKey::EC.new(ECKEY)
p ec.group.curve_name, ec.private_key.class, ec.public_key.to_bn.to_s(16)[0, 16], ec.private?
puts ec.to_pem == ECKEY, ec.public_to_pem, ec.private_to_pem
p ec.verify("SHA256", ec.sign("SHA256", "x"), "x"), ec.verify("SHA256", ec.sign("SHA256", "x"), "y")

cert = OpenSSL::X509::Certificate.new(CERT)
p cert.subject, cert.issuer.to_s, cert.subject.to_a, cert.version, cert.serial.to_s(16), cert.signature_algorithm
p cert.subject.to_s(OpenSSL::X509::Name::RFC2253), cert.subject.to_s(OpenSSL::X509::Name::ONELINE)
p cert.not_before, cert.not_after, cert.public_key.class, cert.check_private_key(key), cert.verify(key)
p cert.to_pem == CERT, OpenSSL::X509::Certificate.new(cert.to_der) == cert, OpenSSL::Digest::SHA256.hexdigest(cert.to_der)
cert.extensions.each { |e| p e.oid, e.value, e.critical?, e.to_s, e.to_h, e.value_der }
p cert.ca_issuer_uris
aia = cert.extensions.find { |e| e.oid == "authorityInfoAccess" }
data = OpenSSL::ASN1.decode_all(aia.to_der)
p data.first.entries[1].value, OpenSSL::ASN1.decode(aia.value_der).value[0].value[0].value

c = OpenSSL::X509::Certificate.new
c.version = 2
c.serial = 5
c.subject = OpenSSL::X509::Name.parse("/C=DE/O=Acme/CN=localhost")
c.issuer = c.subject
c.public_key = key.public_key
c.not_before = Time.at(1700000000)
c.not_after = Time.at(4700000000)
ef = OpenSSL::X509::ExtensionFactory.new
ef.subject_certificate = c
ef.issuer_certificate = c
c.add_extension ef.create_extension("basicConstraints", "CA:TRUE,pathlen:0", true)
c.add_extension ef.create_extension("keyUsage", "keyCertSign, cRLSign,digitalSignature", true)
c.add_extension ef.create_extension("extendedKeyUsage", "serverAuth,clientAuth", false)
c.add_extension ef.create_extension("subjectKeyIdentifier", "hash")
c.add_extension ef.create_extension("authorityKeyIdentifier", "keyid:always")
c.add_extension ef.create_extension("subjectAltName", "DNS:localhost,IP:127.0.0.1,email:a@b.c,URI:http://x/,IP:::1")
c.add_extension ef.create_extension("nsComment", "hi there")
c.sign(key, OpenSSL::Digest.new("SHA256"))
puts c.to_pem
c.extensions.each { |e| puts e }
p c.verify(key), c.not_after
r = OpenSSL::X509::Request.new
r.version = 0
r.subject = c.subject
r.public_key = key.public_key
r.sign(key, "SHA256")
puts r.to_pem
p r.verify(key), r.attributes, OpenSSL::X509::Request.new(r.to_pem).subject.to_s
p OpenSSL::X509::Name.parse_rfc2253("CN=x,O=a\\, b").to_a
p OpenSSL::ASN1::Sequence([OpenSSL::ASN1::Integer(-129), OpenSSL::ASN1::Null(nil), OpenSSL::ASN1::Boolean(true), OpenSSL::ASN1::UTF8String("é")]).to_der
p OpenSSL::BN.new("12345678901234567890").to_s(16), OpenSSL::BN.new("ff", 16).to_i, OpenSSL::BN.new(7).mod_exp(5, 13).to_i
p OpenSSL::HMAC.hexdigest("SHA256", "k", "v"), OpenSSL::KDF.pbkdf2_hmac("p", salt: "s", iterations: 10, length: 20, hash: "SHA256").unpack1("H*")
