# Which resources of a run some example looked at.
module ChefSpec
  class Coverage
    # A resource, and whether a matcher asked for it.
    class Seen
      attr_reader :resource
      def initialize(resource) = @resource = resource
      def to_s = @resource.to_s
      def touch! = @touched = true
      def touched? = !!@touched
      def source_file
        file = @resource.source_line.to_s[/\A(.*?):\d+/, 1] or return "Unknown"
        return file.split(Dir.pwd, 2).last if file.include?(Dir.pwd)
        file.include?("cookbooks") ? file.split("cookbooks/", 2).last : file
      end
      def source_line = @resource.source_line.to_s[/\A.*?:(\d+)/, 1]&.to_i || "Unknown"
    end

    # A resource that a filter takes is not counted; one without a place never is, where there is a filter.
    class Filter
      def initialize(rule) = @rule = rule.is_a?(String) ? /^#{rule}/ : rule
      def matches?(resource)
        return true if resource.source_line.nil?
        @rule.is_a?(Regexp) ? @rule.match?(resource.source_line) : @rule.call(resource)
      end
    end

    class << self
      def instance = @instance ||= new
      %i[start! add_filter add_output set_template add cover! filtered? report! filters].each do |name|
        define_method(name) { |*args, &block| instance.public_send(name, *args, &block) }
      end
    end

    attr_reader :filters
    def initialize = (@all, @filters, @outputs, @template = {}, {}, [], "human.erb")

    def start!(&block)
      warn("ChefSpec's coverage reporting is deprecated and will be removed in a future version")
      instance_eval(&block) if block
      at_exit { ChefSpec::Coverage.report! }
    end
    def add_filter(filter = nil, &block)
      rule = filter.respond_to?(:matches?) ? filter : nil
      unless rule || block || filter.is_a?(String) || filter.is_a?(Regexp)
        raise ArgumentError, "Please specify either a string, filter, or block to filter source files with!"
      end
      @filters[[filter, block]] = rule || Filter.new(filter || block)
      true
    end
    def add_output(&block) = @outputs << block
    def set_template(file = "human.erb")
      known = %w[human.erb json.erb table.erb].include?(file) || File.exist?(File.expand_path(file))
      raise Error::TemplateNotFound, "The template specified cannot be found: #{file}" unless known
      @template = file
    end

    def add(resource)
      name = resource.to_s
      @all[name] = Seen.new(resource) unless @all.key?(name) || filtered?(resource)
    end
    def cover!(resource) = @all[resource.to_s]&.touch!
    def filtered?(resource) = @filters.any? { |_, one| one.matches?(resource) }

    def report!
      touched = @all.each_value.count(&:touched?)
      report = { total: @all.size, touched: touched, coverage: (touched / @all.size.to_f * 100).round(2),
                 untouched_resources: @all.values.reject(&:touched?), all_resources: @all.values }
      puts(text(report))
      @outputs.each { |one| instance_exec(report, &one) }
    end

    private

    def text(report)
      case @template
      when "human.erb" then human(report)
      when "table.erb" then table(report)
      when "json.erb" then json(report)
      else own(report)
      end
    end
    def place(one) = "#{one.source_file}:#{one.source_line}"
    def numbers(report)
      return "  No Chef resources found, skipping coverage calculation..." if report[:total].zero?
      "ChefSpec Coverage report generated...\n\n  Total Resources:   #{report[:total]}\n" \
        "  Touched Resources: #{report[:touched]}\n  Touch Coverage:    #{report[:coverage]}%\n"
    end
    def human(report)
      return "\n#{numbers(report)}\n" if report[:total].zero?
      rest = report[:untouched_resources].map { |one| "  #{one.to_s.ljust(32)}   #{place(one)}\n" }
      tail = rest.empty? ? "You are awesome and so is your test coverage! Have a fantastic day!\n\n" :
        "Untouched Resources:\n\n#{rest.join}\n"
      "\n#{numbers(report)}\n#{tail}"
    end
    def table(report)
      lines = report[:all_resources].map do |one|
        "#{one.touched?.to_s.ljust(8)} #{one.to_s.ljust(48)}   #{place(one)}\n"
      end
      "#{"Touched".ljust(8)} #{"Resource".ljust(48)}   File:Line\n#{lines.join}\n#{numbers(report)}"
    end
    def json(report)
      require "json"
      all = report[:all_resources].map do |one|
        { source_file: one.source_file, source_line: one.source_line, touched: one.touched?, resource: one.to_s }
      end
      JSON.pretty_generate(resources: all, resource_count: report[:total], resources_touched: report[:touched],
        resource_coverage: report[:coverage])
    end
    # A template of the project's own sees the numbers as instance variables.
    def own(report)
      require "erb"
      scope = Object.new
      report.each { |name, value| scope.instance_variable_set(:"@#{name}", value) }
      ERB.new(File.read(File.expand_path(@template))).result(scope.instance_eval { binding })
    end
  end
end
