# OpenSSL::ASN1: DER both ways, and PEM_, the armour around it.
module OpenSSL
  module PEM_
    LINE = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n(.*?)-----END \1-----/m
    # Label, headers and bytes of the first block whose label is wanted.
    def self.read(text, *labels)
      text.scan(LINE) do |label, body|
        next unless labels.empty? || labels.include?(label)
        head = {}
        if body =~ /\A((?:[A-Za-z-]+: .*\n)+)\r?\n/
          body = $'
          $1.each_line { |l| k, v = l.chomp.split(": ", 2); head[k] = v }
        end
        data = body.gsub(/\s/, "")
        ok = data =~ /\A[A-Za-z0-9+\/]*={0,2}\z/ && data.size % 4 == 0
        return [label, head, ok ? data.unpack1("m") : nil]
      end
      nil
    end
    def self.write(label, der, head = nil)
      body = [der].pack("m0").scan(/.{1,64}/).map { |l| "#{l}\n" }.join
      "-----BEGIN #{label}-----\n#{head}#{body}-----END #{label}-----\n"
    end
  end

  module ASN1
    class ASN1Error < OpenSSLError; end
    UNIVERSAL_TAG_NAME = []
    class ASN1Data
      attr_accessor :value, :tag, :tag_class, :indefinite_length
      alias infinite_length indefinite_length
      def initialize(value, tag, tag_class)
        @value, @tag, @tag_class, @indefinite_length = value, tag, tag_class, false
      end
      def to_der
        constructed = ::Array === @value
        body = constructed ? @value.map(&:to_der).join.b : @value.to_s.b
        ASN1.wrap(@tag, @tag_class, constructed, body)
      end
    end
    class Primitive < ASN1Data
      attr_accessor :tagging
      def initialize(value, tag = self.class::TAG, tagging = nil, tag_class = nil)
        super(value, tag, tag_class || (tagging ? :CONTEXT_SPECIFIC : :UNIVERSAL))
        @tagging = tagging
      end
      def to_der
        inner = content_
        return ASN1.wrap(@tag, @tag_class, false, inner) unless @tagging == :EXPLICIT
        ASN1.wrap(@tag, @tag_class, true, ASN1.wrap(self.class::TAG, :UNIVERSAL, false, inner))
      end
      def content_ = @value.to_s.b
    end
    class Constructive < ASN1Data
      include Enumerable
      attr_accessor :tagging
      def initialize(value, tag = self.class::TAG, tagging = nil, tag_class = nil)
        super(value, tag, tag_class || (tagging ? :CONTEXT_SPECIFIC : :UNIVERSAL))
        @tagging = tagging
      end
      def each(&) = (@value.each(&); self)
      def to_der
        parts = @value.map(&:to_der)
        parts = parts.sort if Set === self && @tagging.nil?
        inner = parts.join.b
        return ASN1.wrap(@tag, @tag_class, true, inner) unless @tagging == :EXPLICIT
        ASN1.wrap(@tag, @tag_class, true, ASN1.wrap(self.class::TAG, :UNIVERSAL, true, inner))
      end
    end
    %w[EndOfContent Boolean Integer BitString OctetString Null ObjectId _ _ _ Enumerated _ UTF8String _ _ _ Sequence Set
       NumericString PrintableString T61String VideotexString IA5String UTCTime GeneralizedTime GraphicString
       ISO64String GeneralString UniversalString _ BMPString].each_with_index do |name, tag|
      next if name == "_"
      UNIVERSAL_TAG_NAME[tag] = name
      klass = ::Class.new(%w[Sequence Set].include?(name) ? Constructive : Primitive)
      klass.const_set(:TAG, tag)
      const_set(name, klass)
      const_set(name.upcase, tag) unless name == "_"
      define_singleton_method(name) { |*a| klass.new(*a) }
    end
    BIT_STRING, OCTET_STRING, OBJECT = 3, 4, 6

    class Boolean
      def content_ = (@value ? "\xff" : "\0").b
    end
    class Null
      def initialize(value = nil, *a) = super(value, *(a.empty? ? [5] : a))
      def content_ = "".b
    end
    class Integer
      def content_ = ASN1.int_bytes(@value.to_i)
    end
    class Enumerated
      def content_ = ASN1.int_bytes(@value.to_i)
    end
    class BitString
      attr_accessor :unused_bits
      def initialize(*a) = (super; @unused_bits = 0)
      def content_ = [@unused_bits].pack("C") + @value.b
    end
    class ObjectId
      def oid = ASN1.dotted(@value)
      def short_name = ASN1.names.find { |_, r| r[2] == oid || r[0] == @value || r[1] == @value }&.last&.first
      alias sn short_name
      def long_name = ASN1.names.find { |_, r| r[2] == oid || r[0] == @value || r[1] == @value }&.last&.at(1)
      alias ln long_name
      def ==(o) = ObjectId === o && oid == o.oid
      def content_ = ASN1.oid_bytes(oid)
    end
    class UTCTime
      def content_ = (Time === @value ? @value.getutc.strftime("%y%m%d%H%M%SZ") : @value.to_s).b
    end
    class GeneralizedTime
      def content_ = (Time === @value ? @value.getutc.strftime("%Y%m%d%H%M%SZ") : @value.to_s).b
    end

    CLASSES = %i[UNIVERSAL APPLICATION CONTEXT_SPECIFIC PRIVATE].freeze
    private_constant :CLASSES

    class << self
      def wrap(tag, tag_class, constructed, body)
        first = CLASSES.index(tag_class) << 6 | (constructed ? 0x20 : 0)
        head = tag < 31 ? [first | tag].pack("C") : [first | 31].pack("C") + [tag].pack("w")
        n = body.bytesize
        len = n < 128 ? [n].pack("C") : (b = int_bytes(n).sub(/\A\0/n, ""); [0x80 | b.bytesize].pack("C") + b)
        head + len + body.b
      end

      def int_bytes(n)
        size = n.bit_length / 8 + 1
        h = (n & ((1 << (size * 8)) - 1)).to_s(16).rjust(size * 2, "0")
        [h].pack("H*")
      end

      def oid_bytes(dotted)
        a, b, *rest = dotted.split(".").map(&:to_i)
        [a * 40 + b, *rest].pack("w*")
      end

      def decode(der)
        value, rest = element(der.respond_to?(:to_der) ? der.to_der : der.to_s.b, 0)
        unless rest.empty?
          raise ASN1Error,
            "Type mismatch. Total bytes read: #{der.bytesize - rest.bytesize} Bytes available: #{der.bytesize}"
        end
        value
      end

      def decode_all(der)
        out, rest = [], der.to_s.b
        until rest.empty?
          value, rest = element(rest, 0)
          out << value
        end
        out
      end

      def traverse(der)
        walk = lambda do |v, depth|
          yield depth, 0, 0, 0, ::Array === v.value, v.tag_class, v.tag
          v.value.each { |x| walk.(x, depth + 1) } if ::Array === v.value
        end
        decode_all(der).each { |v| walk.(v, 0) }
      end

      # The element at the front and what follows it.
      def element(der, depth)
        raise ASN1Error, "nested too deeply" if depth > 64
        raise ASN1Error, "header too long" if der.bytesize < 2
        first, at = der.getbyte(0), 1
        tag = first & 31
        if tag == 31
          tag = 0
          loop do
            b = der.getbyte(at) or raise ASN1Error, "header too long"
            at += 1
            tag = tag << 7 | (b & 127)
            break if b < 128
          end
        end
        len = der.getbyte(at) or raise ASN1Error, "header too long"
        at += 1
        if len == 0x80
          raise ASN1Error, "indefinite length is not supported"
        elsif len > 128
          n = len & 127
          raise ASN1Error, "header too long" if n > 8 || der.bytesize < at + n
          len = der.byteslice(at, n).unpack1("H*").to_i(16)
          at += n
        end
        raise ASN1Error, "too long" if at + len > der.bytesize
        body, rest = der.byteslice(at, len), der.byteslice(at + len..)
        [build(first, tag, body, depth), rest]
      end

      def build(first, tag, body, depth)
        tag_class = CLASSES[first >> 6]
        if first & 0x20 != 0
          inner = []
          until body.empty?
            v, body = element(body, depth + 1)
            inner << v
          end
          return ASN1Data.new(inner, tag, tag_class) unless tag_class == :UNIVERSAL
          return (tag == 17 ? Set : tag == 16 ? Sequence : Constructive).new(inner, tag)
        end
        return ASN1Data.new(body, tag, tag_class) unless tag_class == :UNIVERSAL
        name = UNIVERSAL_TAG_NAME[tag]
        return ASN1Data.new(body, tag, tag_class) unless name
        value =
          case name
          when "Boolean" then body.getbyte(0) != 0
          when "Integer", "Enumerated" then BN.new(signed(body))
          when "BitString" then body.byteslice(1..).b
          when "Null" then nil
          when "ObjectId" then name_of(dots(body))
          when "UTCTime", "GeneralizedTime" then time(body)
          when "UTF8String" then body.dup.force_encoding("UTF-8")
          else body
          end
        out = const_get(name).new(value)
        out.unused_bits = body.getbyte(0) if name == "BitString"
        out
      end

      def signed(body)
        n = body.unpack1("H*").to_i(16)
        body.getbyte(0).to_i >= 128 ? n - (1 << (8 * body.bytesize)) : n
      end

      def dots(body)
        first, *rest = body.unpack("w*")
        a = first < 40 ? 0 : first < 80 ? 1 : 2
        [a, first - 40 * a, *rest].join(".")
      end

      def time(body)
        year = body.bytesize > 13 ? body[0, 4].to_i : (y = body[0, 2].to_i; y < 50 ? 2000 + y : 1900 + y)
        rest = body.bytesize > 13 ? body[4..] : body[2..]
        Time.utc(year, *rest[0, 10].scan(/../).map(&:to_i))
      end

      # Short name, long name, dotted form.
      def names
        @names ||= [
          %w[C countryName 2.5.4.6], %w[ST stateOrProvinceName 2.5.4.8], %w[L localityName 2.5.4.7],
          %w[O organizationName 2.5.4.10],
          %w[OU organizationalUnitName 2.5.4.11], %w[CN commonName 2.5.4.3],
          %w[emailAddress emailAddress 1.2.840.113549.1.9.1],
          %w[SN surname 2.5.4.4], %w[GN givenName 2.5.4.42], %w[serialNumber serialNumber 2.5.4.5],
          %w[title title 2.5.4.12], %w[street streetAddress 2.5.4.9], %w[postalCode postalCode 2.5.4.17],
          %w[DC domainComponent 0.9.2342.19200300.100.1.25], %w[UID userId 0.9.2342.19200300.100.1.1],
          %w[rsaEncryption rsaEncryption 1.2.840.113549.1.1.1], %w[RSA-MD5 md5WithRSAEncryption 1.2.840.113549.1.1.4],
          %w[
            RSA-SHA1 sha1WithRSAEncryption 1.2.840.113549.1.1.5
          ], %w[
            RSA-SHA224 sha224WithRSAEncryption 1.2.840.113549.1.1.14
          ], %w[RSA-SHA256 sha256WithRSAEncryption 1.2.840.113549.1.1.11],
          %w[
            RSA-SHA384 sha384WithRSAEncryption 1.2.840.113549.1.1.12
          ], %w[RSA-SHA512 sha512WithRSAEncryption 1.2.840.113549.1.1.13],
          %w[
            id-ecPublicKey id-ecPublicKey 1.2.840.10045.2.1
          ], %w[
            prime256v1 prime256v1 1.2.840.10045.3.1.7
          ], %w[secp384r1 secp384r1 1.3.132.0.34], %w[secp521r1 secp521r1 1.3.132.0.35],
          %w[
            ecdsa-with-SHA1 ecdsa-with-SHA1 1.2.840.10045.4.1
          ], %w[
            ecdsa-with-SHA256 ecdsa-with-SHA256 1.2.840.10045.4.3.2
          ], %w[
            ecdsa-with-SHA384 ecdsa-with-SHA384 1.2.840.10045.4.3.3
          ], %w[ecdsa-with-SHA512 ecdsa-with-SHA512 1.2.840.10045.4.3.4],
          %w[DSA dsaEncryption 1.2.840.10040.4.1], %w[ED25519 ED25519 1.3.101.112],
          ["basicConstraints", "X509v3 Basic Constraints", "2.5.29.19"], ["keyUsage", "X509v3 Key Usage", "2.5.29.15"],
          ["extendedKeyUsage", "X509v3 Extended Key Usage", "2.5.29.37"],
          ["subjectKeyIdentifier", "X509v3 Subject Key Identifier", "2.5.29.14"],
          ["authorityKeyIdentifier", "X509v3 Authority Key Identifier", "2.5.29.35"],
          ["subjectAltName", "X509v3 Subject Alternative Name", "2.5.29.17"],
          ["issuerAltName", "X509v3 Issuer Alternative Name", "2.5.29.18"],
          ["crlDistributionPoints", "X509v3 CRL Distribution Points", "2.5.29.31"],
          ["certificatePolicies", "X509v3 Certificate Policies", "2.5.29.32"],
          ["nameConstraints", "X509v3 Name Constraints", "2.5.29.30"], ["crlNumber", "X509v3 CRL Number", "2.5.29.20"],
          ["authorityInfoAccess", "Authority Information Access", "1.3.6.1.5.5.7.1.1"],
          ["OCSP", "OCSP", "1.3.6.1.5.5.7.48.1"], ["caIssuers", "CA Issuers", "1.3.6.1.5.5.7.48.2"],
          ["nsComment", "Netscape Comment", "2.16.840.1.113730.1.13"],
          ["nsCertType", "Netscape Cert Type", "2.16.840.1.113730.1.1"],
          ["serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"],
          ["clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"],
          ["codeSigning", "Code Signing", "1.3.6.1.5.5.7.3.3"],
          ["emailProtection", "E-mail Protection", "1.3.6.1.5.5.7.3.4"],
          ["timeStamping", "Time Stamping", "1.3.6.1.5.5.7.3.8"], ["OCSPSigning", "OCSP Signing", "1.3.6.1.5.5.7.3.9"],
          %w[
            extReq Extension\ Request 1.2.840.113549.1.9.14
          ], %w[challengePassword challengePassword 1.2.840.113549.1.9.7],
          %w[SHA1 sha1 1.3.14.3.2.26], %w[SHA256 sha256 2.16.840.1.101.3.4.2.1],
          %w[SHA384 sha384 2.16.840.1.101.3.4.2.2], %w[SHA512 sha512 2.16.840.1.101.3.4.2.3],
          %w[
            hmacWithSHA1 hmacWithSHA1 1.2.840.113549.2.7
          ], %w[
            hmacWithSHA256 hmacWithSHA256 1.2.840.113549.2.9
          ], %w[PBES2 PBES2 1.2.840.113549.1.5.13], %w[PBKDF2 PBKDF2 1.2.840.113549.1.5.12],
          %w[
            AES-128-CBC aes-128-cbc 2.16.840.1.101.3.4.1.2
          ], %w[
            AES-192-CBC aes-192-cbc 2.16.840.1.101.3.4.1.22
          ], %w[AES-256-CBC aes-256-cbc 2.16.840.1.101.3.4.1.42], %w[DES-EDE3-CBC des-ede3-cbc 1.2.840.113549.3.7],
          %w[
            pkcs7-data pkcs7-data 1.2.840.113549.1.7.1
          ], %w[
            pkcs7-signedData pkcs7-signedData 1.2.840.113549.1.7.2
          ], %w[pkcs7-envelopedData pkcs7-envelopedData 1.2.840.113549.1.7.3],
        ].to_h { |r| [r[2], r] }
      end

      def name_of(dotted) = names[dotted]&.first || dotted
      def long_of(dotted) = names[dotted]&.at(1) || dotted
      def dotted(name)
        return name if name =~ /\A\d+(\.\d+)+\z/
        row = names.each_value.find { |r| r[0] == name || r[1] == name } or
          raise ASN1Error, "OBJ_txt2obj: first num too large"
        row[2]
      end
    end
  end
end
