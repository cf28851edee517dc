# Resource types written in Ruby: parameters, properties, values, validation, providers.
module Puppet
  module CompilableResourceType; end
  class Parameter
    class << self
      attr_accessor :name, :default_block, :validator, :munger, :unmunger, :required_features, :value_collection, :parent_type, :meta, :boolean, :aliases, :noopable
      attr_writer :isnamevar, :doc
      def desc(text = nil) = @doc = text
      def doc = @doc
      alias doc= desc
      def isnamevar = @isnamevar = true
      def isnamevar? = !!@isnamevar || name == :name
      alias namevar? isnamevar?
      def isrequired = @required = true
      def required? = !!@required
      def nodefault = @default_block = nil
      def defaultto(value = nil, &block)
        block ||= -> { value }
        @default_block = block
        define_method(:default, &block)
      end
      def default_for(_resource) = nil
      def validate(&block) = define_method(:unsafe_validate, &block)
      def munge(&block) = define_method(:unsafe_munge, &block)
      def unmunge(&block) = define_method(:unmunge, &block)
      def newvalues(*values)
        (@values ||= []).concat(values.flatten)
      end
      def aliasvalue(name, other) = (@value_aliases ||= {})[name.to_sym] = other
      def values = @values || (superclass.respond_to?(:values) ? superclass.values : []) || []
      def value_aliases = @value_aliases || (superclass.respond_to?(:value_aliases) ? superclass.value_aliases : {})
      def required_features=(f)
        @required_features = f
      end
      def needs_features(*f) = @required_features = f
      def proxymethods(*names) = names.each { |n| define_method(n) { |*a| resource.send(n, *a) } }
      def newvalue(name, options = {}, &block)
        (@values ||= []) << name
        if block
          m = :"set_#{name.is_a?(Regexp) ? name.source.gsub(/\W/, "_") : name}"
          define_method(m, &block)
          (@value_methods ||= {})[name] = m
        end
        (@value_events ||= {})[name] = options[:event] if options[:event]
      end
      def value_methods = @value_methods || (superclass.respond_to?(:value_methods) ? superclass.value_methods : {}) || {}
      def value_events = @value_events || (superclass.respond_to?(:value_events) ? superclass.value_events : {})
      def initvars = nil
      def format_value_for_display(v, depth = 0)
        case v
        when nil then ""
        when true, false, Numeric then v.to_s
        when Array then "[#{v.map { |x| format_value_for_display(x, depth) }.join(", ")}]"
        when Hash
          return "{}" if v.empty?
          inner = "  " * (depth + 1)
          rows = v.map { |k, x| "#{inner}#{format_value_for_display(k)} => #{format_value_for_display(x, depth + 1)}" }
          "{\n#{rows.join(",\n")}\n#{"  " * depth}}"
        else
          s = v.to_s
          s =~ /[[:cntrl:]]/ ? s.inspect : "'#{s.gsub("'") { "\\'" }}'"
        end
      end
      def optional = nil
      def sensitive(v = true) = @sensitive = v
    end
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    attr_accessor :resource, :parent, :sensitive
    attr_reader :should_value
    def initialize(resource: nil, **)
      @resource = resource
    end
    def name = self.class.name
    def default = nil
    def value = @value
    def value=(v)
      validate(v)
      @value = munge(v)
    end
    def munge(v)
      __munge_values(v)
    rescue Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Munging failed for value #{v.inspect} in class #{name}: #{e.message}"
    end
    def unsafe_munge(v) = __canonical(v)
    def __munge_values(v) = unsafe_munge(v)
    def unmunge(v) = v
    def validate(v)
      __check_values(v)
      unsafe_validate(v)
    rescue ArgumentError, Puppet::Error
      raise
    rescue StandardError => e
      raise Puppet::DevError, "Validate method failed for class #{name}: #{e.message}"
    end
    def unsafe_validate(_v) = nil
    def __canonical(v)
      vals = self.class.values
      return v if vals.empty?
      s = v.to_s
      a = self.class.value_aliases
      s = a[s.to_sym].to_s if a.key?(s.to_sym)
      found = vals.find { |x| x.is_a?(Regexp) ? false : x.to_s == s }
      return found.is_a?(String) || found.is_a?(Symbol) ? found.to_s.to_sym : found if found
      v
    end
    def __check_values(v)
      vals = self.class.values
      return if vals.empty?
      ok = vals.any? { |x| x.is_a?(Regexp) ? x.match?(v.to_s) : x.to_s == v.to_s } || self.class.value_aliases.key?(v.to_s.to_sym)
      return if ok
      names = vals.reject { |x| x.is_a?(Regexp) }.map(&:to_s)
      regs = vals.select { |x| x.is_a?(Regexp) }
      str = +""
      str << "Valid values are #{names.join(", ")}. " unless names.empty?
      str << "Valid values match #{regs.map(&:inspect).join(", ")}." unless regs.empty?
      raise ArgumentError, "Invalid value #{v.inspect}. #{str}"
    end
    def provider = resource.provider
    def path = "#{resource.path}/#{name}"
    def to_s = name.to_s
    def tags = []
    def noop = resource.noop?
    def should_to_s(v) = self.class.format_value_for_display(v)
    def is_to_s(v) = self.class.format_value_for_display(v)
    def format(fmt, *args) = args.empty? ? fmt : Kernel.format(fmt, *args)
    def metaparam? = false
    class Boolean < Parameter
      def unsafe_munge(v)
        case v.to_s
        when "true", "yes" then true
        when "false", "no" then false
        else raise ArgumentError, "expected a boolean value, got #{v.inspect}"
        end
      end
      def self.initvars = nil
    end
    class Path < Parameter
      class << self
        def accept_arrays(v = true) = @accept_arrays = v
        def arrays? = !!@accept_arrays
      end
      def unsafe_validate(v)
        Array(v).each { |p| raise ArgumentError, "#{name} must be a fully qualified path" unless Puppet::Util.absolute_path?(p) }
      end
    end
    class ValueCollection; end
    class PackageOptions < Parameter; end
  end
  class Property < Parameter
    class << self
      attr_accessor :array_matching
      def array_matching=(v)
        @array_matching = v.to_s.to_sym
      end
      def array_matching = @array_matching || (superclass.respond_to?(:array_matching) ? superclass.array_matching : :first)
    end
    def value = should
    def value=(v)
      self.should = v
    end
    def should=(values)
      values = [values] unless values.is_a?(Array)
      @shouldorig = values
      values.each { |v| validate(v) }
      @should = values.map { |v| munge(v) }
    end
    attr_reader :shouldorig
    def should
      return nil if @should.nil?
      self.class.array_matching == :all ? @should.map { |x| unmunge(x) } : unmunge(@should.first)
    end
    def shouldorig = @shouldorig
    def match_all? = self.class.array_matching == :all
    def retrieve = provider.send(self.class.name)
    def safe_insync?(is) = insync?(is)
    def insync?(is)
      return true if @should.nil? || @should.empty?
      if match_all?
        return false unless is.is_a?(Array)
        return false unless is.length == @should.length
        return is.zip(@should).all? { |a, b| property_matches?(a, b) }
      end
      @should.any? { |s| property_matches?(is, s) }
    end
    def property_matches?(current, desired) = current == desired || current.to_s == desired.to_s
    def set(value)
      m = self.class.value_methods.find { |k, _| k.is_a?(Regexp) ? k.match?(value.to_s) : k.to_s == value.to_s }
      return send(m[1]) if m
      provider.send(:"#{self.class.name}=", value)
    end
    def sync
      devfail "#{self.class.name} got no value" if @should.nil?
      set(should)
    end
    def change_to_s(current, newvalue)
      if current == :absent
        "defined '#{name}' as #{should_to_s(newvalue)}"
      elsif newvalue == :absent || newvalue == [:absent]
        "undefined '#{name}' from #{is_to_s(current)}"
      else
        "#{name} changed #{is_to_s(current)} to #{should_to_s(newvalue)}"
      end
    end
    def insync_values?(a, b) = property_matches?(a, b)
    def event_name = nil
    class Boolean < Property
      def unsafe_munge(v) = Parameter::Boolean.new.unsafe_munge(v)
    end
    # Several values written as one text; which others may stay is the membership's to say.
    class List < Property
      self.array_matching = :all
      def membership = :membership
      def delimiter = ","
      def inclusive? = resource[membership] == :inclusive
      def is_to_s(is) = is.is_a?(Array) ? is.join(delimiter) : super
      def add_should_with_current(should, current) = current.is_a?(Array) ? (should + current).uniq : should.uniq
      def dearrayify(a) = a.sort.join(delimiter)
      def should
        return nil unless @should
        dearrayify(inclusive? ? @should : add_should_with_current(@should, retrieve))
      end
      def retrieve
        is = provider && provider.send(name)
        is.nil? || is == :absent ? :absent : is.is_a?(Array) ? is : is.split(delimiter)
      end
      def prepare_is_for_comparison(is) = dearrayify(is == :absent ? [] : is)
      def insync?(is) = is.nil? || prepare_is_for_comparison(is) == should
    end
    class OrderedList < List
      def add_should_with_current(should, current) = current.is_a?(Array) ? should + (current - should) : should
      def dearrayify(a) = a.join(delimiter)
    end
    # Pairs written as one text each.
    class KeyValue < Property
      self.array_matching = :all
      def delimiter = ";"
      def separator = "="
      def membership = :key_membership
      def inclusive? = resource[membership] == :inclusive
      def hash_to_key_value_s(hash) = hash.map { |k, v| "#{k}#{separator}#{v}" }.join(delimiter)
      def hashify(pairs) = Array(pairs).to_h { |pair| pair.is_a?(Array) ? pair : pair.to_s.split(separator, 2).then { |k, v| [k.to_sym, v] } }
      def should
        return nil unless @should
        wanted = @should.first.is_a?(Hash) ? @should.first.transform_keys { |k| k.to_s.to_sym } : hashify(@should)
        inclusive? ? wanted : hashify_current.merge(wanted)
      end
      def hashify_current = (is = retrieve).is_a?(Hash) ? is.transform_keys { |k| k.to_s.to_sym } : {}
      def retrieve
        is = provider && provider.send(name)
        is.nil? || is == :absent ? :absent : is.is_a?(Hash) ? is : hashify(is.split(delimiter))
      end
      def insync?(is) = is.nil? || (is == :absent ? {} : is) == should
    end
    class Ensure < Property
      def self.defaultvalues
        newvalue(:present) { provider.create }
        newvalue(:absent) { provider.destroy }
        defaultto { resource.managed? ? :present : nil }
      end
      def self.inherited(sub)
        super
        sub.name = :ensure
      end
      def change_to_s(current, newvalue)
        return "created" if current == :absent || current.nil?
        return "removed" if newvalue == :absent
        "#{name} changed #{is_to_s(current)} to #{should_to_s(newvalue)}"
      end
      def retrieve
        result = if provider && provider.respond_to?(:properties) then provider.properties[:ensure]
                 elsif provider && provider.respond_to?(:exists?) then provider.exists? ? :present : :absent
                 elsif resource.respond_to?(:exists?) then resource.exists? ? :present : :absent
                 end
        if provider && provider.respond_to?(:exists?)
          provider.exists? ? :present : :absent
        else
          result || :absent
        end
      end
    end
  end
  class Type
    extend Enumerable
    TYPES = {}
    LOADED = {}
    RESOURCES = []
    METAPARAMS = %i[alias audit before loglevel noop notify require schedule stage subscribe tag].freeze
    class RelationshipMetaparam < Parameter; end
    class << self
      attr_accessor :name, :self_refresh, :apply_to_, :provider_loader
      attr_writer :doc
      include Puppet::Util
      include Puppet::Util::Errors
      include Puppet::Util::Logging
      include Puppet::Util::Warnings
      def newtype(name, options = {}, &block)
        name = name.to_s.downcase.to_sym
        parent = options[:parent] || Type
        k = Class.new(parent)
        k.name = name
        k.self_refresh = true if options[:self_refresh]
        const_set(name.to_s.split("_").map(&:capitalize).join, k) unless name.to_s =~ /[^a-z0-9_]/ || const_defined?(name.to_s.split("_").map(&:capitalize).join, false)
        TYPES[name] = k
        __constructor(name)
        k.class_eval(&block) if block
        k.newparam(:provider) { desc "The provider" } if k.__uses_providers? && !k.valid_parameter?(:provider)
        k
      end
      def rmtype(name) = TYPES.delete(name)
      def __uses_providers? = !(@provider_parent_used.nil?) || Puppet::Bridge.provider_dir?(name.to_s)
      def desc(text = nil) = @doc = text
      def doc = @doc
      def [](name) = type(name)
      def type(name)
        name = name.to_s.downcase.to_sym
        return TYPES[name] if TYPES.key?(name)
        return nil if LOADED[name]
        LOADED[name] = true
        Puppet::Bridge.load_type(name.to_s)
        TYPES[name] ||= (Puppet::Bridge.builtin_type(name.to_s) && __builtin(name))
      end
      NAMEVARS = { file: :path, exec: :command, tidy: :path, mount: :name }.freeze
      def __builtin(name)
        k = Class.new(Type)
        k.name = name
        Puppet::Bridge.builtin_type(name.to_s).each do |p|
          k.newparam(p.to_sym, namevar: NAMEVARS[name] == p.to_sym)
        end
        k.instance_variable_set(:@__builtin, true)
        __constructor(name)
        TYPES[name] = k
      end
      def __builtin? = !!@__builtin
      # `newfile` and its kin make a resource of the type.
      def __constructor(name)
        Type.define_singleton_method(:"new#{name}") { |*args| Type.type(name).new(*args) }
      end
      def loadall = nil
      def eachtype(&b) = TYPES.values.each(&b)
      def newparam(name, options = {}, &block)
        options = {} unless options.is_a?(Hash)
        k = Class.new(options[:parent] || Parameter)
        k.name = name.to_sym
        k.parent_type = self
        k.boolean = options[:boolean]
        k.isnamevar if options[:namevar]
        k.required_features = options[:required_features]
        __params[name.to_sym] = k
        (@paramorder ||= []) << name.to_sym
        const_set("Parameter#{name.to_s.capitalize.gsub(/\W/, "_")}", k) rescue nil
        k.class_eval(&block) if block
        define_method(:"#{name}?") { self[name] && self[name] != :false } if options[:boolean]
        k
      end
      def newproperty(name, options = {}, &block)
        options = {} unless options.is_a?(Hash)
        k = Class.new(options[:parent] || Property)
        k.name = name.to_sym
        k.parent_type = self
        k.array_matching = options[:array_matching] if options[:array_matching]
        k.isnamevar if options[:namevar]
        k.required_features = options[:required_features]
        if options[:retrieve]
          m = options[:retrieve]
          k.define_method(:retrieve) { provider.send(m) }
        end
        __props[name.to_sym] = k
        (@paramorder ||= []) << name.to_sym
        k.class_eval(&block) if block
        k
      end
      def newmetaparam(name, options = {}, &block) = newparam(name, options, &block)
      def ensurable(&block)
        if block
          newproperty(:ensure, parent: Property::Ensure, &block)
        else
          newproperty(:ensure, parent: Property::Ensure) { defaultvalues }
        end
      end
      def ensurable? = __props.key?(:ensure)
      def __params = @__params ||= (superclass.respond_to?(:__params) && superclass != Type ? superclass.__params.dup : {})
      def __props = @__props ||= (superclass.respond_to?(:__props) && superclass != Type ? superclass.__props.dup : {})
      def parameters = __params.keys
      def properties = __props.values
      def validproperties = __props.keys
      def validproperty?(n) = __props.key?(n.to_sym)
      def validattr?(n) = valid_parameter?(n)
      def validparameter?(n) = __params.key?(n.to_sym) || METAPARAMS.include?(n.to_sym)
      def valid_parameter?(n) = __params.key?(n.to_sym) || __props.key?(n.to_sym) || METAPARAMS.include?(n.to_sym) || n.to_sym == :name
      def attrclass(n) = __params[n.to_sym] || __props[n.to_sym]
      def paramclass(n) = __params[n.to_sym]
      def propertybyname(n) = __props[n.to_sym]
      def attrtype(n) = __props.key?(n.to_sym) ? :property : METAPARAMS.include?(n.to_sym) ? :meta : :param
      def allattrs = key_attributes | (__params.keys + __props.keys + METAPARAMS)
      def metaparams = METAPARAMS
      def metaparam?(n) = METAPARAMS.include?(n.to_sym)
      def eachmetaparam(&b) = METAPARAMS.each(&b)
      def metaparamclass(n) = METAPARAMS.include?(n.to_sym) ? RelationshipMetaparam : nil
      def relationship_params = []
      def key_attribute_parameters = (__params.values + __props.values).select(&:isnamevar?)
      def key_attributes
        k = key_attribute_parameters.map(&:name)
        k.size > 1 && k.include?(:name) && !(__params[:name] || __props[:name])&.instance_variable_get(:@isnamevar) ? k - [:name] : k
      end
      def namevar = key_attributes.first
      alias key_attribute namevar
      def title_patterns
        k = key_attributes
        case k.length
        when 0 then []
        when 1 then [[/(.*)/m, [[k.first]]]]
        else raise Puppet::DevError, "you must specify title patterns when there are two or more key attributes"
        end
      end
      attr_writer :isomorphic
      def isomorphic? = @isomorphic.nil? ? true : @isomorphic
      def validate(&block) = define_method(:validate, &block)
      def autorequire(name, &block) = (@autorequires ||= {})[name.to_sym] = block
      def autobefore(name, &block) = (@autobefores ||= {})[name.to_sym] = block
      def autonotify(name, &block) = (@autonotifies ||= {})[name.to_sym] = block
      def autosubscribe(name, &block) = (@autosubscribes ||= {})[name.to_sym] = block
      def __autos(kind) = instance_variable_get(:"@#{kind}") || {}
      def eachautorequire = (@autorequires || {}).each { |k, b| yield k, b }
      def feature(name, docs = nil, options = {}) = (@features ||= {})[name.to_sym] = [docs, options]
      def features = (@features || {}).keys
      def provider_feature(name) = (@features || {})[name.to_sym]
      def apply_to_all = nil
      def apply_to_host = nil
      def apply_to_device = nil
      def apply_to = :host
      def can_apply_to(_t) = true
      def newdefault(*) = nil
      def providers = (@providers ||= {}).keys
      def provider(name)
        @providers ||= {}
        n = name.to_s.downcase.to_sym
        unless @providers.key?(n)
          Puppet::Bridge.load_provider(self.name.to_s, n.to_s)
        end
        @providers[n]
      end
      def provide(name, options = {}, &block)
        @providers ||= {}
        name = name.to_s.downcase.to_sym
        parent = options[:parent]
        parent = case parent
                 when nil then (@base_provider ||= Class.new(Puppet::Provider).tap { |c| c.resource_type = self })
                 when Symbol, String then provider(parent) || raise(Puppet::DevError, "Could not find parent provider #{parent} of #{name}")
                 else parent
                 end
        @provider_parent_used = true
        k = Class.new(parent)
        k.name = name
        k.initvars if k.respond_to?(:initvars)
        k.resource_type = self
        options.each { |o, v| k.public_send(:"#{o}=", v) if %i[parent resource_type].none?(o) && k.respond_to?(:"#{o}=") }
        if options[:resource_type]
          k.resource_type = options[:resource_type]
        end
        @providers[name] = k
        const_set(:"Provider#{name.to_s.capitalize}", k) if name.to_s =~ /\A[a-z]\w*\z/ && !const_defined?(:"Provider#{name.to_s.capitalize}", false)
        unless valid_parameter?(:provider)
          newparam(:provider) { desc "The provider" }
        end
        k.class_eval(&block) if block
        k
      end
      def __all_providers
        Puppet::Bridge.load_providers(name.to_s)
        (@providers ||= {})
      end
      def suitableprovider = __all_providers.values.select(&:suitable?)
      def defaultprovider
        return @defaultprovider if @defaultprovider
        all = suitableprovider
        return nil if all.empty?
        best = all.map(&:specificity).max
        @defaultprovider = all.select { |p| p.specificity == best }.first
      end
      def rmprovider(*) = nil
      def unprovide(*) = nil
      def instances
        seen = {}
        __all_providers.values.select { |p| p.suitable? && p.respond_to?(:instances) }.flat_map do |p|
          p.instances.filter_map do |i|
            # A provider may know a title that says more than the name.
            own = i.respond_to?(:title)
            key = own ? i.title : i.name
            next if seen[key]
            seen[key] = true
            new(own ? { title: key, provider: i } : { name: key, provider: i })
          end
        end
      end
      def hash2resource(h) = Puppet::Resource.new(name, h[:title] || h[:name] || h[namevar], parameters: h)
      def provider_options(*) = {}
      def providify = nil
      def instance_variable_or(*) = nil
      def defaultprovider=(p)
        @defaultprovider = p
      end
      def context_required? = false
      def to_s = name ? "Puppet::Type::#{name.to_s.split("_").map(&:capitalize).join}" : super
      # A resource for applying.
      def __make(kind, title, params)
        t = type(kind) or raise Puppet::Error, "unknown resource type #{kind}"
        r = Puppet::Resource.new(kind, title)
        params.each do |k, v|
          if v.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
            r.sensitive_parameters += [k.to_s.to_sym]
            v = v.unwrap
          end
          r[k] = v
        end
        r.catalog = Puppet::Resource::Catalog.applied
        r.catalog.__add(t.new(r))
      end
      # Whether a resource brings others with it.
      def __generates?(object)
        [:generate, :eval_generate].any? { |m| object.method(m).owner != Type }
      end
      # What it brings, each with its type, title, values and the names of those that are secret:
      # at first what is known beforehand, then with what only its turn tells.
      def __generated(object, all)
        @generated ||= {}
        made = @generated[object.object_id] ||= begin
          list = object.generate
          list = list.is_a?(Array) ? list.flatten.compact : [list].compact
          list.each { |r| Puppet::Resource::Catalog.applied.__add(r) }
        end
        if all
          more = object.eval_generate
          made |= more.flatten.compact if more.is_a?(Array)
        end
        made.map(&:__told)
      end
      # Resources of the catalog that Ruby gave other values since it was asked last.
      def __changed
        list = Puppet::Resource::Catalog.applied.__changed
        list.map(&:__told)
      end
      # Whether errors of a resource tell no place: its type makes a plain hash of it first.
      def __placeless?(kind) = !type(kind).nil? && Puppet.const_defined?(:ResourceApi, false) && Puppet::ResourceApi::DEFINITIONS.key?(kind)
      # Where the resource stands in the catalog, for what it says itself.
      def __settle(object, path)
        object.instance_variable_set(:@__path, path)
      end
      def __instances(kind)
        t = type(kind) or raise Puppet::Error, "Could not find resource type"
        return [] unless t.validproperty?(:ensure)
        t.instances.map { |i| (i.provider.respond_to?(:title) ? i.provider.title : i.name).to_s }
      end
      def __inspect_all(kind)
        t = type(kind) or raise Puppet::Error, "Could not find type #{kind}"
        t.instances.to_h do |i|
          i.class.properties.each { |p| i.newattr(p.name) unless i.parameter(p.name) }
          is = i.retrieve
          is = is.to_hash if is.respond_to?(:to_hash)
          shown = is.reject { |_, v| v.nil? || v == :absent }.to_h { |k, v| [k.to_s, v.is_a?(Array) ? v.map(&:to_s) : v.is_a?(Integer) ? v : v.to_s] }
          [i.title.to_s, shown.merge("provider" => i.provider.class.name.to_s)]
        end
      end
      def __prefetch(objects)
        objects.group_by { |o| o.provider && o.provider.class }.each do |provider, list|
          next unless provider && provider.respond_to?(:prefetch)
          begin
            provider.prefetch(list.to_h { |o| [o.name, o] })
          rescue StandardError, LoadError => e
            Puppet.err("Could not prefetch #{list.first.type} provider '#{provider.name}': #{e.message}")
          end
        end
      end
      def __info
        keys = key_attributes
        pats = respond_to?(:title_patterns) ? (title_patterns rescue []) : []
        pats = pats.map { |re, parts| [re.source, re.options, parts.map { |p| p.first.to_s }] }
        [(__params.keys + __props.keys).map(&:to_s), keys.map(&:to_s), pats, isomorphic?]
      end
    end
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    include Puppet::Util::Tagging
    attr_accessor :catalog, :title, :file, :line, :noop, :provider, :original_parameters, :virtual
    attr_reader :params
    def initialize(given)
      @params = {}
      @parameters = @params
      given = given.is_a?(Hash) ? given.transform_keys { |k| k.to_s.to_sym } : given
      if given.is_a?(Puppet::Resource)
        @title = given.title
        h = given.to_hash.transform_keys { |k| k.to_s.to_sym }
        @file, @line, @catalog = given.file, given.line, given.catalog
      else
        h = given.dup
        @title = h.delete(:title) || h[:name] || h[self.class.namevar]
      end
      h[self.class.namevar] = h.delete(:name) if h.key?(:name) && self.class.namevar && self.class.namevar != :name && !h.key?(self.class.namevar)
      @original_parameters = h.dup
      __fill_from_title(h)
      # A provider may look for what is known of the name, so the name comes first.
      (nv = self.class.namevar) && h.key?(nv) && self[nv] = h.delete(nv)
      self.provider = h.delete(:provider) if h[:provider] || self.class.valid_parameter?(:provider)
      __set_provider
      order = [self.class.namevar, :provider, :ensure].compact + (self.class.instance_variable_get(:@paramorder) || [])
      (order.uniq & h.keys).each { |k| self[k] = h[k] }
      (h.keys - order).each { |k| self[k] = h[k] }
      given.sensitive_parameters.each { |k| @params[k] && @params[k].sensitive = true } if given.is_a?(Puppet::Resource)
      __defaults
      __validate
    end
    # Takes the values of a resource that is not written in Ruby as they are.
    def __know(data, catalog)
      @params = {}
      @parameters = @params
      @title = data["title"]
      @catalog = catalog
      data["params"].each { |k, v| self.class.valid_parameter?(k) && !v.nil? && self[k] = v }
      @original_parameters = to_hash
      nv = self.class.namevar
      self[nv] = @title if nv && !@params.key?(nv)
      @__known = true
    end
    def __validate
      validate if respond_to?(:validate)
    rescue Puppet::Error, ArgumentError => e
      raise if e.message.start_with?("Validation of ")
      raise Puppet::ResourceError, "Validation of #{ref} failed: #{e.message}"
    end
    def deleting? = (e = property(:ensure)) && e.should == :absent
    def __fill_from_title(h)
      pats = self.class.title_patterns
      pats.each do |re, parts|
        m = re.match(@title.to_s) or next
        parts.zip(m.captures).each do |(name, conv), text|
          h[name] = conv ? conv.call(text) : text if !h.key?(name) && !text.nil?
        end
        break
      end
    end
    def provider=(p)
      @__provider_given = p
      @provider = p if p.is_a?(Puppet::Provider)
      if p.is_a?(Puppet::Provider)
        p.resource = self
      end
    end
    def __set_provider
      return if @provider.is_a?(Puppet::Provider)
      wanted = @__provider_given
      k = wanted ? self.class.provider(wanted) : (self.class.valid_parameter?(:provider) || self.class.instance_variable_get(:@providers) || Puppet::Bridge.provider_dir?(self.class.name.to_s) ? self.class.defaultprovider : nil)
      raise Puppet::Error, "Parameter provider failed on #{ref}: Invalid provider '#{wanted}'" if wanted && k.nil?
      @provider = k && k.new(self)
    end
    def __defaults
      (self.class.instance_variable_get(:@paramorder) || []).each do |n|
        next if @params.key?(n) || n == :provider
        k = self.class.attrclass(n)
        next unless k && k.method_defined?(:default)
        inst = k.new(resource: self)
        v = inst.default
        next if v.nil?
        @params[n] = inst
        inst.value = v
      end
    end
    def newattr(name)
      k = self.class.attrclass(name) or raise Puppet::Error, "#{self.class.name} does not have a parameter named #{name}"
      @params[name.to_sym] ||= k.new(resource: self)
    end
    def parameter(n) = @params[n.to_sym] || (n.to_sym == :name ? @params[self.class.namevar] : nil)
    def property(n) = (p = @params[n.to_sym]).is_a?(Property) ? p : nil
    def parameters = @params.dup
    def properties = self.class.validproperties.filter_map { |n| (p = @params[n]).is_a?(Property) ? p : nil }
    def eachproperty(&b) = properties.each(&b)
    def value(n) = self[n]
    def should(n) = (p = property(n)) && p.should
    def [](n)
      n = n.to_s.to_sym
      if n == :provider
        return @provider.class.name if @provider
        return self.class.__builtin? ? Puppet::Bridge.builtin_provider(type.to_s)&.to_sym : nil
      end
      n = self.class.namevar if n == :name && !@params.key?(:name) && self.class.namevar
      return @__meta[n] if @__meta && @__meta.key?(n)
      (p = @params[n]) && p.value
    end
    def []=(n, v)
      n = n.to_s.to_sym
      @catalog.__touch(self) if @__known
      if METAPARAMS.include?(n)
        (@__meta ||= {})[n] = v
        @noop = v if n == :noop
        return
      end
      return if n == :provider
      n = self.class.namevar if n == :name && !self.class.attrclass(:name) && self.class.namevar
      raise Puppet::Error, "no parameter named '#{n}'" unless self.class.valid_parameter?(n)
      raise Puppet::Error, "Got nil value for #{n}" if v.nil?
      p = newattr(n)
      begin
        p.value = v
      rescue Puppet::Error, ArgumentError => e
        raise Puppet::ResourceError, "Parameter #{n} failed on #{ref}: #{e.message}"
      end
    end
    def delete(n) = @params.delete(n.to_sym)
    def set_default(*) = nil
    def name = self[:name] || @title
    def ref = "#{self.class.name.to_s.split("::").map(&:capitalize).join("::")}[#{title}]"
    alias to_s ref
    def type = self.class.name
    def path = @__path || ref
    def pathbuilder = [ref]
    def noop? = !!@noop
    def managed? = properties.any? { |p| p.should && p.class.name != :ensure } || !!(property(:ensure) && property(:ensure).shouldorig)
    def isomorphic? = self.class.isomorphic?
    def uniqueness_key = self.class.key_attributes.sort_by(&:to_s).map { |n| self[n] }
    def retrieve
      is = {}
      e = property(:ensure)
      if e
        is[:ensure] = e.retrieve
      end
      absent = is[:ensure] == :absent
      properties.each do |p|
        next if p.class.name == :ensure
        is[p.class.name] = absent ? :absent : p.retrieve
      end
      is
    end
    def retrieve_resource
      is = retrieve
      is.is_a?(Puppet::Resource) ? is : Puppet::Resource.new(self.class, title, parameters: is)
    end
    def to_hash = @params.transform_values(&:value)
    def __told
      values = (@__meta || {}).merge(to_hash).reject { |_, v| v.nil? }
      secret = @params.select { |_, p| p.sensitive }.keys
      [self.class.name.to_s, title.to_s, values.transform_keys(&:to_s), secret.map(&:to_s)]
    end
    def to_resource = Puppet::Resource.new(type, title, parameters: to_hash)
    def exist? = true
    def flush = (provider.flush if provider && provider.respond_to?(:flush))
    def generate = []
    def eval_generate = []
    def pre_run_check = nil
    def finish = nil
    def suitable? = true
    def builddepends = []
    def insync?(is) = properties.all? { |p| p.insync?(is[p.name]) }
    def fail(*args)
      raise Puppet::ResourceError, "#{args.reject { |a| a.is_a?(Class) }.join(" ")}" if args.first.is_a?(Class)
      raise Puppet::ResourceError, args.join(" ")
    end
    # Properties that are not as they should be, with what is told of each.
    # Without a provider, or with one that declares no command, only files are worked on.
    def __runs_commands? = (p = @provider) ? (p.class.respond_to?(:__commands?) ? p.class.__commands? : true) : false
    def __observe
      raise Puppet::NoSuitableProvider, "Could not find a suitable provider for #{self.class.name}" if provider.nil? && !Puppet::Bridge.provider_free?(self.class.name.to_s) && self.class.valid_parameter?(:provider)
      @__is = retrieve
      @__is = @__is.to_hash.transform_keys(&:to_sym) if @__is.is_a?(Puppet::Resource)
      rows = []
      e = property(:ensure)
      if e && e.should && !e.safe_insync?(@__is[:ensure])
        rows << __row(e)
        return rows
      end
      return rows if @__is[:ensure] == :absent
      properties.each do |p|
        next if p.should.nil?
        next if p.safe_insync?(@__is[p.class.name])
        rows << __row(p)
      end
      rows
    end
    def __row(p)
      is = @__is[p.class.name]
      message = begin
        p.change_to_s(is, p.should)
      rescue StandardError
        "#{p.class.name} changed '#{is}' to '#{p.should}'"
      end
      is_text, should_text = begin
        [p.is_to_s(is), p.should_to_s(p.should)]
      rescue StandardError
        ["'#{is}'", "'#{p.should}'"]
      end
      event = (p.event_name || __event_name(p)).to_s
      [p.class.name.to_s, is.to_s, p.should.to_s, message.to_s, is_text.to_s, should_text.to_s, event]
    end
    def __event_name(p)
      value = p.should
      given = p.class.value_events.find { |k, _| k.is_a?(Regexp) ? k.match?(value.to_s) : k.to_s == value.to_s }
      return given[1] if given
      return "#{p.class.name}_changed" unless p.class.name == :ensure
      "#{self.class.name}_#{{ "present" => "created", "absent" => "removed" }.fetch(value.to_s, "changed")}"
    end
    def __provider_name = provider.nil? ? "" : provider.class.respond_to?(:name) ? provider.class.name.to_s : ""
    def __sync(name) = property(name).sync
    def __flush = (flush if respond_to?(:flush))
    def self_refresh? = !!self.class.self_refresh && !deleting?
    def __autos
      out = []
      { autorequires: "require", autobefores: "before", autonotifies: "notify", autosubscribes: "subscribe" }.each do |k, rel|
        self.class.__autos(k).each do |type, block|
          Array(instance_exec(self, &block)).flatten.compact.each { |t| out << [rel, type.to_s, t.to_s] }
        end
      end
      out
    end
  end
  class Provider
    class << self
      attr_accessor :name, :resource_type, :doc
      attr_writer :doc
      include Puppet::Util
      include Puppet::Util::Errors
      include Puppet::Util::Logging
      def desc(t = nil) = @doc = t
      def inherited(sub)
        super
        sub.instance_variable_set(:@commands_, (@commands_ || {}).dup)
      end
      def confine(h) = (@confines ||= []) << h
      def defaultfor(h) = (@defaultfors ||= []) << h
      def notdefaultfor(h) = nil
      def commands(h)
        has_commands(h, false)
      end
      def optional_commands(h) = has_commands(h, true)
      def __commands? = !(@commands_ || {}).empty?
      def has_command(name, path, &block)
        b = CommandDefiner.new
        b.instance_eval(&block) if block
        has_commands({ name => path }, b.optional?, b.env)
      end
      class CommandDefiner
        attr_reader :env
        def is_optional = @optional = true
        def environment(h) = @env = h
        def optional? = !!@optional
      end
      def has_commands(h, optional, env = nil)
        h.each do |name, path|
          (@commands_ ||= {})[name] = path
          (@confines ||= []) << { exists: path, __command: true } unless optional
          run = lambda do |*args|
            bin = Puppet::Util.which(path)
            raise Puppet::MissingCommand, "Command #{name} is missing" unless bin
            Puppet::Util::Execution.execute([bin, *args.flatten.map(&:to_s)], failonfail: true, combine: true, custom_environment: env || {})
          end
          define_singleton_method(name) { |*args| run.call(*args) }
          define_method(name) { |*args| run.call(*args) }
        end
      end
      def command(name) = (p = (@commands_ || {})[name.to_sym]) ? (Puppet::Util.which(p) || raise(Puppet::MissingCommand, "Command #{name} is missing")) : (superclass.respond_to?(:command) ? superclass.command(name) : raise(Puppet::DevError, "No command #{name} defined for provider #{self.name}"))
      def has_feature(*f) = (@features ||= []).concat(f.flatten)
      alias has_features has_feature
      def declared_features = (@features || []) + (superclass.respond_to?(:declared_features) ? superclass.declared_features : [])
      def feature?(f)
        return true if declared_features.include?(f.to_sym)
        spec = resource_type && resource_type.provider_feature(f)
        m = spec && spec[1] && spec[1][:methods]
        m ? m.all? { |x| method_defined?(x) || respond_to?(x) } : false
      end
      def features = resource_type.features.select { |f| feature?(f) }
      alias satisfies? feature?
      def suitable?(_short = true)
        all = (@confines || []) + (superclass.instance_variable_get(:@confines) || [])
        all.all? do |h|
          h.all? do |k, v|
            case k
            when :__command, :for_binary then true
            when :exists then h[:__command] || h[:for_binary] ? !Puppet::Util.which(v).nil? : Array(v).all? { |p| File.exist?(p) }
            when :feature then Array(v).all? { |f| Puppet.features.send(:"#{f}?") }
            when :true then Array(v).all? { |x| x.respond_to?(:call) ? x.call : x }
            when :false then Array(v).none? { |x| x.respond_to?(:call) ? x.call : x }
            else
              fact = Facter.value(k).to_s.downcase
              Array(v).any? { |x| x.to_s.downcase == fact || (x.is_a?(Regexp) && x.match?(fact)) }
            end
          end
        end
      end
      def specificity
        n = (@defaultfors || []).select { |h| h.all? { |k, v| k == :feature ? Array(v).all? { |f| Puppet.features.send(:"#{f}?") } : Array(v).any? { |x| (f = Facter.value(k).to_s.downcase) == x.to_s.downcase || (x.is_a?(Regexp) && x.match?(f)) } } }.map(&:size).max || 0
        n * 100 + ancestors.count { |a| a.is_a?(Class) }
      end
      def default? = (@defaultfors || []).any?
      def mk_resource_methods
        (resource_type.validproperties + resource_type.parameters).each do |a|
          next if a == :name
          define_method(a) { (v = @property_hash[a]).nil? ? :absent : v }
          define_method(:"#{a}=") { |v| @property_hash[a] = v }
        end
      end
      def supports_parameter?(*) = true
      def to_s = "Puppet::Type::#{resource_type && resource_type.name}::Provider::#{name}"
      def execute(*a) = Puppet::Util::Execution.execute(*a)
      def execpipe(*a, &b) = Puppet::Util::Execution.execpipe(*a, &b)
      def confine_collection = nil
      def post_resource_eval = nil
      def instance_prefetch = nil
    end
    include Puppet::Util
    include Puppet::Util::Errors
    include Puppet::Util::Logging
    attr_accessor :resource
    attr_reader :property_hash
    def initialize(resource = nil)
      if resource.is_a?(Hash)
        # The very hash: providers of files write from it later.
        @property_hash = resource
      elsif resource
        @resource = resource
        @property_hash = {}
      else
        @property_hash = {}
      end
    end
    def name
      n = @property_hash[:name]
      return n if n
      @resource ? @resource.name : raise(Puppet::DevError, "No resource and no name in property hash in #{self.class.name} instance")
    end
    def get(p) = (v = @property_hash[p.to_s.to_sym]).nil? ? :absent : v
    def set(h) = h.each { |k, v| @property_hash[k] = v }
    def clear = @resource = nil
    def command(n) = self.class.command(n)
    def model = @resource
    def to_s = "#{@resource}(provider=#{self.class.name})"
    def execute(*a) = Puppet::Util::Execution.execute(*a)
    def execpipe(*a, &b) = Puppet::Util::Execution.execpipe(*a, &b)
    def feature?(f) = self.class.feature?(f)
    def self.const_missing(name)
      return super unless name == :ParsedFile
      Puppet::Bridge.part("parsed")
      const_get(name)
    end
    class Package < Provider; end
    class NameService < Provider; end
    class Confine; end
  end
  module Transaction; end
end
