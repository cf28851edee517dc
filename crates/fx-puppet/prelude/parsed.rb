# Providers that keep their resources as lines of a file: reading, matching, writing anew.
module Puppet
  module Util
    # Where the text of such providers lies: a plain file, or somebody's crontab.
    class FileType
      class FileReadError < Puppet::Error; end
      attr_accessor :path, :loaded, :synced
      class << self
        attr_accessor :name
        # What a kind reads comes without the header that was written last time.
        def newfiletype(name, &block)
          kind = Class.new(self, &block)
          kind.name = name
          kind.class_eval do
            alias_method :real_read, :read
            alias_method :real_write, :write
            def read
              @loaded = Time.now
              real_read.to_s.gsub(/# HEADER.*\n/, "")
            rescue Puppet::Error
              raise
            rescue StandardError => e
              raise Puppet::Error, "#{__kind} could not read #{@path}: #{e.message}"
            end
            def write(text)
              @synced = Time.now
              real_write(text)
            rescue Puppet::Error
              raise
            rescue StandardError => e
              message = "#{__kind} could not write #{@path}: #{e.message}"
              Puppet.log_exception(e, message)
              raise Puppet::Error, message
            end
            def __kind = "Puppet::Util::FileType::FileType#{self.class.name.to_s.capitalize}"
          end
          constant = :"FileType#{name.to_s.capitalize}"
          remove_const(constant) if const_defined?(constant, false)
          const_set(constant, kind)
          (@filetypes ||= {})[name] = kind
        end
        def filetype(name) = (@filetypes || {})[name.to_sym]
      end
      def initialize(path, default_mode = nil)
        raise ArgumentError, "Path is nil" if path.nil?
        @path = path
        @default_mode = default_mode
      end
      def cronargs
        uid = Puppet::Util.uid(@path)
        own = { failonfail: true, combine: true }
        uid && uid == Puppet::Util::SUIDManager.uid ? own : own.merge(uid: @path)
      end
      newfiletype(:flat) do
        def read = File.exist?(@path) ? File.read(@path) : nil
        def write(text)
          fresh = !File.exist?(@path)
          File.write(@path, text)
          return unless fresh
          # It was a temporary file before.
          File.chmod(@default_mode || 0o600, @path)
          Puppet::Util::SUIDManager.own(@path)
        end
        def remove = (File.unlink(@path) if File.exist?(@path))
        def backup = (Puppet::Bridge.keep(@path.to_s) if File.exist?(@path))
      end
      newfiletype(:ram) do
        const_set(:TEXTS, {})
        def read = self.class::TEXTS[@path] || ""
        def write(text) = self.class::TEXTS[@path] = text
        def remove = self.class::TEXTS[@path] = ""
      end
      newfiletype(:crontab) do
        def read
          user = @path.to_s
          out = Puppet::Util::Execution.execute(["crontab", "-u", user, "-l"], failonfail: false, combine: true)
          return "" if out.to_s =~ /no crontab for/
          raise FileReadError, "Could not read crontab for #{user}: #{out}" unless out.exitstatus.zero?
          out.to_s
        end
        def write(text)
          Tempfile.create("puppet_cron") do |f|
            f.write(text)
            f.flush
            Puppet::Util::Execution.execute(["crontab", "-u", @path.to_s, f.path], failonfail: true, combine: true)
          end
        end
        def remove = Puppet::Util::Execution.execute(["crontab", "-u", @path.to_s, "-r"], failonfail: false)
      end
    end
    # Kinds of lines, how each is taken apart and put together.
    module FileParsing
      class FileRecord
        attr_accessor :absent, :joiner, :rts, :separator, :rollup, :name, :match, :block_eval
        attr_reader :fields, :optional, :type
        def initialize(type, absent: nil, block_eval: nil, fields: nil, joiner: nil, match: nil, optional: nil,
                       post_parse: nil, pre_gen: nil, rollup: true, rts: nil, separator: nil, to_line: nil, &block)
          record = type == :record
          @type = type
          @match, @rts = match, rts
          @absent = absent || (record ? "" : nil)
          @separator = separator || (record ? /\s+/ : nil)
          @joiner = joiner || (record ? " " : nil)
          @rollup = rollup
          @fields = fields&.map(&:to_sym)
          bad = (@fields || []) & %i[record_type target on_disk]
          raise ArgumentError, "Cannot have fields named #{bad.first}" unless bad.empty?
          @optional = (optional || []).map(&:to_sym)
          { post_parse: post_parse, pre_gen: pre_gen, to_line: to_line }.each do |n, b|
            define_singleton_method(n, &b) if b
          end
          return unless block
          if block_eval == :instance then instance_eval(&block)
          else define_singleton_method(block_eval || :process, &block)
          end
        end
        def text? = @type == :text
        def join(details)
          parts = @fields.map do |f|
            v = details[f]
            next v.to_s unless v.nil? || v == :absent || v == [:absent]
            raise ArgumentError, "Field '#{f}' is required" unless @optional.include?(f)
            @absent
          end
          parts.compact.join(@joiner)
        end
      end
      attr_writer :line_separator, :trailing_separator
      def line_separator = @line_separator || "\n"
      def trailing_separator = @trailing_separator.nil? ? true : @trailing_separator
      def clear_records = (@record_types = {}) && (@record_order = [])
      def records? = !(@record_types || {}).empty?
      def record_type(name) = (@record_types || {})[name.to_sym]
      def fields(name) = record_type(name)&.fields&.dup
      def lines(text) = text.split(line_separator)
      def text_line(name, options = {}, **more, &block)
        options = options.merge(more)
        raise ArgumentError, "You must provide a :match regex for text lines" unless options[:match]
        __line(name, FileRecord.new(:text, **options, &block))
      end
      def record_line(name, options = {}, **more, &block)
        options = options.merge(more)
        raise ArgumentError, "Must include a list of fields" unless options[:fields]
        __line(name, FileRecord.new(:record, **options, &block))
      end
      def __line(name, record)
        record.name = name.to_sym
        @record_types ||= {}
        raise ArgumentError, "Line type #{name} is already defined" if @record_types.key?(record.name)
        (@record_order ||= []) << record
        @record_types[record.name] = record
      end
      def parse(text)
        lines(text).map { |l| parse_line(l) or raise Puppet::ResourceError, "Could not parse line #{l.inspect}" }
      end
      def parse_line(line)
        raise Puppet::DevError, "No record types defined; cannot parse lines" unless records?
        @record_order.each do |record|
          found = record.text? ? handle_text_line(line, record) : handle_record_line(line, record)
          next unless found
          record.post_parse(found) if record.respond_to?(:post_parse)
          return found
        end
        nil
      end
      def handle_text_line(line, record) = line =~ record.match ? { record_type: record.name, line: line } : nil
      def handle_record_line(line, record)
        found = if record.respond_to?(:process) then record.process(line.dup)
                elsif record.match
                  (m = record.match.match(line)) &&
                  record.fields.zip(m.captures).to_h { |f, v| [f, v == record.absent ? :absent : v] }
                else __split(line, record)
                end
        found && found.merge!(record_type: record.name)
      end
      def __split(line, record)
        cells = line.split(record.separator == " " ? / / : record.separator)
        out = record.fields.to_h { |f| (v = cells.shift) && v != record.absent ? [f, v] : [f, :absent] }
        last = record.fields.last
        out[last] = [out[last], *cells].join(record.joiner) if record.rollup && !cells.empty?
        out
      end
      def to_file(records)
        text = records.map { |r| to_line(r) }.join(line_separator)
        trailing_separator ? text + line_separator : text
      end
      def to_line(details)
        record = record_type(details[:record_type]) or
          raise ArgumentError, "Invalid record type #{details[:record_type].inspect}"
        if record.respond_to?(:pre_gen)
          details = details.dup
          record.pre_gen(details)
        end
        return details[:line] if record.text?
        return record.to_line(details) if record.respond_to?(:to_line)
        line = record.join(details)
        record.rts ? line.sub(record.rts == true ? /\s+$/ : record.rts, "") : line
      end
      def valid_attr?(type, attr) = attr.to_sym == :ensure || !!record_type(type)&.fields&.include?(attr.to_sym)
    end
  end
  class Provider
    class ParsedFile < Provider
      extend Puppet::Util::FileParsing
      class << self
        attr_accessor :default_target, :target, :raise_prefetch_errors
        attr_writer :filetype_
        def filetype = @filetype || Puppet::Util::FileType.filetype(:flat)
        def filetype=(kind)
          found = kind.is_a?(Class) ? kind : Puppet::Util::FileType.filetype(kind)
          @filetype = found || raise(ArgumentError, "Invalid filetype #{kind}")
        end
        def resource_type=(type)
          super
          mk_resource_methods
        end
        def initvars
          @records = []
          @target_objects = {}
          @failed = {}
          @modified = []
        end
        def default_mode = nil
        def native_header_regex = nil
        def drop_native_header = false
        def header
          "# HEADER: This file was autogenerated at #{Time.now}\n" \
            "# HEADER: by puppet.  While it can still be managed manually, it\n" \
            "# HEADER: is definitely not recommended.\n"
        end
        def clean(hash) = hash.reject { |k, _| %i[record_type on_disk].include?(k) }
        def skip_record?(record) = record_type(record[:record_type]).text?
        def record?(name) = (@records || []).find { |r| r[:name] == name }
        def modified(target) = (@modified ||= []).include?(target) ? nil : @modified << target
        def target_object(target)
          (@target_objects ||= {})[target] ||= default_mode ? filetype.new(target, default_mode) : filetype.new(target)
        end
        def target_records(target) = @records.select { |r| r[:target] == target }
        def targets(resources = nil)
          raise Puppet::DevError, "Parsed Providers must define a default target" unless default_target
          wanted = (resources || {}).values.map { |r| r.should(:target) }
          [default_target, *(@target_objects || {}).keys, *wanted].compact.uniq
        end
        def retrieve(path)
          text = target_object(path).read
          text.nil? || text.empty? ? [] : parse(text)
        end
        def prefetch_target(target)
          found = begin
            retrieve(target)
          rescue Puppet::Util::FileType::FileReadError => e
            if raise_prefetch_errors then (@failed ||= {})[target] = e.to_s
            else
              of = "#{resource_type.name} provider '#{name}' target '#{target}'"
              Puppet.err("Could not prefetch #{of}: #{e}. Treating as empty")
            end
            []
          end
          found.each { |r| r.merge!(on_disk: true, target: target, ensure: :present) }
          respond_to?(:prefetch_hook) ? prefetch_hook(found) : found
        end
        def prefetch_all_targets(resources) = targets(resources).flat_map { |t| prefetch_target(t) }
        def prefetch(resources = nil)
          @records = prefetch_all_targets(resources)
          match_providers_with_resources(resources)
        end
        def resource_for_record(record, resources) = record[:name] && resources[record[:name]]
        def match_providers_with_resources(resources)
          return unless resources
          left = resources.dup
          @records.each do |record|
            next if skip_record?(record)
            if (resource = resource_for_record(record, resources))
              resource.provider = new(record)
            elsif respond_to?(:match) && (resource = match(record, left))
              left.delete(resource.title)
              record[:name] = resource[:name]
              resource.provider = new(record)
            end
          end
        end
        def instances
          @records ||= []
          targets.flat_map { |t| prefetch_target(t) }.reject { |r| skip_record?(r) }.map { |r| new(r) }
        end
        def flush(record)
          unless record[:on_disk]
            record[:on_disk] = true
            (@records ||= []) << record
            modified(record[:target] || default_target)
          end
          due = (@modified || []).sort_by(&:to_s).uniq
          @modified = []
          due.each { |t| flush_target(t) }
        end
        # What was there is kept once for each reading.
        def backup_target(target)
          return unless target_object(target).respond_to?(:backup)
          @backup_stats ||= {}
          return if @backup_stats[target] == @records.object_id
          target_object(target).backup
          @backup_stats[target] = @records.object_id
        end
        def flush_target(target)
          if raise_prefetch_errors && (why = (@failed || {})[target])
            raise Puppet::Error, "Failed to read #{target}'s records when prefetching them. Reason: #{why}"
          end
          backup_target(target)
          target_object(target).write(to_file(target_records(target).reject { |r| r[:ensure] == :absent }))
        end
        def to_file(records)
          text = super
          if native_header_regex && (m = text.match(native_header_regex))
            return m[0] + header + m.pre_match + m.post_match unless drop_native_header
            text = m.pre_match + m.post_match
          end
          header + text
        end
        def mk_resource_methods
          (resource_type.validproperties + resource_type.parameters).each do |attr|
            attr = attr.to_sym
            define_method(attr) do
              if @property_hash[attr] || self.class.valid_attr?(self.class.name, attr)
                @property_hash[attr] || :absent
              else @resource && @resource.should(attr)
              end
            end
            define_method(:"#{attr}=") do |value|
              mark_target_modified
              @property_hash[attr] = value
            end
          end
        end
      end
      attr_accessor :property_hash
      def initialize(record)
        super
        return unless @property_hash.empty?
        @property_hash = self.class.record?(resource[:name]) || { record_type: self.class.name, ensure: :absent }
      end
      def exists? = !(@property_hash[:ensure].nil? || @property_hash[:ensure] == :absent)
      def create
        @resource.class.validproperties.each { |p| (v = @resource.should(p)) && @property_hash[p] = v }
        mark_target_modified
        :"#{@resource.class.name}_created"
      end
      def destroy
        self.ensure = :absent
        :"#{@resource.class.name}_deleted"
      end
      def record_type = @property_hash[:record_type]
      def prefetch = self.class.prefetch(@resource[:name] => @resource)
      def flush
        unless @property_hash[:target]
          @property_hash[:target] = @resource.should(:target) || self.class.default_target
          self.class.modified(@property_hash[:target])
        end
        @resource.class.key_attributes.each { |a| @property_hash[a] ||= @resource[a] }
        self.class.flush(@property_hash)
      end
      private
      def mark_target_modified
        wanted = @resource && @resource.should(:target)
        self.class.modified(wanted) if wanted && wanted != @property_hash[:target]
        t = @property_hash[:target]
        self.class.modified(t) if t && t != :absent
      end
    end
  end
end
