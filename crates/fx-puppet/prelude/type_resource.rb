# One resource of a type written in Ruby: its parameters, its provider, and its turn.
module Puppet
  class Type
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
        @catalog = h.delete(:catalog)
        secret = h.delete(:sensitive_parameters)
        raise Puppet::Error, "Title or name must be provided" unless @title
      end
      # By the word `name` the attribute that names the resource is meant; of two the last counts.
      if h.key?(:name) && (own = self.class.namevar) && own != :name && !self.class.attrclass(:name)
        h = h.each_with_object({}) { |(k, v), all| all[k == :name ? own : k] = v }
      end
      @original_parameters = h.dup
      __fill_from_title(h)
      # A provider may look for what is known of the name, so the name comes first.
      (nv = self.class.namevar) && h.key?(nv) && self[nv] = h.delete(nv)
      self.provider = h.delete(:provider) if h[:provider] || self.class.valid_parameter?(:provider)
      __set_provider
      order = [self.class.namevar, :provider, :ensure].compact + (self.class.instance_variable_get(:@paramorder) || [])
      (order.uniq & h.keys).each { |k| self[k] = h[k] }
      (h.keys - order).each { |k| self[k] = h[k] }
      secret = given.sensitive_parameters if given.is_a?(Puppet::Resource)
      Array(secret).each { |k| @params[k.to_sym] && @params[k.to_sym].sensitive = true }
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
        return
      end
      raise Puppet::Error, "No set of title patterns matched the title \"#{@title}\"." unless pats.empty?
    end
    def provider=(p)
      @__provider_given = p
      return if p.nil? || p.is_a?(String) || p.is_a?(Symbol) || p.is_a?(Class)
      @provider = p
      p.resource = self if p.is_a?(Puppet::Provider)
    end
    def __set_provider
      return if @provider
      wanted = @__provider_given
      k = if wanted.is_a?(Class)
            wanted
          elsif wanted
            self.class.provider(wanted)
          elsif self.class.valid_parameter?(:provider) || self.class.instance_variable_get(:@providers) ||
                Puppet::Bridge.provider_dir?(self.class.name.to_s)
            default = self.class.defaultprovider
            default.nil? || default.is_a?(Class) ? default : self.class.provider(default.name)
          end
      raise Puppet::Error, "Parameter provider failed on #{ref}: Invalid provider '#{wanted}'" if wanted && k.nil?
      @provider = k && k.new(self)
    end
    def __defaults
      (self.class.instance_variable_get(:@paramorder) || []).each do |n|
        next if @params.key?(n) || n == :provider
        k = self.class.attrclass(n)
        next unless k && k.method_defined?(:default)
        next unless __supported?(k)
        inst = k.new(resource: self)
        v = inst.default
        next if v.nil?
        @params[n] = inst
        inst.value = v
      end
    end
    def newattr(name)
      k = self.class.attrclass(name) or
        raise Puppet::Error, "#{self.class.name} does not have a parameter named #{name}"
      return nil unless __supported?(k)
      @params[name.to_sym] ||= k.new(resource: self)
    end
    # What a provider has not the features for is not managed.
    def __supported?(attribute)
      return true unless attribute.required_features && @provider.is_a?(Puppet::Provider)
      @provider.class.supports_parameter?(attribute)
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
      n = self.class.namevar if n == :name && !self.class.attrclass(:name) && self.class.namevar
      return @__meta[n] if @__meta && @__meta.key?(n)
      (p = @params[n]) && p.value
    end
    def []=(n, v)
      n = n.to_s.to_sym
      @catalog.__touch(self) if @__known
      if METAPARAMS.include?(n) && !self.class.attrclass(n)
        (@__meta ||= {})[n] = v
        @noop = v if n == :noop
        __audit(v) if n == :audit
        return
      end
      return if n == :provider
      n = self.class.namevar if n == :name && !self.class.attrclass(:name) && self.class.namevar
      raise Puppet::Error, "no parameter named '#{n}'" unless self.class.valid_parameter?(n)
      raise Puppet::Error, "Got nil value for #{n}" if v.nil?
      p = newattr(n) or return
      begin
        p.value = v
      rescue Puppet::Error, ArgumentError => e
        raise Puppet::ResourceError, "Parameter #{n} failed on #{ref}: #{e.message}"
      end
    end
    # What is only looked at is a property all the same.
    def __audit(names)
      names = self.class.validproperties if Array(names).map(&:to_s) == ["all"]
      Array(names).each { |name| newattr(name) if self.class.validproperty?(name) }
    end
    def delete(n) = @params.delete(n.to_sym)
    def set_default(*) = nil
    def name = self[:name] || @title
    def ref = "#{self.class.name.to_s.split("::").map(&:capitalize).join("::")}[#{title}]"
    alias to_s ref
    def type = self.class.name
    def path = @__path || ref
    def pathbuilder = [ref]
    # What the resource says, or else the run.
    def noop? = @noop.nil? ? !!Puppet[:noop] : @noop.to_s == "true"
    def managed?
      properties.any? { |p| p.should && p.class.name != :ensure } ||
        !!(property(:ensure) && property(:ensure).shouldorig)
    end
    def purging = @purging = true
    def purging? = !!@purging
    def isomorphic? = self.class.isomorphic?
    def uniqueness_key = self.class.key_attributes.sort_by(&:to_s).map { |n| self[n] }
    def retrieve
      is = {}
      # Whether it is there is looked at even where the manifest does not say whether it should be.
      e = property(:ensure)
      e ||= newattr(:ensure) if self.class.needs_ensure_retrieval && self.class.validproperty?(:ensure)
      is[:ensure] = e.retrieve if e
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
    # Edges to the resources that its type names by itself, as far as the catalog has them.
    { autorequire: :autorequires, autobefore: :autobefores, autonotify: :autonotifies,
      autosubscribe: :autosubscribes }.each do |name, kind|
      define_method(name) { |among = nil| __edges(kind, among) }
    end
    def __edges(kind, among)
      among ||= catalog
      raise Puppet::DevError, "You cannot add relationships without a catalog" unless among
      self.class.__autos(kind).flat_map do |type, block|
        next [] unless Puppet::Type.type(type) || type == :class
        Array(instance_exec(self, &block)).flatten.compact.filter_map do |other|
          other = among.resource(type, other.to_s) unless other.is_a?(Puppet::Type)
          next if other.nil?
          first = %i[autorequires autosubscribes].include?(kind)
          hears = %i[autonotifies autosubscribes].include?(kind)
          event = hears ? { event: :ALL_EVENTS, callback: :refresh } : { event: :NONE }
          Puppet::Relationship.new(first ? other : self, first ? self : other, event)
        end
      end
    end
    # Edges of what was written, to be refreshed where it was said so.
    def builddepends
      { require: [:NONE, true], subscribe: [:ALL_EVENTS, true], before: [:NONE, false],
        notify: [:ALL_EVENTS, false] }.flat_map do |name, (event, first)|
        Array(self[name]).filter_map do |wanted|
          other = wanted.is_a?(Puppet::Type) ? wanted : catalog&.resource(wanted.to_s)
          next unless other
          options = event == :NONE ? { event: event } : { event: event, callback: :refresh }
          Puppet::Relationship.new(first ? other : self, first ? self : other, options)
        end
      end
    end
    def insync?(is) = properties.all? { |p| p.insync?(is[p.name]) }
    def fail(*args)
      raise Puppet::ResourceError, "#{args.reject { |a| a.is_a?(Class) }.join(" ")}" if args.first.is_a?(Class)
      raise Puppet::ResourceError, args.join(" ")
    end
    # Without a provider, or with one that declares no command, only files are worked on.
    def __runs_commands? = (p = @provider) ? (p.class.respond_to?(:__commands?) ? p.class.__commands? : true) : false
    # Properties that are not as they should be, with the message of each.
    def __observe
      if provider.nil? && !Puppet::Bridge.provider_free?(self.class.name.to_s) && self.class.valid_parameter?(:provider)
        raise Puppet::NoSuitableProvider, "Could not find a suitable provider for #{self.class.name}"
      end
      @__is = retrieve
      @__is = @__is.to_hash.transform_keys(&:to_sym) if @__is.is_a?(Puppet::Resource)
      rows = []
      e = property(:ensure)
      if e && e.should && (why = __out_of_sync(e))
        rows << __row(e, why)
        return rows
      end
      return rows if @__is[:ensure] == :absent
      properties.each do |p|
        next if p.should.nil?
        why = __out_of_sync(p)
        rows << __row(p, why) if why
      end
      rows
    end
    # Nothing where a property is as it should be; else a text, which is not empty where that could not be found out.
    def __out_of_sync(p)
      "" unless p.safe_insync?(@__is[p.class.name])
    rescue StandardError => e
      e.message.empty? ? e.class.name : e.message
    end
    def __row(p, why)
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
      [p.class.name.to_s, is.to_s, p.should.to_s, message.to_s, is_text.to_s, should_text.to_s, event, why]
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
      { autorequires: "require", autobefores: "before",
        autonotifies: "notify", autosubscribes: "subscribe" }.each do |k, rel|
        self.class.__autos(k).each do |type, block|
          Array(instance_exec(self, &block)).flatten.compact.each { |t| out << [rel, type.to_s, t.to_s] }
        end
      end
      out
    end
  end
end
