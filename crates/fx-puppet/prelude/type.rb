# Types written in Ruby: how they are defined, and what is called of them while a catalog is applied.
# One resource of a type is in type_resource.rb, its providers are in provider.rb.
%w[parameter property].each { |name| Puppet::Bridge.part(name) }
module Puppet
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
        constant = name.to_s.capitalize
        const_set(constant, k) unless name.to_s =~ /[^a-z0-9_]/ || const_defined?(constant, false)
        TYPES[name] = k
        __constructor(name)
        k.class_eval(&block) if block
        k.newparam(:provider) { desc "The provider" } if k.__uses_providers? && !k.valid_parameter?(:provider)
        k.__all_providers if Puppet.__eager
        k
      end
      def rmtype(name)
        name = name.to_s.downcase.to_sym
        LOADED.delete(name)
        constant = name.to_s.capitalize
        remove_const(constant) if const_defined?(constant, false)
        TYPES.delete(name)
      end
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
        k = Class.new(name == :component ? Container : Type)
        k.name = name
        Puppet::Bridge.builtin_type(name.to_s).each do |p|
          k.newparam(p.to_sym, namevar: NAMEVARS[name] == p.to_sym)
        end
        k.instance_variable_set(:@__builtin, true)
        const_set(name.to_s.capitalize, k) unless const_defined?(name.to_s.capitalize, false)
        __constructor(name)
        TYPES[name] = k
      end
      def __builtin? = !!@__builtin
      # `newfile` and the like make a resource of the type.
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
      attr_writer :needs_ensure_retrieval
      def needs_ensure_retrieval = @needs_ensure_retrieval != false
      def __params
        @__params ||= superclass.respond_to?(:__params) && superclass != Type ? superclass.__params.dup : {}
      end
      def __props
        @__props ||= superclass.respond_to?(:__props) && superclass != Type ? superclass.__props.dup : {}
      end
      def parameters = __params.keys
      def properties = __props.values
      def validproperties = __props.keys
      def validproperty?(n) = __props.key?(n.to_sym)
      def validattr?(n) = valid_parameter?(n)
      def validparameter?(n) = __params.key?(n.to_sym) || METAPARAMS.include?(n.to_sym)
      def valid_parameter?(n)
        n = n.to_sym
        __params.key?(n) || __props.key?(n) || METAPARAMS.include?(n) || n == :name
      end
      def attrclass(n) = __params[n.to_sym] || __props[n.to_sym]
      def paramclass(n) = __params[n.to_sym]
      def propertybyname(n) = __props[n.to_sym]
      def attrtype(n)
        return :property if __props.key?(n.to_sym)
        METAPARAMS.include?(n.to_sym) && !__params.key?(n.to_sym) ? :meta : :param
      end
      def allattrs = key_attributes | (__params.keys + __props.keys + METAPARAMS)
      def metaparams = METAPARAMS
      def metaparam?(n) = METAPARAMS.include?(n.to_sym)
      def eachmetaparam(&b) = METAPARAMS.each(&b)
      def metaparamclass(n) = METAPARAMS.include?(n.to_sym) ? RelationshipMetaparam : nil
      def relationship_params = []
      def key_attribute_parameters = (__params.values + __props.values).select(&:isnamevar?)
      def key_attributes
        k = key_attribute_parameters.map(&:name)
        is_given = (__params[:name] || __props[:name])&.instance_variable_get(:@isnamevar)
        k.size > 1 && k.include?(:name) && !is_given ? k - [:name] : k
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
      ProviderFeature = Struct.new(:name, :docs, :methods)
      def feature(name, docs = nil, options = {})
        (@features ||= {})[name.to_sym] = ProviderFeature.new(name.to_sym, docs, options[:methods])
      end
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
        unprovide(name) if @providers.key?(name)
        parent = options[:parent]
        parent = case parent
                 when nil then (@base_provider ||= Class.new(Puppet::Provider).tap { |c| c.resource_type = self })
                 when Symbol, String
                   provider(parent) ||
                   raise(Puppet::DevError, "Could not find parent provider #{parent} of #{name}")
                 else parent
                 end
        @provider_parent_used = true
        k = Class.new(parent)
        k.name = name
        k.initvars if k.respond_to?(:initvars)
        k.resource_type = self
        options.each do |o, v|
          k.public_send(:"#{o}=", v) if %i[parent resource_type].none?(o) && k.respond_to?(:"#{o}=")
        end
        if options[:resource_type]
          k.resource_type = options[:resource_type]
        end
        @providers[name] = k
        constant = :"Provider#{name.to_s.capitalize}"
        const_set(constant, k) if name.to_s =~ /\A[a-z]\w*\z/ && !const_defined?(constant, false)
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
      def unprovide(name)
        @defaultprovider = nil
        (@providers ||= {}).delete(name.to_s.downcase.to_sym)
        constant = :"Provider#{name.to_s.capitalize}"
        remove_const(constant) if const_defined?(constant, false)
        nil
      end
      alias rmprovider unprovide
      def provider_hash = @providers ||= {}
      def provider_hash_by_type(type) = type.provider_hash
      def clear = nil
      def allclear = nil
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
      def to_s = name ? "Puppet::Type::#{name.to_s.capitalize}" : super
      # What names a resource is one that is not in the catalog yet, wherever it stands in a value.
      def __references(v)
        case v
        when Puppet::Pops::Types::PResourceType then v.title ? Puppet::Resource.new(v.type_name, v.title) : v
        when Array then v.map { |one| __references(one) }
        when Hash then v.to_h { |key, one| [__references(key), __references(one)] }
        else v
        end
      end
      # A resource for applying.
      def __make(kind, title, params)
        t = type(kind) or raise Puppet::Error, "unknown resource type #{kind}"
        r = Puppet::Resource.new(kind, title)
        params.each do |k, v|
          if v.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
            r.sensitive_parameters += [k.to_s.to_sym]
            v = v.unwrap
          end
          r[k] = __references(v)
        end
        r.catalog = Puppet::Resource::Catalog.applied
        r.catalog.__add(t.new(r))
      end
      # Whether a resource brings others with it.
      def __generates?(object)
        [:generate, :eval_generate].any? { |m| object.method(m).owner != Type }
      end

      # How it does: before the run, when it has its turn, or both.
      def __ways_to_generate(object)
        [:generate, :eval_generate].select { |m| object.method(m).owner != Type }.map(&:to_s)
      end
      # What it brings, each with its type, title, values and the names of those that are secret:
      # at first what is known beforehand, then with what is known only after its turn.
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
      # Resources of the catalog that Ruby gave other values since the last call.
      def __changed
        list = Puppet::Resource::Catalog.applied.__changed
        list.map(&:__told)
      end
      # Whether errors of a resource name no place: its type makes a plain hash of it first.
      def __placeless?(kind)
        !type(kind).nil? && Puppet.const_defined?(:ResourceApi, false) && Puppet::ResourceApi::DEFINITIONS.key?(kind)
      end
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
          shown = is.reject { |_, v| v.nil? || v == :absent }
          shown = shown.to_h { |k, v| [k.to_s, v.is_a?(Array) ? v.map(&:to_s) : v.is_a?(Integer) ? v : v.to_s] }
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
      # What its author says of it and of its attributes.
      def __docs
        attributes = __params.merge(__props).map { |name, k| [name.to_s, __plain_doc(k.doc)] }
        [["", __plain_doc(doc || @doc)]] + attributes
      end
      # A text without the indent of the file it is written in.
      def __plain_doc(text)
        text = text.to_s
        indent = text.lines.drop(1).reject { |l| l.strip.empty? }.map { |l| l[/\A */].size }.min || 0
        text.lines.map { |l| l.sub(/\A {0,#{indent}}/, "") }.join.strip
      end
      def __info
        keys = key_attributes
        pats = respond_to?(:title_patterns) ? (title_patterns rescue []) : []
        pats = pats.map { |re, parts| [re.source, re.options, parts.map { |p| p.first.to_s }] }
        [(__params.keys + __props.keys).map(&:to_s), keys.map(&:to_s), pats, isomorphic?]
      end
    end
  end
  # A class or a define, as a resource.
  class Type::Container < Type
    class << self
      def __params = @__params ||= { name: Class.new(Parameter) { self.name = :name } }
      def valid_parameter?(_name) = true
      def attrclass(name) = __params[name.to_sym] ||= Class.new(Parameter).tap { |k| k.name = name.to_sym }
    end
    def ref = title.to_s.include?("[") ? title.to_s : Puppet::Resource.new("Class", title).to_s
    alias to_s ref
  end
  # One resource before another, and what the second does when the first changes.
  class Relationship
    attr_accessor :source, :target, :callback
    attr_reader :event
    def initialize(source, target, options = {})
      @source, @target, @callback, @event = source, target, options[:callback], options[:event] || :NONE
    end
    def label = { callback: callback, event: event }.reject { |name, v| v.nil? || name == :event && v == :NONE }
    def match?(event) = !(@event == :NONE || event == :NONE) && (@event == :ALL_EVENTS || @event == event)
    def ref = "#{source} => #{target}"
    def inspect = "{ #{source} => #{target} }"
    alias to_s ref
  end
end
%w[type_resource provider].each { |name| Puppet::Bridge.part(name) }
