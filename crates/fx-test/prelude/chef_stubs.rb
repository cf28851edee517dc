# What a spec says that commands, searches and data bags give, and the errors about what it does not say.
module ChefSpec
  VERSION = "9.4.3"

  # A stub of one kind: what it is asked by, and what it gives.
  class Stub
    attr_reader :asked, :value
    def initialize(kind, asked, &block) = (@kind, @asked, @block = kind, asked, block)
    def and_return(value) = tap { @value = value }
    def and_raise(error) = tap { @block = proc { raise error } }
    def fits?(given)
      @asked.zip(given).each_with_index.all? do |(mine, one), at|
        # A bag and a kind of object are names; the last thing that is asked may be a pattern.
        @kind != :command && at.zero? ? mine.to_s == one.to_s : mine === one
      end
    end
    def result
      given = @block ? @block.call : @value
      @kind == :command ? given : Stub.mash(given)
    end
    def self.mash(value)
      case value
      when Array then value.map { |one| mash(one) }
      when Hash then ::Mash.from_hash(value)
      else value
      end
    end
  end

  # The stubs of an example, the newest first.
  module Stubs
    KINDS = %i[command data_bag data_bag_item search].freeze
    @all = Hash.new { |all, kind| all[kind] = [] }
    class << self
      def add(kind, asked, block) = Stub.new(kind, asked, &block).tap { |one| @all[kind].unshift(one) }
      def forget = @all.clear
      def ask(kind, *asked)
        found = @all[kind].find { |one| one.fits?(asked) } or raise Error::NOT_STUBBED[kind].of(kind, asked)
        found.result
      end
    end
  end

  module Error
    class ChefSpecError < StandardError; end
    class NotStubbed < ChefSpecError
      def self.of(kind, asked)
        asked = asked.map(&:inspect).join(", ")
        new("Executing a real #{kind} is disabled. Unregistered #{kind}:\n\n    #{kind}(#{asked})\n\n" \
          "You can stub this #{kind} with:\n\n    stub_#{kind}(#{asked}).and_return(...)")
      end
    end
    class CommandNotStubbed < NotStubbed; end
    class SearchNotStubbed < NotStubbed; end
    class DataBagNotStubbed < NotStubbed; end
    class DataBagItemNotStubbed < NotStubbed; end
    NOT_STUBBED = { command: CommandNotStubbed, search: SearchNotStubbed, data_bag: DataBagNotStubbed,
                    data_bag_item: DataBagItemNotStubbed }.freeze
    class ShellOutNotStubbed < ChefSpecError
      def self.of(type, resource, args)
        shown = args.inspect[1..-2]
        new("Executing a real shell_out in #{resource} is not allowed:\n\n    shell_out(#{shown})\n\n" \
          "You can stub this with:\n\n    stubs_for_#{type}(#{resource.to_s.inspect}) do |#{type}|\n" \
          "      allow(#{type}).to receive_shell_out(#{shown})\n    end\n")
      end
    end
    class CookbookPathNotFound < ChefSpecError
      def initialize(*)
        super("I could not find or infer a cookbook_path from your current working directory.\nPlease make sure you " \
          "put your specs (tests) under a directory named 'spec' or\nmanually set the cookbook path in the RSpec " \
          "configuration.")
      end
    end
    class MayNeedToSpecifyPlatform < ChefSpecError; end
    class TemplateNotFound < ChefSpecError; end
    class NoConversionError < ChefSpecError; end
  end
end
