# Keys, requests and certificates. What our own OpenSSL cannot make, parameters of a key
# exchange and lists of revoked certificates, is made by the machine's command of that name.
require "openssl"
require "tempfile"
class Chef
  class Provider
    class FxOpenssl < FxComposite
      TOOL = "openssl"
      def openssl(*args, input: nil)
        unless which(TOOL)
          raise Chef::Exceptions::ProviderNotFound,
            "#{new_resource} needs the openssl command, which is not on this machine"
        end
        shell_out!(TOOL, *args.flatten.compact.map(&:to_s), input: input).stdout
      end
      def quietly(*args) = which(TOOL) ? fx_look(TOOL, *args) : nil
      # A file that is to be made, by what it is for.
      def made(path, kind) = fx_about(:file, path, kind => [::File.exist?(path) ? "outdated" : "absent", "present"])
      # A password as the command takes it, without showing it in the list of processes.
      def pass(flag, word) = word.nil? ? [] : [flag, "file:#{secret(word)}"]
      def secret(word)
        @secrets ||= {}
        @secrets[word] ||= begin
          f = Tempfile.create("fx-pass")
          ::File.chmod(0600, f.path)
          f.write("#{word}\n")
          f.close
          f.path
        end
      end
      def cleanup_after_converge = (@secrets || {}).each_value { |p| ::File.unlink(p) if ::File.exist?(p) }

      # A key in a file, or as text; nil when it is none.
      def read_key(source, word)
        text = ::File.exist?(source) ? ::File.read(source) : source
        key = ::OpenSSL::PKey.read(text, word)
        key.private? ? key : nil
      rescue ::OpenSSL::PKey::PKeyError, ArgumentError
        nil
      end
      def private_key?(source, word) = !read_key(source, word).nil?

      # The public part of the key that the resource names or holds.
      def put_public_key(kind)
        r = new_resource
        if r.private_key_path && r.private_key_content
          raise ArgumentError, "You cannot specify both 'private_key_path' and 'private_key_content' properties at " \
            "the same time."
        end
        unless r.private_key_path || r.private_key_content
          raise ArgumentError, "You must specify the private key with either 'private_key_path' or " \
            "'private_key_content' properties."
        end
        key = read_key(r.private_key_path || r.private_key_content, r.private_key_pass)
        raise "#{r.private_key_path} not a valid private #{kind} key or password is invalid" unless key
        put(r.path, key.public_to_pem, hide: false)
      end
      def new_rsa(bits)
        unless bits >= 1024 && (bits & (bits - 1)) == 0
          raise ArgumentError, "Key length must be a power of 2 greater than or equal to 1024"
        end
        ::OpenSSL::PKey::RSA.new(bits)
      end
      def new_ec(curve)
        unless %w{prime256v1 secp384r1 secp521r1}.include?(curve)
          raise ArgumentError, "Specified curve is not available on this system"
        end
        ::OpenSSL::PKey::EC.generate(curve)
      end
      # A key's text, under a password if there is one.
      def sealed(key, word, cipher)
        return key.to_pem unless word
        unless ::OpenSSL::Cipher.ciphers.include?(cipher)
          raise ArgumentError, "Specified key_cipher is not available on this system"
        end
        key.to_pem(::OpenSSL::Cipher.new(cipher), word)
      end
      def subject
        r = new_resource
        name = ::OpenSSL::X509::Name.new
        { "C" => r.country, "ST" => r.state, "L" => r.city, "O" => r.org, "OU" => r.org_unit, "CN" => r.common_name,
          "emailAddress" => r.email }.each { |k, v| name.add_entry(k, v) unless v.nil? }
        name
      end
      def key_path
        r = new_resource
        r.key_file || ::File.join(::File.dirname(r.path), "#{::File.basename(r.path, ::File.extname(r.path))}.key")
      end
      # The key that is there, or a new one.
      def key
        r = new_resource
        @key ||= read_key(key_path, r.key_pass) || (r.key_type == "rsa" ? new_rsa(r.key_length) : new_ec(r.key_curve))
      end
      def request
        csr = ::OpenSSL::X509::Request.new
        csr.version = 0
        csr.subject = subject
        csr.public_key = key
        csr.sign(key, ::OpenSSL::Digest.new("SHA256"))
        csr
      end
      # A file of the properties owner, group and mode.
      def put(path, text, what = :create, hide: true)
        r = new_resource
        declare_resource(:file, path) do
          action what
          owner r.owner unless r.owner.nil?
          group r.group unless r.group.nil?
          mode r.mode unless r.mode.nil?
          sensitive hide
          content text
        end
      end
    end
  end
end
