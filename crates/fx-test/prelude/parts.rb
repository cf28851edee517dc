# A run in several parts, each with some of the spec files in a machine of its own. The first machine only
# tells: it asks the others in the order in which one process would have run.
module RSpec
  module Core
    module Parts
      # The coverage of a part goes to whoever tells; without parts the report is made here.
      def self.coverage(one, desired)
        return yield unless FxPart.part?
        Part.tell(coverage: one.to_h, desired: desired)
      end
    end

    # One of the parts: what happens is told as data.
    class Part
      def self.tell(**event)
        require "json"
        FxPart.tell(::JSON.generate(event))
      end
      # After loading: what there is, and which filters mean something. The answer says which filters hold in
      # all parts, and whether anything is run.
      def self.loaded(reporter, matching, any)
        groups = Ordering.of(RSpec.world.groups, Ordering.global) if Ordering.own?
        groups = (groups || RSpec.world.groups).map { |one| [one.id, one.metadata[:file_path]] }
        config = RSpec.configuration
        tell(loaded: groups, errors: reporter.errors.size, matching: matching, any: any, own: Ordering.own?,
          formats: config.formatter_wishes, profile: config.profile_examples,
          statuses: config.example_status_persistence_file_path, code: config.failure_exit_code)
        answer = FxPart.go
        answer ? ::JSON.parse(answer) : { "run" => false, "matching" => [] }
      end

      def start(count) = Part.tell(chosen: count)
      def group_started(one) = Part.tell(group: one.description, top: one.top_level? ? one.id : nil)
      def group_finished(one) = Part.tell(left: true, top: one.top_level? ? one.id : nil)
      def example_started(one) = Part.tell(running: one.location)
      def example_finished(one) = Part.tell(example: Replayed.data(one))
      def message(text) = Part.tell(message: text)
      def error_outside(error, words)
        Part.tell(error: { class: error.class.to_s, message: error.message.to_s.scrub("?"),
                           trace: error.backtrace || [] }, words: words)
      end
      # Examples that were not run keep the status that they had.
      def finish(*)
        rest = RSpec.world.all_examples.reject { |one| one.result.status }.map(&:id)
        Part.tell(done: RSpec.world.non_example_failure, rest: rest)
      end
    end

    # The machine that tells: what the parts say, in the order of one process.
    class Teller
      def initialize(options)
        @options, @at, @examples, @running = options, {}, [], {}
      end

      def run
        began = Runner.now
        config = Runner.configure(@options)
        @outputs = Outputs.new(@options["formats"])
        @outputs.begin
        @reporter = Reporter.new(@outputs.formatters)
        groups = load
        loaded = Runner.now
        @total = 0
        groups.each { |id, part| replay(part, id) unless RSpec.world.wants_to_quit } if @reporter.errors.empty?
        FxPart.stop if RSpec.world.wants_to_quit
        parts { |part| drain(part) }
        FxPart.status(nil)
        report_coverage unless @after_all
        @reporter.finish(Runner.now - loaded, loaded - began)
        @outputs.close
        Statuses.keep(@examples)
        report_coverage if @after_all
        Runner.code(@reporter)
      end

      private

      def parts(&block) = (0...FxPart.count).each(&block)

      # Waits until all parts have read their files; the groups in the order in which they run.
      def load
        said = parts.map { |part| take(part) { |event| event if event["loaded"] || event["end"] } }
        settings(said)
        matching = said.flat_map { |one| one["matching"] || [] }.uniq
        filtered = said.none? { |one| one["any"] }
        answer = ::JSON.generate("run" => @reporter.errors.empty?, "matching" => matching, "filtered" => filtered)
        parts { |part| FxPart.answer(part, answer) }
        groups = said.each_with_index.flat_map do |one, part|
          (one["loaded"] || []).map { |id, file| [id, part, file] }
        end
        # An order of the project's own holds within a part.
        return groups.map { |id, part, _| [id, part] } if said.any? { |one| one["own"] }
        ordered(groups).map { |id, part, _| [id, part] }
      end
      def settings(said)
        config = RSpec.configuration
        first = said.find { |one| one["loaded"] } or return
        @outputs.settle(first["formats"])
        config.profile_examples = first["profile"] if first["profile"] && !@options["profile"]
        config.example_status_persistence_file_path = first["statuses"]
        config.failure_exit_code = first["code"]
      end
      Order = Struct.new(:id, :part, :file)
      def ordered(groups)
        groups = groups.map { |one| Order.new(*one) }
        return Ordering.random(groups).map(&:to_a) if Ordering.random?
        files = @options["files"].map { |path| Place.relative(path.split(":").first) }
        groups.sort_by.with_index { |one, at| [files.index(one.file) || files.size, at] }.map(&:to_a)
      end

      # The next event that the block takes; what others mean is shown on the way.
      def take(part)
        loop do
          event = @at.delete(part) || ::JSON.parse(FxPart.next(part) || '{"end":true}')
          found = yield(event)
          return found if found
          show(event)
        end
      end
      # Shows a group that a part ran; one that had nothing to run was left out there.
      def replay(part, id)
        first = take(part) do |event|
          event if event["group"] || event.key?("done") || event["end"]
        end
        return @at[part] = first unless first["top"] == id
        show(first)
        take(part) do |event|
          next unless event["left"] && event["top"] == id || event["end"]
          event["end"] ? @at[part] = event : show(event)
          true
        end
      end
      def drain(part)
        finished = false
        take(part) do |event|
          # A report that a part makes at its exit comes after the summary.
          @after_all = finished if event["coverage"]
          finished = true if event.key?("done")
          RSpec.world.non_example_failure = true if event["done"]
          (event["rest"] || []).each { |one| @examples << Replayed.waiting(one) }
          event["end"]
        end
        return if finished
        @reporter.error_outside(RuntimeError.new("a part of the run ended early"), "The run is not complete.")
      end

      def show(event)
        if event["text"] then $stdout.print(event["text"])
        elsif RSpec.world.wants_to_quit && !event["coverage"] then nil
        elsif event["example"] then show_example(Replayed.new(event["example"]))
        elsif event["running"] then status(event["running"])
        elsif event["chosen"] then @total = @total.to_i + event["chosen"]
        elsif event["group"] then @reporter.group_started(Replayed::Group.new(event["group"]))
        elsif event["left"] then @reporter.group_finished(nil)
        elsif event["message"] then @reporter.message(event["message"])
        elsif event["coverage"] then add_coverage(event)
        elsif event["error"] then show_error(event)
        end
        true
      end
      def show_example(one)
        return if RSpec.world.wants_to_quit
        @examples << one
        @reporter.example_started(one)
        @reporter.public_send(:"example_#{one.result.status}", one)
        @reporter.example_finished(one)
        most = RSpec.configuration.fail_fast
        RSpec.world.wants_to_quit = true if most && @reporter.failed.size >= (most == true ? 1 : most)
      end
      # The same mistake in a file that all parts read is told once.
      def show_error(event)
        error = Replayed::Error.new(*event["error"].values_at("class", "message", "trace"))
        return if (@told ||= {})[[event["words"], error.message]]
        @told[[event["words"], error.message]] = true
        @reporter.error_outside(error, event["words"])
      end
      def status(place)
        total = @total.to_i.positive? ? " of #{@total}" : ""
        failed = @reporter.failed.empty? ? "" : ", #{@reporter.failed.size} failed"
        FxPart.status("#{@reporter.count}#{total} examples#{failed}: #{place}")
      end

      def add_coverage(event)
        @coverage ||= RSpec::Puppet::Coverage.new
        @coverage.merge(event["coverage"])
        @desired = event["desired"] || @desired
        @covered = true
      end
      def report_coverage = @covered && @coverage.run_report(@desired)
    end

    # An example that ran elsewhere, as formatters look at one.
    class Replayed
      Group = Struct.new(:description)
      Error = Struct.new(:name, :message, :backtrace, :expectation?) do
        def class = self
        def to_s = name
      end
      attr_reader :description, :full_description, :location, :file_path, :id, :metadata, :result
      alias execution_result result

      def self.data(one)
        result, error = one.result, one.result.exception
        { description: one.description, full: one.full_description, location: one.location, file: one.file_path,
          id: one.id, line: one.metadata[:line_number], status: result.status, time: result.run_time,
          pending: result.pending_message, fixed: result.pending_fixed, top: one.metadata[:fx_top],
          shown: error && Shown.lines(one, 0), raised: error && {
            class: error.class.name.to_s, message: error.message.to_s.scrub("?"), trace: error.backtrace || []
          } }
      end

      def initialize(data)
        @description, @full_description, @location = data.values_at("description", "full", "location")
        @file_path, @id, @shown = data.values_at("file", "id", "shown")
        @metadata = { line_number: data["line"], full_description: @full_description, location: @location,
                      fx_top: data["top"] }
        @result = Example::Result.new(data["status"].to_sym, error(data["raised"]), data["time"])
        @result.pending_message, @result.pending_fixed = data["pending"], data["fixed"]
      end
      # One that was loaded and not run.
      Waiting = Struct.new(:id, :execution_result)
      def self.waiting(id) = Waiting.new(id, Example::Result.new)
      # The failure in the words of the machine where it was.
      def shown(number) = @shown.sub("  0) ", "  #{number}) ")

      private

      def error(data) = data && Error.new(*data.values_at("class", "message", "trace"))
    end
  end
end
