# OpenSSL::PKey: RSA and EC keys, read, made, used and written; DSA keys are only read.
module OpenSSL
  module PKey
    class PKeyError < OpenSSLError; end
    class RSAError < PKeyError; end
    class ECError < PKeyError; end
    class DSAError < PKeyError; end
    class DHError < PKeyError; end

    class PKey
      attr_reader :der_
      def oid = self.class::OID
      def inspect = "#<#{self.class}:0x#{(object_id * 8).to_s(16).rjust(16, "0")} oid=#{oid}>"
      def private? = !@private.nil?
      def public? = true
      def to_text = raise(NotImplementedError, "OpenSSL::PKey#to_text is not supported: print to_pem instead")
      def public_to_der = ASN1::Sequence([spki_algorithm_, ASN1::BitString(public_bits_)]).to_der
      def public_to_pem = PEM_.write("PUBLIC KEY", public_to_der)
      def private_to_der(cipher = nil, pass = nil)
        raise PKeyError, "not a private key" unless private?
        plain = ASN1::Sequence([ASN1::Integer(0), spki_algorithm_, ASN1::OctetString(pkcs8_bits_)]).to_der
        cipher ? Armour.seal(plain, cipher, pass) : plain
      end
      def private_to_pem(cipher = nil, pass = nil)
        PEM_.write(cipher ? "ENCRYPTED PRIVATE KEY" : "PRIVATE KEY", private_to_der(cipher, pass))
      end
      def to_der = private? ? @private : public_to_der
      def to_pem(cipher = nil, pass = nil)
        return public_to_pem unless private?
        return PEM_.write(self.class::LABEL, @private) unless cipher
        cipher = Cipher.new(cipher) unless Cipher === cipher
        cipher.encrypt
        iv = cipher.random_iv
        cipher.key = Cipher.bytes_to_key("MD5", pass.to_s, iv.byteslice(0, 8), 1, cipher.key_len)
        cipher.update(@private)
        head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: #{cipher.name},#{iv.unpack1("H*").upcase}\n\n"
        PEM_.write(self.class::LABEL, cipher.final, head)
      end
      alias export to_pem
      alias to_s to_pem
      def ==(o) = PKey === o && o.class == self.class && public_to_der == o.public_to_der
      def compare?(o)
        raise TypeError, "does not match class: #{o.class}" unless o.class == self.class
        public_to_der == o.public_to_der
      end
      def hash_(digest, data) = (n = OpenSSL::Digest.new(digest).name; [n, OpenSSL::Digest.digest(n, data)])
    end

    # Locked and unlocked containers of private keys.
    module Armour
      # Label and bytes in the clear, or nil. The password comes as text, or from the block.
      def self.open(text, pass)
        text = text.to_s.b
        label, head, der = text.include?("-----BEGIN ") ? PEM_.read(text) : ["DER", {}, text]
        while label == "EC PARAMETERS"
          text = text.split(/-----END EC PARAMETERS-----\r?\n/, 2)[1].to_s
          label, head, der = PEM_.read(text)
        end
        return nil unless der && !der.empty?
        if (info = head && head["DEK-Info"])
          name, iv = info.split(",")
          iv = [iv].pack("H*")
          cipher = Cipher.new(name).decrypt
          cipher.iv = iv
          cipher.key = Cipher.bytes_to_key("MD5", password(pass), iv.byteslice(0, 8), 1, cipher.key_len)
          cipher.update(der)
          der = cipher.final
        elsif label == "ENCRYPTED PRIVATE KEY"
          label, der = "PRIVATE KEY", unseal(der, password(pass))
        end
        [label, der]
      end
      def self.password(pass)
        raise Cipher::CipherError, "bad password read" if pass.nil?
        pass.respond_to?(:call) ? pass.call(false) : pass.to_s
      end
      def self.unseal(der, pass)
        algorithm, sealed = ASN1.decode(der).value
        raise PKeyError, "unsupported encryption #{algorithm.value[0].value}" unless algorithm.value[0].value == "PBES2"
        kdf, scheme = algorithm.value[1].value
        salt, count, *rest = kdf.value[1].value
        prf = rest.find { |x| ASN1::Sequence === x }
        hash = prf ? prf.value[0].value[/SHA\d+/] : "SHA1"
        cipher = Cipher.new(scheme.value[0].value).decrypt
        cipher.iv = scheme.value[1].value
        cipher.key = KDF.pbkdf2_hmac(
          pass, salt: salt.value, iterations: count.value.to_i, length: cipher.key_len, hash: hash
        )
        cipher.update(sealed.value)
        cipher.final
      end
      def self.seal(der, cipher, pass)
        cipher = Cipher.new(cipher) unless Cipher === cipher
        cipher.encrypt
        iv, salt = cipher.random_iv, SecureRandom.bytes(8)
        cipher.key = KDF.pbkdf2_hmac(pass.to_s, salt: salt, iterations: 2048, length: cipher.key_len, hash: "SHA256")
        cipher.update(der)
        prf = ASN1::Sequence([ASN1::ObjectId("hmacWithSHA256"), ASN1::Null(nil)])
        params = ASN1::Sequence([ASN1::OctetString(salt), ASN1::Integer(2048), prf])
        kdf = ASN1::Sequence([ASN1::ObjectId("PBKDF2"), params])
        scheme = ASN1::Sequence([ASN1::ObjectId(cipher.name), ASN1::OctetString(iv)])
        algorithm = ASN1::Sequence([ASN1::ObjectId("PBES2"), ASN1::Sequence([kdf, scheme])])
        ASN1::Sequence([algorithm, ASN1::OctetString(cipher.final)]).to_der
      end
    end
    private_constant :Armour

    class RSA < PKey
      OID, LABEL = "rsaEncryption", "RSA PRIVATE KEY"
      PKCS1_PADDING, NO_PADDING = 1, 3
      def self.generate(bits, _e = 65537) = new(bits)
      def initialize(source = nil, pass = nil, &block)
        return if source.nil?
        if Integer === source
          @private = OpenSSL.__rsa_generate(source)
        else
          @private, public = RSA.read_(source.respond_to?(:to_der) ? source.to_der : source, pass || block)
        end
        @numbers = ASN1.decode(@private || public).value.map { |x| x.value.to_i }
        @numbers.shift if @private
      rescue RSAError
        raise
      rescue OpenSSLError => e
        if Integer === source && e.message =~ /size/
          raise PKeyError, "EVP_PKEY_CTX_ctrl_str(ctx, \"rsa_keygen_bits\", \"#{source}\"): key size too small"
        end
        raise RSAError, "Neither PUB key nor PRIV key: #{Cipher::CipherError === e ? e.message : "unsupported"}"
      end
      def self.read_(text, pass)
        label, der = Armour.open(text, pass)
        raise RSAError, "Neither PUB key nor PRIV key: unsupported" unless der
        parts = ASN1.decode(der).value
        raise RSAError, "Neither PUB key nor PRIV key: unsupported" unless ::Array === parts
        return [der, nil] if parts.size >= 9 && parts.all?(ASN1::Integer)
        return [nil, der] if parts.size == 2 && parts.all?(ASN1::Integer)
        algorithm = parts.find { |x| ASN1::Sequence === x }&.value&.first&.value
        raise RSAError, "Neither PUB key nor PRIV key: unsupported" unless algorithm == OID
        ASN1::Integer === parts[0] ? [parts[2].value, nil] : [nil, parts[1].value]
      end
      %i[n e d p q dmp1 dmq1 iqmp].each_with_index { |m, i| define_method(m) { @numbers[i] && BN.new(@numbers[i]) } }
      def params = %w[n e d p q dmp1 dmq1 iqmp].each_with_index.to_h { |m, i| [m, BN.new(@numbers[i] || 0)] }
      def public_bits_ = ASN1::Sequence([ASN1::Integer(@numbers[0]), ASN1::Integer(@numbers[1])]).to_der
      def pkcs8_bits_ = @private
      def spki_algorithm_ = ASN1::Sequence([ASN1::ObjectId(OID), ASN1::Null(nil)])
      def public_key = RSA.new(public_to_der)
      def sign(digest, data)
        raise PKeyError, "Private key is needed." unless private?
        OpenSSL.__rsa_sign(@private, *hash_(digest, data))
      end
      def verify(digest, signature, data) = OpenSSL.__rsa_verify(public_bits_, *hash_(digest, data), signature)
      def public_encrypt(text, padding = PKCS1_PADDING)
        RSA.padding_(padding)
        OpenSSL.__rsa_encrypt(public_bits_, text)
      rescue OpenSSLError => e
        raise RSAError, e.message
      end
      def private_decrypt(text, padding = PKCS1_PADDING)
        raise RSAError, "private key needed." unless private?
        RSA.padding_(padding)
        OpenSSL.__rsa_decrypt(@private, text)
      rescue OpenSSLError => e
        raise RSAError, e.message
      end
      def private_encrypt(text, padding = PKCS1_PADDING)
        raise RSAError, "private key needed." unless private?
        RSA.padding_(padding)
        size = n.num_bytes
        block = "\0\x01".b + "\xff".b * (size - text.bytesize - 3) + "\0".b + text.b
        raise RSAError, "data too large for key size" if block.bytesize > size || size - text.bytesize < 11
        BN.new(BN.new(block, 2).to_i.pow(@numbers[2], @numbers[0])).to_s(2).rjust(size, "\0")
      end
      def public_decrypt(text, padding = PKCS1_PADDING)
        RSA.padding_(padding)
        block = BN.new(BN.new(text, 2).to_i.pow(@numbers[1], @numbers[0])).to_s(2)
        raise RSAError, "padding check failed" unless block =~ /\A\x01\xff+\0/n
        $'.b
      end
      def self.padding_(n)
        n == PKCS1_PADDING || raise(NotImplementedError, "RSA padding #{n} is not supported, only PKCS#1 v1.5")
      end
    end

    class EC < PKey
      OID, LABEL = "id-ecPublicKey", "EC PRIVATE KEY"
      CURVES = {
        "prime256v1" => "NIST/SECG curve over a 256 bit prime field",
        "secp384r1" => "NIST/SECG curve over a 384 bit prime field"
      }.freeze
      private_constant :CURVES
      def self.builtin_curves = CURVES.to_a
      class Group
        class Error < OpenSSLError; end
        attr_reader :curve_name
        def initialize(name)
          raise Error, "unknown curve name (#{name})" unless CURVES.key?(name)
          @curve_name = name
        end
        def degree = @curve_name[/\d{3}/].to_i
      end
      class Point
        class Error < OpenSSLError; end
        attr_reader :group
        def initialize(group, bytes) = (@group, @bytes = group, BN === bytes ? bytes.to_s(2) : bytes)
        def to_octet_string(form = :uncompressed)
          return @bytes if form == :uncompressed
          half = (@bytes.bytesize - 1) / 2
          (@bytes.getbyte(-1).odd? ? "\x03" : "\x02").b + @bytes.byteslice(1, half)
        end
        def to_bn(form = :uncompressed) = BN.new(to_octet_string(form), 2)
        def ==(o) = Point === o && to_octet_string == o.to_octet_string
      end
      def self.generate(curve) = new(curve.respond_to?(:curve_name) ? curve.curve_name : curve).generate_key
      attr_reader :group
      def initialize(source = nil, pass = nil, &block)
        return if source.nil?
        source = source.curve_name if Group === source
        if CURVES.key?(source)
          @group = Group.new(source)
          return
        end
        load_(source.respond_to?(:to_der) ? source.to_der : source, pass || block)
      rescue ECError
        raise
      rescue OpenSSLError, NoMethodError
        raise ECError, "invalid curve name"
      end
      def load_(source, pass)
        _, der = Armour.open(source, pass)
        raise ECError, "invalid curve name" unless der
        parts = ASN1.decode(der).value
        if ASN1::OctetString === parts[1]
          take_(parts[1].value, parts[2..].find { |x| x.tag == 0 }.value[0].value)
        elsif ASN1::Integer === parts[0]
          take_(ASN1.decode(parts[2].value).value[1].value, parts[1].value[1].value)
        else
          raise ECError, "invalid curve name" unless parts[0].value[0].value == OID
          @group = Group.new(parts[0].value[1].value)
          @point = parts[1].value
        end
      end
      def take_(scalar, curve)
        @group = Group.new(curve)
        @scalar = scalar
        @point = OpenSSL.__ec_public(curve, scalar)
        @private = sec1_(true)
      end
      def sec1_(with_curve)
        parts = [ASN1::Integer(1), ASN1::OctetString(@scalar)]
        parts << ASN1::ASN1Data.new([ASN1::ObjectId(@group.curve_name)], 0, :CONTEXT_SPECIFIC) if with_curve
        parts << ASN1::ASN1Data.new([ASN1::BitString(@point)], 1, :CONTEXT_SPECIFIC)
        ASN1::Sequence(parts).to_der
      end
      def generate_key = (take_(OpenSSL.__ec_generate(@group.curve_name), @group.curve_name); self)
      alias generate_key! generate_key
      def check_key = true
      def private_key = @scalar && BN.new(@scalar, 2)
      def public_key = @point && Point.new(@group, @point)
      def private_key? = private?
      def public_key? = !@point.nil?
      def public_bits_ = @point
      def pkcs8_bits_ = sec1_(false)
      def spki_algorithm_ = ASN1::Sequence([ASN1::ObjectId(OID), ASN1::ObjectId(@group.curve_name)])
      def sign(digest, data) = dsa_sign_asn1(hash_(digest, data)[1])
      def verify(digest, signature, data) = dsa_verify_asn1(hash_(digest, data)[1], signature)
      def dsa_sign_asn1(hash)
        raise ECError, "Private EC key needed!" unless private?
        OpenSSL.__ec_sign(@group.curve_name, @scalar, hash)
      end
      def dsa_verify_asn1(hash, signature) = OpenSSL.__ec_verify(@group.curve_name, @point, hash, signature)
    end

    class DSA < PKey
      OID, LABEL = "DSA", "DSA PRIVATE KEY"
      def initialize(source = nil, pass = nil, &block)
        raise NotImplementedError, "making DSA keys is not supported: use RSA or EC" if Integer === source
        label, der = Armour.open(source, pass || block)
        raise DSAError, "Neither PUB key nor PRIV key: unsupported" unless der && label =~ /\A(DSA|DER)/
        @private = der
        @numbers = ASN1.decode(der).value.map { |x| x.value.to_i }
        raise DSAError, "Neither PUB key nor PRIV key: unsupported" unless @numbers.size == 6
      rescue DSAError
        raise
      rescue OpenSSLError
        raise DSAError, "Neither PUB key nor PRIV key: unsupported"
      end
      %i[p q g pub_key priv_key].each_with_index { |m, i| define_method(m) { BN.new(@numbers[i + 1]) } }
      def public_bits_ = ASN1::Integer(@numbers[4]).to_der
      def spki_algorithm_
        ASN1::Sequence([ASN1::ObjectId(OID), ASN1::Sequence(@numbers[1, 3].map { |x| ASN1::Integer(x) })])
      end
    end

    class DH < PKey
      def initialize(*)
        raise(NotImplementedError, "making Diffie-Hellman parameters is not supported: use `openssl dhparam`")
      end
    end

    def self.read(source, pass = nil, &block)
      text = source.respond_to?(:read) ? source.read : source
      [RSA, EC, DSA].each do |k|
        return k.new(text, pass, &block)
      rescue PKeyError
        next
      end
      raise PKeyError, "Could not parse PKey: unsupported"
    end
    def self.generate_key(name, options = {})
      case name.to_s.upcase
      when "RSA" then RSA.new((options["rsa_keygen_bits"] || 2048).to_i)
      when "EC" then EC.generate(options["ec_paramgen_curve"])
      else raise NotImplementedError, "making #{name} keys is not supported"
      end
    end
  end
end
require "securerandom"
