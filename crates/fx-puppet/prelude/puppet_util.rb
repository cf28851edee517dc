# Helpers that modules call by the names of the original: Puppet::Util and Puppet::FileSystem.
module Puppet
  module Util
    def self.withumask(mask)
      before = File.umask(mask)
      yield
    ensure
      File.umask(before) if before
    end
    def self.uid(v) = v.to_s =~ /\A\d+\z/ ? v.to_i : (Etc.getpwnam(v.to_s).uid rescue nil)
    def self.gid(v) = v.to_s =~ /\A\d+\z/ ? v.to_i : (Etc.getgrnam(v.to_s).gid rescue nil)
    LATER = { FileType: "parsed", FileParsing: "parsed", IniConfig: "ini" }.freeze
    def self.const_missing(name)
      return super unless LATER.key?(name)
      Puppet::Bridge.part(LATER[name])
      const_get(name)
    end
    def self.which(bin) = Util::Which.find(bin)
    def which(bin) = Util::Which.find(bin)
    module Which
      def self.find(bin)
        bin = bin.to_s
        return (File.executable?(bin) ? bin : nil) if bin.start_with?("/")
        (ENV["PATH"] || "/usr/sbin:/usr/bin:/sbin:/bin").split(":").each do |dir|
          p = File.join(dir, bin)
          return p if File.file?(p) && File.executable?(p)
        end
        nil
      end
    end
    def self.absolute_path?(path, _platform = nil) = path.to_s.match?(%r{\A/|\A[A-Za-z]:[/\\]|\A\\\\})
    def absolute_path?(path, platform = nil) = Util.absolute_path?(path, platform)
    def self.symbolizehash(h) = h.transform_keys { |k| k.to_s.to_sym }
    def symbolizehash(h) = Util.symbolizehash(h)
    def self.uri_encode(s, *) = s.to_s.gsub(/[^a-zA-Z0-9_\-.~\/:?#&=+]/) { |m| m.bytes.map { |b| "%%%02X" % b }.join }
    def self.uri_query_encode(s, *) = uri_encode(s)
    def self.path_to_uri(path) = URI("file://#{path}")
    def self.uri_to_path(uri) = uri.path
    def self.get_env(name) = ENV[name]
    def self.set_env(name, value = nil) = ENV[name] = value
    def self.withenv(hash, *)
      old = hash.keys.to_h { |k| [k, ENV[k.to_s]] }
      hash.each { |k, v| ENV[k.to_s] = v.nil? ? nil : v.to_s }
      yield
    ensure
      old.each { |k, v| ENV[k.to_s] = v }
    end
    def withenv(hash, *a, &b) = Util.withenv(hash, *a, &b)
    def self.execute(*a) = Execution.execute(*a)
    def execute(*a) = Execution.execute(*a)
    def self.replace_file(path, _mode = nil)
      t = StringIO.new
      yield t
      File.write(path.to_s, t.string)
    end
    def self.exit_on_fail(*) = yield
    def self.benchmark(*) = yield
    def benchmark(*) = yield
    def self.thinmark = (yield; 0.0)
    def thinmark = (yield; 0.0)
    def self.create_erb(text) = ERB.new(text, trim_mode: "-")
    def self.deterministic_rand(seed, max) = Random.new(seed.to_i).rand(max)
    def self.deterministic_rand_int(seed, max) = Random.new(seed.to_i).rand(max)
    def self.safe_posix_fork(*) = nil
    module Platform
      def self.windows? = false
      def self.jruby? = false
      def self.default_paths = ["/usr/sbin", "/sbin"]
      def windows? = false
      module_function :windows?
    end
    module Errors
      def fail(*args)
        msg = args.last.is_a?(String) ? args.last : args.join(" ")
        klass = args.first.is_a?(Class) ? args.first : Puppet::Error
        raise klass, (args.first.is_a?(Class) ? args[1..].join(" ") : msg)
      end
      def devfail(msg) = raise(Puppet::DevError, msg)
      def self.error_location(file, line = nil) = file ? "(file: #{file}, line: #{line})" : ""
    end
    module Logging
      Puppet::LEVELS.each do |level|
        define_method(level) do |*args, &b|
          message = b && args.empty? ? b.call : args.join(" ")
          Puppet::Bridge.log(level.to_s, message.to_s, *__log_source)
          nil
        end
      end
      # Who logs it, and whether that is the path of a resource: a resource by its path, others
      # by what they are.
      def __log_source
        return name == "Puppet" ? [] : [to_s, false] if ::Module === self
        is_own = Puppet.const_defined?(:Type, false) && (Puppet::Type === self || Puppet::Parameter === self)
        return [path.to_s, true] if is_own
        Puppet.const_defined?(:Provider, false) && Puppet::Provider === self ? [to_s, false] : []
      end
      def send_log(level, message) = send(level, message)
      def log_exception(e, message = nil, *) = Puppet.log_exception(e, message)
      def deprecation_warning(message, key = nil) = Puppet.deprecation_warning(message, key, caller(1, 1).first)
      def warnonce(message, *) = Puppet.__once([:w, message], message)
      def warn_once(...) = Puppet.warn_once(...)
      def debug_once(message, *) = nil
      def puppet_deprecation_warning(message, options = {}) = Puppet.puppet_deprecation_warning(message, options)
    end
    class Log
      def self.level = Puppet[:log_level].to_s.to_sym
      def self.levels = Puppet::LEVELS
    end
    module Warnings
      def self.debug_once(_message, *) = nil
      def self.warnonce(message, *) = Puppet.warn_once(:w, message, message)
      def warnonce(message, *) = Puppet.warn_once(:w, message, message)
      def debug_once(message, *) = nil
    end
    module Docs
      def desc(text = nil) = (@doc = text)
      attr_accessor :doc
    end
    module MethodHelper
      def symbolize_options(h) = Util.symbolizehash(h)
    end
    module Checksums
      def md5(s) = Digest::MD5.hexdigest(s)
      def sha256(s) = Digest::SHA256.hexdigest(s)
      def self.known_checksum_types
        %i[sha256 sha256lite md5 md5lite sha1 sha1lite sha512 sha384 sha224 mtime ctime none]
      end
      def known_checksum_types = Checksums.known_checksum_types
      def checksum?(s) = s =~ /^\{(\w{3,9})\}\S+/
      def sumtype(s) = s =~ /^\{(\w+)\}/ ? $1 : nil
      def sumdata(s) = s =~ /^\{\w+\}(.+)/ ? $1 : nil
    end
    module Execution
      class ProcessOutput < String
        attr_reader :exitstatus
        def initialize(s, code)
          super(s)
          @exitstatus = code
        end
      end
      NoOptionsSpecified = {}.freeze
      # Who runs a command, by number. A name that nobody has ends it before it begins: it must not
      # run as who we are.
      def self.__account(uid, gid)
        user = __number(uid, "user") { |name| Etc.getpwnam(name).uid }
        group = __number(gid, "group") { |name| Etc.getgrnam(name).gid }
        [user, group] if user || group
      end
      def self.__number(given, kind)
        return given if given.nil? || given.is_a?(Integer)
        given.to_s.match?(/\A\d+\z/) ? given.to_i : yield(given.to_s)
      rescue ArgumentError
        raise Puppet::Error, "Invalid #{kind}: #{given}"
      end
      # Without any option a failure is an error, and both outputs are one.
      def self.execute(command, options = NoOptionsSpecified)
        options = { failonfail: true, combine: true } if NoOptionsSpecified.equal?(options)
        if options[:cwd] && !File.directory?(options[:cwd].to_s)
          raise ArgumentError, "Working directory #{options[:cwd]} does not exist!"
        end
        argv = command.is_a?(Array) ? command.flatten.map(&:to_s) : [command.to_s]
        out, code = __run(argv, options)
        if options[:failonfail] && code != 0
          shown = options[:sensitive] ? "[redacted]" : argv.join(" ")
          raise Puppet::ExecutionFailure, "Execution of '#{shown}' returned #{code}: #{out.strip}"
        end
        ProcessOutput.new(out, code)
      end
      # What a command printed, and how it ended. One that cannot begin ends with 1.
      def self.__run(argv, options)
        env = { "HOME" => nil, "USER" => nil, "LOGNAME" => nil }
        env.merge!((options[:custom_environment] || {}).to_h { |k, v| [k.to_s, v&.to_s] })
        env["LANG"] = env["LC_ALL"] = "C" unless options[:override_locale] == false
        input = options[:stdinfile] ? File.read(options[:stdinfile]) : ""
        begin
          opts = { stdin_data: input, __account: __account(options[:uid], options[:gid]) }
          opts[:chdir] = options[:cwd].to_s if options[:cwd]
          out, _err, status = Open3.capture3(env, *argv, **opts) unless options[:combine]
          out, status = Open3.capture2e(env, *argv, **opts) if options[:combine]
          code = status.exitstatus
        rescue Puppet::Error, SystemCallError => e
          out = options[:combine] ? "Error: Could not execute posix command: #{e.message}\n" : ""
          code = 1
        end
        [options[:squelch] ? "" : out, code]
      end
      # A line for the shell, whose output the block reads.
      def self.execpipe(command, failonfail = true)
        line = command.respond_to?(:join) ? command.join(" ") : command
        out, status = Open3.capture2e({ "LANG" => "C", "LC_ALL" => "C" }, "sh", "-c", line)
        given = yield StringIO.new(out)
        raise Puppet::ExecutionFailure, given.to_s if failonfail && status.exitstatus != 0
        given
      end
      def execpipe(c, f = true, &b) = Execution.execpipe(c, f, &b)
      def execute(*a) = Execution.execute(*a)
    end
    module SUIDManager
      # Nobody becomes another user here: what is made meanwhile is given to them.
      def self.asuser(user = nil, _group = nil)
        before, @acting = @acting, user
        @made ||= Dir.singleton_class.prepend(Made)
        yield
      ensure
        @acting = before
      end
      def self.own(path)
        return unless @acting && Process.uid.zero?
        user = @acting.to_s =~ /\A\d+\z/ ? Etc.getpwuid(@acting.to_i) : Etc.getpwnam(@acting.to_s)
        File.lchown(user.uid, user.gid, path)
      end
      module Made
        def mkdir(path, *rest)
          made = super
          SUIDManager.own(path)
          made
        end
      end
      def self.uid = Process.uid
      def self.run_and_capture(cmd, uid = nil, gid = nil)
        out = Execution.execute(cmd, failonfail: false, combine: true, uid: uid, gid: gid)
        [out, out.exitstatus]
      end
    end
    module PsychSupport; end
    module Json
      class ParseError < StandardError; end
      def self.load(s) = JSON.parse(s)
      def self.dump(o, *) = JSON.generate(o)
    end
    class Yaml
      class YamlLoadError < Puppet::Error; end
      def self.safe_load(s, *) = YAML.safe_load(s, permitted_classes: [Symbol], aliases: true)
      def self.safe_load_file(f, *) = safe_load(File.read(f))
      def self.load_file(f, default = nil) = File.exist?(f) ? safe_load_file(f) : default
      def self.dump(o, f) = File.write(f, o.to_yaml)
    end
    class SymbolicFileMode_; end
    module SymbolicFileMode
      def valid_symbolic_mode?(v)
        v.to_s.match?(/\A0?[0-7]{1,4}\z/) || v.to_s.split(",").all? { |p| p.match?(/\A[ugoa]*([-+=][rwxXst]*)+\z/) }
      end
      def normalize_symbolic_mode(v) = v.to_s =~ /\A[0-7]+\z/ ? v.to_s.rjust(4, "0")[-4..] : v.to_s
    end
    class Feature_; end
    module FileParsing; end
    module Colors
      def colorize(_c, s) = s
    end
    module MonkeyPatches; end
    module Package
      def self.versioncmp(a, b) = Puppet::Bridge.versioncmp(a.to_s, b.to_s)
      def versioncmp(a, b) = Package.versioncmp(a, b)
    end
    module POSIX
      def uid(v) = (Etc.getpwnam(v.to_s).uid rescue nil)
      def gid(v) = (Etc.getgrnam(v.to_s).gid rescue nil)
      module_function :uid, :gid
    end
    module Selinux
      def selinux_support? = false
    end
    module Windows; end
    module ClassGen
      def genclass(name, options = {}, &block)
        k = Class.new(options[:parent] || self)
        k.class_eval(&block) if block
        k
      end
    end
    class Tagging_; end
    module Tagging
      def tag(*tags) = (@tags ||= []).concat(tags.flatten.map { |t| t.to_s.downcase })
      def tags = @tags ||= []
      def tagged?(*t) = t.flatten.any? { |x| tags.include?(x.to_s.downcase) }
    end
    class Diff; end
    # Work that is tried again after the errors that are named, each time after a longer wait.
    module RetryAction
      module RetryException
        class NoBlockGiven < Puppet::Error; end
        class NoRetriesGiven < Puppet::Error; end
      end
      def self.retry_action(options = {})
        raise RetryException::NoBlockGiven unless block_given?
        most = options[:retries] or raise RetryException::NoRetriesGiven
        kinds, failed = options[:retry_exceptions] || [StandardError], 0
        begin
          yield
        rescue *(kinds.is_a?(Hash) ? kinds.keys : kinds) => e
          raise if failed >= most
          failed += 1
          Puppet.info("Caught exception #{e.class}:#{e} retrying")
          sleep((2**failed - 1) * 0.1)
          retry
        end
      end
    end
    # What is remembered of the last run belongs to the run.
    class Storage
      def self.store = nil
      def self.load = nil
      def self.init = nil
      def self.clear = nil
      def self.state = {}
      def self.cache(_object) = {}
    end
    module Ini; end
    class IniConfig_; end
  end
  module FileSystem
    def self.exist?(p) = File.exist?(p.to_s)
    def self.file?(p) = File.file?(p.to_s)
    def self.directory?(p) = File.directory?(p.to_s)
    def self.dir_exist?(p) = File.exist?(File.dirname(p.to_s))
    def self.symlink?(p) = File.symlink?(p.to_s)
    def self.executable?(p) = File.executable?(p.to_s)
    def self.read(p, **) = File.read(p.to_s)
    def self.binread(p) = File.binread(p.to_s)
    def self.stat(p) = File.stat(p.to_s)
    def self.lstat(p) = File.lstat(p.to_s)
    def self.readlink(p) = File.readlink(p.to_s)
    def self.unlink(*p) = File.unlink(*p.map(&:to_s))
    def self.chmod(m, p) = File.chmod(m, p.to_s)
    def self.open(p, _mode, how, &b) = File.open(p.to_s, how, &b)
    def self.pathname(p) = Pathname.new(p.to_s)
    def self.mkpath(p) = FileUtils.mkdir_p(p.to_s)
    def self.dir_mkpath(p) = FileUtils.mkdir_p(File.dirname(p.to_s))
    def self.basename(p) = Pathname.new(File.basename(p.to_s))
    def self.basename_string(p) = File.basename(p.to_s)
    def self.dir(p) = Pathname.new(File.dirname(p.to_s))
    def self.dir_string(p) = File.dirname(p.to_s)
    def self.path_string(p) = p.to_s
    def self.expand_path(p, d = nil) = File.expand_path(p.to_s, d)
    def self.each_line(p, &b) = File.foreach(p.to_s, &b)
    def self.readlines(p) = File.readlines(p.to_s)
    def self.size(p) = File.size(p.to_s)
    def self.touch(p, **) = FileUtils.touch(p.to_s)
    def self.children(p) = Dir.children(p.to_s)
    def self.replace_file(p, mode = nil, &b) = Util.replace_file(p, mode, &b)
  end
end
