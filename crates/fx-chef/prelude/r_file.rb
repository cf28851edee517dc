# file: content, owner and mode of a file.
class Chef
  class Resource
    module FxSecurable
      def owner(arg = nil)
        return @owner if arg.nil?
        @owner = fx_account(:owner, arg, Chef::Config[:user_valid_regex])
      end
      alias user owner
      def group(arg = nil)
        return @group if arg.nil?
        @group = fx_account(:group, arg, Chef::Config[:group_valid_regex])
      end
      def fx_account(name, arg, regex)
        return arg if arg.is_a?(Integer) || arg.is_a?(Chef::DelayedEvaluator)
        Mixin::ParamsValidate.run_check(self, name, arg, :regex, regex)
        arg
      end
      def mode(arg = nil)
        return (@mode.is_a?(Chef::DelayedEvaluator) ? instance_eval(&@mode) : @mode) if arg.nil?
        unless arg.is_a?(Chef::DelayedEvaluator)
          n = arg.is_a?(String) ? Integer("0#{arg.delete_prefix("0")}") : Integer(arg)
          unless n >= 0 && n <= 07777
            raise Chef::Exceptions::ValidationFailed, "Option mode's value #{arg} not in valid numeric range!"
          end
        end
        @mode = arg
      end
      def fx_mode
        m = mode
        m.nil? ? nil : m.is_a?(Integer) ? m : m.to_s.oct
      end
      def fx_owner = @owner.is_a?(Chef::DelayedEvaluator) ? instance_eval(&@owner) : @owner
      def fx_group = @group.is_a?(Chef::DelayedEvaluator) ? instance_eval(&@group) : @group
      %i{owner user group mode}.each { |m| define_method(:"#{m}=") { |v| send(m, v) } }
      %i{rights deny_rights}.each { |m| define_method(m) { |*| nil } }
      def inherits(*) = nil
    end

    class File
      include FxSecurable
      %i{owner group mode}.each { |m| remove_method(m) if method_defined?(m, false) }
      %i{owner= group= mode=}.each { |m| remove_method(m) if method_defined?(m, false) }
      property :checksum, String, regex: /^\h{64}$/, coerce: proc { |s| s.is_a?(String) ? s.downcase : s }
      property :verifications, Array, default: lazy { [] }, desired_state: false
      property :atomic_update, [TrueClass, FalseClass], desired_state: false, default: lazy { true }
      # Whether there is anything to verify, without making the list.
      def fx_verified? = !@verifications.nil? && !verifications.empty?
      def verify(command = nil, opts = {}, &block)
        return verifications if command.nil? && block.nil?
        verifications << Verification.new(self, command, opts, &block)
      end
      def after_created
        FX.declared(to_s, @path || @name, source_line) unless @path.is_a?(Chef::DelayedEvaluator)
      end
      def state_for_resource_reporter = super

      class Verification
        def initialize(parent, command, opts, &block)
          (@parent, @command, @opts, @block = parent, command, opts, block)
        end
        attr_reader :command, :block
        # systemd judges a unit by its name too, so it gets a copy that has it.
        def unit?(path)
          tool = ChefUtils.which("systemd-analyze")
          return true unless tool
          require "tmpdir"
          Dir.mktmpdir("chef-systemd-unit") do |dir|
            copy = "#{dir}/#{::File.basename(@parent.path)}"
            ::File.write(copy, ::File.read(path))
            FX.settle
            @command = "#{tool} verify %{path}"
            verify(copy)
          end
        end
        def verify(path)
          if @block
            @block.call(path, {})
          elsif @command.is_a?(Symbol)
            case @command
            when :json then (JSON.parse(::File.read(path)); true) rescue false
            when :yaml then (YAML.load(::File.read(path)); true) rescue false
            when :systemd_unit then unit?(path)
            else raise Chef::Exceptions::VerificationNotFound, "No file verification for #{@command} found."
            end
          else
            line = @command.gsub("%{path}", path)
            @last = Mixlib::ShellOut.new(line).run_command
            @last.exitstatus == 0
          end
        end
        def error(path)
          return "Proposed content for #{@parent.path} failed verification [sensitive]" if @parent.fx_secret?
          "Proposed content for #{@parent.path} failed verification #{self}" +
            (@last ? "\nSTDOUT: #{@last.stdout.strip}\nSTDERR: #{@last.stderr.strip}" : "")
        end
        def to_s
          return "<Proc>" unless @command
          @command.is_a?(Symbol) ? ":#{@command} (Chef::Resource::File::Verification::#{FX.camel(@command.to_s)})" :
            @command
        end
      end
    end
  end
  class Provider
    class File < Chef::Provider
      def load_current_resource
        @path = new_resource.path
      end

      def content_of = new_resource.content

      def action_create = converge_file
      def action_create_if_missing
        return if fx_exists?(@path)
        converge_file
      end

      # What stands in the way fails before content is made, where making it can fail.
      def fx_content_first? = instance_of?(Chef::Provider::File)

      def converge_file
        r = new_resource
        verified = r.fx_verified?
        first = !verified && fx_content_first?
        FX.check_target(@path, r.force_unlink) unless first
        content = content_of
        verify_content(content) if verified && !content.nil?
        copies = r.backup
        backup = copies == false || copies == 0 ? nil : [Chef::Config[:file_backup_path], copies]
        follow = r.manage_symlink_source != false
        lists = FX.file_apply(
          path: @path, content: content, mode: r.fx_mode, owner: r.fx_owner, group: r.fx_group, backup: backup,
                              secret: r.fx_secret?, follow: follow, check: first, force: r.force_unlink,
                              heard: events.heard?)
        return unless lists
        @fx_updates = true
        if lists.is_a?(Array)
          lists.each do |l|
            FX.applied(l)
            events.resource_update_applied(r, @action, l)
          end
        end
        Chef::Log.info("#{r} updated file contents #{@path}") if Chef::Log.info?
      end

      def verify_content(content)
        old = ::File.exist?(@path) ? ::File.binread(@path) : nil
        return if old == content.to_s.b
        require "tempfile"
        dir = ::File.directory?(::File.dirname(@path)) ? ::File.dirname(@path) : "/tmp"
        tmp = Tempfile.create([".chef-#{::File.basename(@path, ".*")}", ::File.extname(@path)], dir)
        begin
          tmp.binmode
          tmp.write(content)
          tmp.close
          FX.settle
          new_resource.verifications.each do |v|
            next if v.verify(tmp.path)
            raise Chef::Exceptions::ValidationFailed, v.error(tmp.path) if new_resource.fx_secret?
            failed = "#{Chef::Config[:file_cache_path]}/failed_validations"
            require "fileutils"
            FileUtils.mkdir_p(failed)
            kept = "#{failed}/#{::File.basename(tmp.path)}"
            FileUtils.mv(tmp.path, kept)
            raise Chef::Exceptions::ValidationFailed, "#{v.error(tmp.path)}\n\nTemporary file moved to #{kept}"
          end
        ensure
          ::File.unlink(tmp.path) if ::File.exist?(tmp.path)
        end
      end

      def action_delete
        return unless fx_exists?(@path, link: true)
        st = ::File.lstat(@path)
        if st.directory? && !new_resource.force_unlink
          raise Chef::Exceptions::FileTypeMismatch,
            "File #{@path} exists, but is a directory, set force_unlink to true to remove"
        end
        fx_change("delete file #{@path}", fx_about(:file, @path, ensure: [st.ftype, "absent"])) do
          ::File.delete(@path)
          Chef::Log.info("#{new_resource} deleted file at #{@path}")
        end
      end

      def action_touch
        converge_file
        now = Time.now
        was = ::File.exist?(@path) ? ::File.mtime(@path) : nil
        fx_change("update utime on file #{@path}", fx_about(:file, @path, mtime: [was&.to_f, now.to_f])) do
          ::File.utime(now, now, @path)
        end
      end
    end
  end
end
