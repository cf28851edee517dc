# OpenSSL::X509: certificates, requests, names and extensions. No chains are verified.
module OpenSSL
  module X509
    class CertificateError < OpenSSLError; end
    class RequestError < OpenSSLError; end
    class NameError < OpenSSLError; end
    class ExtensionError < OpenSSLError; end
    class AttributeError < OpenSSLError; end
    class StoreError < OpenSSLError; end
    class CRLError < OpenSSLError; end
    DEFAULT_CERT_FILE, DEFAULT_CERT_DIR = "/usr/lib/ssl/cert.pem", "/usr/lib/ssl/certs"
    V_OK = 0

    class Name
      include Comparable
      COMPAT, RFC2253, ONELINE, MULTILINE = 0, 17892119, 8520479, 44302342
      DEFAULT_OBJECT_TYPE = ASN1::UTF8STRING
      OBJECT_TYPE_TEMPLATE = {
        "C" => 19, "countryName" => 19, "serialNumber" => 19, "dnQualifier" => 19, "DC" => 22,
        "domainComponent" => 22, "emailAddress" => 22
      }.freeze
      attr_reader :parts_
      def self.parse_openssl(text, template = OBJECT_TYPE_TEMPLATE)
        list = text.start_with?("/") ? text.split("/")[1..] : text.split(/\s*,\s*/)
        new(list.map { |x| x.split("=", 2) }, template)
      end
      class << self; alias parse parse_openssl; end
      def self.parse_rfc2253(text, template = OBJECT_TYPE_TEMPLATE)
        pairs = text.scan(/((?:\\.|[^,\\])+)/).flatten.map do |x|
          x.strip.split("=", 2).map { |y| y.gsub(/\\(.)/, '\1') }
        end
        new(pairs.reverse, template)
      end
      def initialize(list = nil, template = OBJECT_TYPE_TEMPLATE)
        @parts_ = []
        case list
        when nil then nil
        when ::Array then list.each { |oid, value, type| add_entry(oid, value, type || template[oid] || 12) }
        else @parts_ = ASN1.decode(list).value.flat_map do |set|
          set.value.map do |pair|
            [pair.value[0].value, pair.value[1].value.to_s.dup.force_encoding("UTF-8"), pair.value[1].tag]
          end
        end
        end
      end
      def add_entry(oid, value, type = nil, **)
        raise NameError, "X509_NAME_add_entry_by_txt: invalid field name" if value.nil?
        begin
          oid = ASN1.name_of(ASN1.dotted(oid))
        rescue OpenSSLError
          raise NameError, "X509_NAME_add_entry_by_txt: invalid field name"
        end
        @parts_ << [oid, value, type || OBJECT_TYPE_TEMPLATE[oid] || 12]
        self
      end
      def to_a = @parts_.map(&:dup)
      def to_s(format = COMPAT)
        case format
        when RFC2253 then @parts_.reverse.map { |o, v,| "#{o}=#{Name.escape_(v)}" }.join(",")
        when ONELINE
          @parts_.map { |o, v,| "#{o} = #{v =~ /[,+"\\<>;]/ ? "\"#{v.gsub(/["\\]/) { "\\#{$&}" }}\"" : v}" }.join(", ")
        when MULTILINE then @parts_.map { |o, v,| "#{ASN1.long_of(ASN1.dotted(o)).ljust(25)} = #{v}" }.join("\n")
        else @parts_.map { |o, v,| "/#{o}=#{v}" }.join
        end
      end
      def self.escape_(v) = v.gsub(/[,+"\\<>;]|\A[ #]| \z/) { "\\#{$&}" }
      def to_utf8 = to_s(RFC2253)
      def to_der
        sets = @parts_.map do |o, v, t|
          value = ASN1.const_get(ASN1::UNIVERSAL_TAG_NAME[t]).new(v)
          ASN1::Set([ASN1::Sequence([ASN1::ObjectId(o), value])])
        end
        ASN1::Sequence(sets).to_der
      end
      def inspect = "#<OpenSSL::X509::Name #{to_utf8}>"
      def pretty_print(q) = q.text(inspect)
      def <=>(o) = Name === o ? key_ <=> o.key_ : nil
      alias cmp <=>
      def ==(o) = Name === o && (self <=> o) == 0
      def eql?(o) = self == o
      def hash_old = hash
      def hash = key_.hash
      def key_ = @parts_.map { |o, v,| "#{o}=#{v.downcase.strip.squeeze(" ")}" }.join("/")
    end

    class Extension
      attr_reader :oid, :value_der
      def initialize(oid, value = nil, critical = false)
        if value.nil? && oid.to_s.getbyte(0) == 0x30
          parts = ASN1.decode(oid).value
          @oid, @value_der, @critical = parts[0].value, parts[-1].value, parts.size > 2 && parts[1].value
        else
          @oid = ASN1.name_of(ASN1.dotted(oid))
          @value_der = value.respond_to?(:to_der) ? value.to_der : value.b
          @critical = !!critical
        end
      end
      def critical? = @critical
      def critical=(v)
        @critical = !!v
      end
      def to_der
        parts = [ASN1::ObjectId(@oid)]
        parts << ASN1::Boolean(true) if @critical
        ASN1::Sequence(parts << ASN1::OctetString(@value_der)).to_der
      end
      def value = Print.value(@oid, @value_der)
      def to_s = "#{@oid} = #{"critical, " if @critical}#{value.gsub("\n", ", ")}"
      def to_a = [@oid, value, @critical]
      def to_h = { "oid" => @oid, "value" => value, "critical" => @critical }
      def inspect = "#<OpenSSL::X509::Extension #{self}>"
      def ==(o) = Extension === o && to_der == o.to_der
    end

    USAGES = [
      "Digital Signature", "Non Repudiation", "Key Encipherment", "Data Encipherment",
      "Key Agreement", "Certificate Sign", "CRL Sign", "Encipher Only", "Decipher Only"
    ].freeze
    USAGE_NAMES = %w[
      digitalSignature nonRepudiation keyEncipherment dataEncipherment keyAgreement keyCertSign
      cRLSign encipherOnly decipherOnly
    ].freeze
    private_constant :USAGES, :USAGE_NAMES

    # The text of an extension's value, as OpenSSL prints it.
    module Print
      def self.value(oid, der)
        v = ASN1.decode(der)
        case oid
        when "basicConstraints"
          ca = v.value.find { |x| ASN1::Boolean === x }&.value
          len = v.value.find { |x| ASN1::Integer === x }&.value
          "CA:#{ca ? "TRUE" : "FALSE"}#{", pathlen:#{len}" if len}"
        when "keyUsage"
          bits = v.value.bytes.flat_map { |b| 7.downto(0).map { |i| b[i] } }
          USAGES.each_index.select { |i| bits[i] == 1 }.map { |i| USAGES[i] }.join(", ")
        when "extendedKeyUsage" then v.value.map { |x| ASN1.long_of(x.oid) }.join(", ")
        when "subjectKeyIdentifier" then hex(v.value)
        when "authorityKeyIdentifier"
          v.value.filter_map { |x| x.tag == 0 ? hex(x.value) : x.tag == 2 ? "serial:#{hex(x.value)}" : nil }.join("\n")
        when "subjectAltName", "issuerAltName" then v.value.map { |x| general(x) }.join(", ")
        when "authorityInfoAccess"
          v.value.map { |x| "#{ASN1.long_of(x.value[0].oid)} - #{general(x.value[1])}" }.join("\n")
        when "crlDistributionPoints"
          v.value.flat_map { |x| x.value[0].value[0].value.map { |y| "Full Name:\n  #{general(y)}" } }.join("\n")
        when "certificatePolicies" then v.value.map { |x| "Policy: #{x.value[0].oid}" }.join("\n")
        else ASN1::IA5String === v || ASN1::UTF8String === v || ASN1::PrintableString === v ? v.value : hexdump(der)
        end
      rescue OpenSSLError, NoMethodError
        hexdump(der)
      end
      def self.hex(s) = s.unpack("C*").map { |b| "%02X" % b }.join(":")
      def self.hexdump(s) = s.unpack("C*").map { |b| b.between?(32, 126) ? b.chr : "." }.join
      def self.general(x)
        case x.tag
        when 1 then "email:#{x.value}"
        when 2 then "DNS:#{x.value}"
        when 6 then "URI:#{x.value}"
        when 7
          four = x.value.bytesize == 4
          address = four ? x.value.unpack("C4").join(".") : x.value.unpack("n8").map { |n| "%X" % n }.join(":")
          "IP Address:#{address}"
        when 8 then "Registered ID:#{ASN1.dots(x.value)}"
        when 4 then "DirName:#{Name.new(x.value[0].to_der).to_s[1..]}"
        else "othername:<unsupported>"
        end
      end
    end
    private_constant :Print

    class ExtensionFactory
      attr_accessor :subject_certificate, :issuer_certificate, :subject_request, :crl, :config
      def initialize(issuer = nil, subject = nil, request = nil, _crl = nil)
        @issuer_certificate, @subject_certificate, @subject_request = issuer, subject, request
      end
      def create_ext(oid, value, critical = false)
        critical, value = true, value.sub(/\Acritical,\s*/, "") if value =~ /\Acritical,/
        Extension.new(oid, build_(ASN1.name_of(ASN1.dotted(oid)), value), critical)
      end
      alias create_extension create_ext
      def create_ext_from_string(s) = (o, v = s.split(/\s*=\s*/, 2); create_ext(o, v))
      def create_ext_from_array(a) = create_ext(*a)
      def create_ext_from_hash(h) = create_ext(h["oid"], h["value"], h["critical"])
      def key_id_(certificate) = OpenSSL::Digest.digest("SHA1", certificate.public_key.public_bits_)
      def build_(oid, value)
        items = value.split(/\s*,\s*/)
        case oid
        when "basicConstraints"
          parts = []
          items.each do |x|
            k, v = x.split(":")
            parts << (k == "CA" ? (v =~ /\Atrue\z/i ? ASN1::Boolean(true) : nil) : ASN1::Integer(v.to_i))
          end
          ASN1::Sequence(parts.compact).to_der
        when "keyUsage"
          bits = items.map { |x| USAGE_NAMES.index(x) or raise ExtensionError, "unknown bit string argument" }
          bytes = [0] * (bits.max / 8 + 1)
          bits.each { |i| bytes[i / 8] |= 0x80 >> (i % 8) }
          out = ASN1::BitString(bytes.pack("C*"))
          out.unused_bits = 7 - bits.max % 8
          out.to_der
        when "extendedKeyUsage" then ASN1::Sequence(items.map { |x| ASN1::ObjectId(x) }).to_der
        when "subjectKeyIdentifier"
          of_hash = value == "hash"
          id = of_hash ? key_id_(@subject_certificate || @subject_request) : [value.delete(":")].pack("H*")
          ASN1::OctetString(id).to_der
        when "authorityKeyIdentifier"
          known = @issuer_certificate.extensions.find { |e| e.oid == "subjectKeyIdentifier" }
          id = known ? ASN1.decode(known.value_der).value : key_id_(@issuer_certificate)
          ASN1::Sequence([ASN1::ASN1Data.new(id, 0, :CONTEXT_SPECIFIC)]).to_der
        when "subjectAltName", "issuerAltName" then ASN1::Sequence(items.map { |x| general_(x) }).to_der
        when "authorityInfoAccess"
          parts = items.map do |x|
            m, v = x.split(";", 2)
            ASN1::Sequence([ASN1::ObjectId(m), general_(v)])
          end
          ASN1::Sequence(parts).to_der
        when "crlDistributionPoints"
          inside = ->(value) { ASN1::ASN1Data.new([value], 0, :CONTEXT_SPECIFIC) }
          ASN1::Sequence(items.map { |x| ASN1::Sequence([inside.(inside.(general_(x)))]) }).to_der
        when "nsComment" then ASN1::IA5String(value).to_der
        else
          return [$'.delete(":")].pack("H*") if value =~ /\ADER:/
          return ASN1::UTF8String($').to_der if value =~ /\AASN1:UTF8(?:String)?:/
          raise ExtensionError, "#{oid} = #{value}: unknown extension"
        end
      end
      def general_(text)
        kind, v = text.split(":", 2)
        tag, v =
          case kind
          when "email" then [1, v]
          when "DNS" then [2, v]
          when "URI" then [6, v]
          when "IP" then [7, (require "ipaddr"; IPAddr.new(v).hton)]
          when "RID" then [8, ASN1.oid_bytes(v)]
          else raise ExtensionError, "#{text}: unsupported option"
          end
        ASN1::ASN1Data.new(v.b, tag, :CONTEXT_SPECIFIC)
      end
    end

    # What a certificate and a request share: a signed sequence.
    module Signed
      def to_pem = PEM_.write(self.class::LABEL, to_der)
      def to_s = to_pem
      def ==(o) = self.class == o.class && to_der == o.to_der
      def signature_algorithm = @algorithm ? ASN1.long_of(ASN1.dotted(@algorithm)) : "undefined"
      def public_key = @spki && PKey.read(@spki)
      def public_key=(key)
        @der = nil
        @spki = key.public_to_der
      end
      def sign(key, digest)
        hash = OpenSSL::Digest.new(digest).name
        @algorithm = PKey::EC === key ? "ecdsa-with-#{hash}" : "RSA-#{hash}"
        @body = body_
        @signature = key.sign(hash, @body)
        @der = seal_
        self
      end
      def verify(key)
        hash = ASN1.dotted(@algorithm).then { |o| ASN1.names[o].join(" ")[/SHA-?\d+|MD5/i].to_s.upcase }
        key.verify(hash, @signature, @body)
      rescue OpenSSLError
        false
      end
      def to_der = @der || seal_
      def seal_
        ASN1.wrap(16, :UNIVERSAL, true, (@body || body_) + algorithm_.to_der + ASN1::BitString(@signature || "").to_der)
      end
      def algorithm_
        return ASN1::Sequence([ASN1::ObjectId("RSA-SHA256"), ASN1::Null(nil)]) unless @algorithm
        id = ASN1::ObjectId(@algorithm)
        ASN1::Sequence(@algorithm.start_with?("ecdsa") ? [id] : [id, ASN1::Null(nil)])
      end
      def open_(source, error)
        text = source.respond_to?(:read) ? source.read : source
        text = (text.respond_to?(:to_der) ? text.to_der : text.to_s).b
        if text.getbyte(0) == 0x30
          @der = text
        else
          _, _, @der = found = PEM_.read(text, *self.class::LABELS)
          raise error, "PEM_read_bio_#{self.class::READER}: no start line" unless found
          raise error, "PEM_read_bio_#{self.class::READER}: bad base64 decode" unless @der
        end
        body, algorithm, signature = ASN1.decode(@der).value
        @body, @algorithm, @signature = body.to_der, algorithm.value[0].value, signature.value
        body.value
      rescue ASN1::ASN1Error, NoMethodError => e
        raise error, "PEM_read_bio_#{self.class::READER}: #{e.message}"
      end
    end
    private_constant :Signed

    class Certificate
      include Signed
      LABEL, LABELS, READER = "CERTIFICATE", ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].freeze, "X509"
      attr_reader :version, :not_before, :not_after, :subject, :issuer
      def self.load(text)
        text.scan(PEM_::LINE).map { |label, body| new("-----BEGIN #{label}-----\n#{body}-----END #{label}-----\n") }
      end
      def self.load_file(path) = load(File.binread(path))
      def initialize(source = nil)
        @version, @serial, @subject, @issuer, @extensions = 0, 0, Name.new, Name.new, []
        return unless source
        parts = open_(source, CertificateError)
        @version = parts[0].tag_class == :CONTEXT_SPECIFIC ? parts.shift.value[0].value.to_i : 0
        serial, _, issuer, validity, subject, spki, *rest = parts
        @serial, @issuer, @subject = serial.value.to_i, Name.new(issuer.to_der), Name.new(subject.to_der)
        @not_before, @not_after = validity.value.map(&:value)
        @spki = spki.to_der
        list = rest.find { |x| x.tag == 3 }
        @extensions = list ? list.value[0].value.map { |x| Extension.new(x.to_der) } : []
      end
      def serial = BN.new(@serial)
      { version: :to_i, serial: :to_i, subject: :itself, issuer: :itself }.each do |n, m|
        define_method("#{n}=") { |v| @der = @body = nil; instance_variable_set("@#{n}", v.__send__(m)) }
      end
      %i[not_before not_after].each do |n|
        define_method("#{n}=") { |v| @der = @body = nil; instance_variable_set("@#{n}", Time.at(v.to_i).utc) }
      end
      def extensions = @extensions.dup
      def extensions=(list)
        @der = @body = nil
        @extensions = list.dup
      end
      def add_extension(e) = (@der = @body = nil; @extensions << e; e)
      def find_extension(oid) = @extensions.find { |e| e.oid == oid }
      def subject_key_identifier = (e = find_extension("subjectKeyIdentifier")) && ASN1.decode(e.value_der).value
      def ca_issuer_uris = access_("caIssuers")
      def ocsp_uris = access_("OCSP")
      def access_(kind)
        e = find_extension("authorityInfoAccess") or return nil
        ASN1.decode(e.value_der).value.select { |x| x.value[0].value == kind && x.value[1].tag == 6 }.map do |x|
          x.value[1].value
        end
      end
      def check_private_key(key) = public_key.public_to_der == key.public_to_der
      def inspect
        "#<OpenSSL::X509::Certificate: subject=#{@subject.inspect}, issuer=#{@issuer.inspect}, " \
          "serial=#{serial.inspect}, not_before=#{@not_before.inspect}, not_after=#{@not_after.inspect}>"
      end
      def to_text
        raise(NotImplementedError, "OpenSSL::X509::Certificate#to_text is not supported: print its parts instead")
      end
      def when_(t) = t.year < 2050 ? ASN1::UTCTime(t) : ASN1::GeneralizedTime(t)
      def body_
        unless @not_before && @not_after && @spki
          raise CertificateError, "not_before, not_after and public_key must be set"
        end
        parts = []
        parts << ASN1::ASN1Data.new([ASN1::Integer(@version)], 0, :CONTEXT_SPECIFIC) if @version > 0
        valid = ASN1::Sequence([when_(@not_before), when_(@not_after)])
        parts.push(ASN1::Integer(@serial), algorithm_, @issuer, valid, @subject, ASN1.decode(@spki))
        parts << ASN1::ASN1Data.new([ASN1::Sequence(@extensions)], 3, :CONTEXT_SPECIFIC) unless @extensions.empty?
        ASN1::Sequence(parts).to_der
      end
    end

    class Attribute
      attr_reader :oid, :value
      def initialize(oid, value = nil)
        oid, value = ASN1.decode(oid).value.then { |o, v| [o.value, v] } if value.nil?
        @oid, @value = ASN1.name_of(ASN1.dotted(oid)), value
      end
      def to_der = ASN1::Sequence([ASN1::ObjectId(@oid), @value]).to_der
    end

    class Request
      include Signed
      LABEL, READER = "CERTIFICATE REQUEST", "X509_REQ"
      LABELS = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"].freeze
      attr_reader :version, :subject
      def initialize(source = nil)
        @version, @subject, @attributes = 0, Name.new, []
        return unless source
        version, subject, spki, *rest = open_(source, RequestError)
        @version, @subject, @spki = version.value.to_i, Name.new(subject.to_der), spki.to_der
        @attributes = rest.flat_map { |x| x.value.map { |a| Attribute.new(a.to_der) } }
      end
      def version=(v)
        @version = v
      end
      def subject=(v)
        @subject = v
      end
      def attributes = @attributes.dup
      def attributes=(list)
        @attributes = list.dup
      end
      def add_attribute(a) = (@attributes << a; a)
      def body_
        attributes = ASN1::ASN1Data.new(@attributes, 0, :CONTEXT_SPECIFIC)
        ASN1::Sequence([ASN1::Integer(@version), @subject, ASN1.decode(@spki), attributes]).to_der
      end
      def to_text
        raise(NotImplementedError, "OpenSSL::X509::Request#to_text is not supported: print its parts instead")
      end
    end

    class Store
      def initialize
        raise(NotImplementedError, "certificate chains are not verified here: OpenSSL::X509::Store is not supported")
      end
    end
    class CRL
      def initialize(*) = raise(NotImplementedError, "revocation lists are not supported")
    end
  end
end
