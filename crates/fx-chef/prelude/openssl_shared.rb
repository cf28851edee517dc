# Keys and certificates through the machine's openssl command.
require "tempfile"
class Chef
  class Provider
    class FxOpenssl < FxComposite
      TOOL = "openssl"
      def openssl(*args, input: nil)
        raise Chef::Exceptions::ProviderNotFound, "#{new_resource} needs the openssl command, which is not on this machine" unless which(TOOL)
        shell_out!(TOOL, *args.flatten.compact.map(&:to_s), input: input).stdout
      end
      def quietly(*args) = which(TOOL) ? shell_out(TOOL, *args.flatten.compact.map(&:to_s)) : nil
      # A password as openssl takes it, without showing it in the list of processes.
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
      def private_key?(path, word)
        ::File.exist?(path) && quietly("pkey", "-in", path, "-noout", *(word ? pass("-passin", word) : ["-passin", "pass:"]))&.exitstatus == 0
      end
      # The public part of the key that the resource names or holds.
      def put_public_key
        r = new_resource
        raise ArgumentError, "You cannot specify both 'private_key_path' and 'private_key_content' properties at the same time." if r.private_key_path && r.private_key_content
        raise ArgumentError, "You must specify the private key with either 'private_key_path' or 'private_key_content' properties." unless r.private_key_path || r.private_key_content
        raise "#{r.private_key_path} not a valid private key file" if r.private_key_path && !private_key?(r.private_key_path, r.private_key_pass)
        word = pass("-passin", r.private_key_pass)
        text = r.private_key_path ? openssl("pkey", "-in", r.private_key_path, *word, "-pubout") : openssl("pkey", *word, "-pubout", input: r.private_key_content)
        put(r.path, text, hide: false)
      end
      def new_rsa(bits, word = nil, cipher = nil)
        word ? openssl("genrsa", "-traditional", "-#{cipher}", *pass("-passout", word), bits) : openssl("genrsa", "-traditional", bits)
      end
      def new_ec(curve, word = nil, cipher = nil)
        key = openssl("ecparam", "-name", curve, "-genkey", "-noout")
        word ? openssl("ec", "-#{cipher}", *pass("-passout", word), input: key) : key
      end
      def subject
        r = new_resource
        { C: r.country, ST: r.state, L: r.city, O: r.org, OU: r.org_unit, CN: r.common_name, emailAddress: r.email }.compact.map { |k, v| "/#{k}=#{v.to_s.gsub("/", "\\/")}" }.join
      end
      def key_path
        r = new_resource
        r.key_file || ::File.join(::File.dirname(r.path), "#{::File.basename(r.path, ::File.extname(r.path))}.key")
      end
      # The key that is there, or a new one, as text without a password.
      def key
        r = new_resource
        @key ||= if private_key?(key_path, r.key_pass) then openssl("pkey", "-in", key_path, *pass("-passin", r.key_pass))
                 elsif r.key_type == "rsa" then new_rsa(r.key_length)
                 else new_ec(r.key_curve)
                 end
      end
      def with_file(text)
        f = Tempfile.create("fx-openssl")
        ::File.chmod(0600, f.path)
        f.write(text)
        f.close
        yield f.path
      ensure
        ::File.unlink(f.path) if f && ::File.exist?(f.path)
      end
      def request = with_file(key) { |k| openssl("req", "-new", "-key", k, "-subj", subject) }
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
