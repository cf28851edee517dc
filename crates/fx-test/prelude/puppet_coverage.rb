# Which resources of the module's own manifests some example looked at, and the report about it.
module RSpec
  module Puppet
    class Coverage
      class << self
        attr_writer :instance
        def instance = @instance ||= new
        %i[add cover! report! filters filters_regex add_filter add_filter_regex add_from_catalog results].each do |name|
          define_method(name) { |*args| instance.public_send(name, *args) }
        end
      end

      PLACE = "/rspec-puppet/coverage.rb"
      attr_accessor :filters, :filters_regex
      def initialize
        @touched = {}
        @filters, @filters_regex = ["Stage[main]", "Class[Settings]", "Class[main]", "Node[default]"], []
      end

      def add(resource) = (@touched[resource.to_s] ||= false unless filtered?(resource))
      def cover!(resource) = @touched.key?(resource.to_s) && @touched[resource.to_s] = true
      def filtered?(resource)
        filters.include?(resource.to_s) || filters_regex.any? { |one| one.match?(resource.to_s) }
      end
      def add_filter(type, title)
        type = capitalized(type)
        title = capitalized(title) if type == "Class"
        @filters << "#{type}[#{title}]"
      end
      # A pattern without anchors may stand anywhere in the title.
      def add_filter_regex(type, pattern)
        raise ArgumentError, "pattern argument must be a Regexp" unless pattern.is_a?(Regexp)
        source = pattern.source
        source = source.match?(/\A(?:\\A|\^)/) ? source.sub(/\A(?:\\A|\^)/, "") : ".*#{source}"
        anchored = source.match?(/(?<!\\)(?:\\\\)*(?:\\[zZ]|\$)\z/)
        source = anchored ? source.sub(/(?:\\[zZ]|\$)\z/, "") : "#{source}.*"
        @filters_regex << /\A#{Regexp.escape(capitalized(type))}\[#{source}\]\z/
      end

      # Resources that a module declares itself: its classes, and what stands in its manifests.
      def add_from_catalog(catalogue, own)
        homes = own && homes_of(own)
        catalogue.resources.each do |one|
          ref = one.ref
          next if @touched.key?(ref) || filtered?(ref)
          @touched[ref] = false if own.nil? || counts?(one, own, homes)
        end
      end
      # A catalog that several examples ask for is looked through once for each subject.
      def note(catalogue, own, subject)
        add_filter(*subject) unless @filters.include?("#{capitalized(subject.first)}[#{subject.last}]")
        return if @last.equal?(catalogue)
        add_from_catalog(@last = catalogue, own)
      end

      def report!(desired = nil) = RSpec::Core::Parts.coverage(self, desired) { run_report(desired) }
      def run_report(desired)
        found = results
        require_coverage(desired || 0, found)
        puts "\n\nCoverage Report:\n\n#{found[:text]}"
      end
      def results
        @touched.delete_if { |name, _| filtered?(name) }
        total, touched = @touched.size, @touched.each_value.count(true)
        share = format("%5.2f", total.zero? ? 100.0 : touched.to_f / total * 100)
        text = ["Total resources:   #{total}", "Touched resources: #{touched}", "Resource coverage: #{share}%"]
        rest = @touched.reject { |_, seen| seen }.keys
        text += ["", "Untouched resources:", *rest.map { |name| "  #{name}" }.sort] unless rest.empty?
        { total: total, touched: touched, untouched: rest.size, coverage: share, text: text.join("\n"),
          resources: @touched.to_h { |name, seen| [name, { touched: seen }] } }
      end

      # What other machines of the same run saw.
      def to_h = { "touched" => @touched, "filters" => @filters, "patterns" => @filters_regex.map(&:source) }
      def merge(other)
        other["touched"].each { |name, seen| @touched[name] ||= seen }
        @filters |= other["filters"]
        @filters_regex |= other["patterns"].map { |source| Regexp.new(source) }
      end

      private

      # The report is an example of its own, which fails where less is covered.
      def require_coverage(desired, found)
        unless desired.is_a?(Numeric) && desired.between?(0, 100)
          return puts("The desired coverage must be 0 <= x <= 100, not '#{desired.inspect}'")
        end
        actual = found[:coverage].to_f
        group = RSpec.describe("Code coverage")
        example = group.example("must cover at least #{desired}% of resources") { expect(actual).to be >= desired.to_f }
        # It stands in a library, not in the project.
        [group, example].each do |one|
          one.metadata.merge!(file_path: PLACE, line_number: 1, location: "#{PLACE}:1")
        end
        RSpec::Core::GroupRun.new(RSpec.configuration.reporter, { example => true }.compare_by_identity).run(group)
        RSpec.world.groups.delete(group)
        return unless example.result.status == :failed
        RSpec.world.non_example_failure = RSpec.world.wants_to_quit = true
      end
      def homes_of(own) = ["#{Fixtures.modules}/#{own}/manifests", "#{Dir.pwd}/manifests"]
      def counts?(one, own, homes)
        return false if one.type == "Class" && one.title.split("::").first.to_s.downcase != own
        one.file.nil? || homes.any? { |dir| one.file.include?(dir) }
      end
      def capitalized(name) = name.to_s.split("::").map(&:capitalize).join("::")
    end
  end
end
