# What a sensitive resource fails with, without what it holds.
class Chef
  module FxSecrets
    COMMAND = "Command execution failed. STDOUT/STDERR suppressed for sensitive resource".freeze
    SHOWN = "[sensitive]".freeze
    # Where it is and what it is called is no secret.
    OPEN = %i{@name @path @resource_name @cookbook_name @recipe_name @source_line @declared_type @action
      @allowed_actions @owner @group @mode @user @cwd @username @provider @params @destination @service_name
        @package_name @home @shell @elapsed_time @creates @interpreter @flags @expire_date @inactive @comment
        @version @uid @gid}.freeze

    class << self
      # The failure as it may be shown. What caused it is shown to nobody: it holds the same.
      def hide(resource, error)
        text = error.message.to_s
        text = case error
               when Mixlib::ShellOut::CommandTimeout then text.lines.first.to_s + COMMAND
               when Mixlib::ShellOut::ShellCommandFailed then COMMAND
               else scrub(resource, text)
               end
        return error if text == error.message.to_s && error.cause.nil?
        hidden = begin
          error.exception(text)
        rescue ArgumentError, NoMethodError
          RuntimeError.new(text)
        end
        hidden.set_backtrace(error.backtrace) if error.backtrace
        hidden.instance_variable_set(:@fx_command, nil)
        hidden.define_singleton_method(:cause) { nil }
        hidden.define_singleton_method(:message) { text }
        hidden
      end

      def scrub(resource, text)
        values(resource).sort_by { |v| -v.size }.inject(text.dup) { |t, v| t.include?(v) ? t.gsub(v, SHOWN) : t }
      end

      private

      # Everything that its properties hold, whole and line by line, with those it is part of.
      def values(resource)
        found = []
        (resource.instance_variables - Chef::Resource::HIDDEN - OPEN).each do |iv|
          collect(resource.instance_variable_get(iv), found, 0) unless plain?(resource, iv)
        end
        found.delete(resource.name)
        outer = resource.enclosing_provider
        found.concat(values(outer.new_resource)) if outer
        found.flat_map { |v| [v, *v.lines.map(&:strip)] }.select { |v| v.size > 3 }.uniq
      end

      # A name, and a choice among words that the cookbook lists, is no secret.
      def plain?(resource, variable)
        property = resource.class.properties[variable.to_s.delete_prefix("@").to_sym]
        property && (property.name_property? || property.equal_to)
      end

      def collect(value, found, depth)
        return if depth > 6
        case value
        when String then found << value
        when Symbol, Numeric, true, false, nil then nil
        when Hash then value.each_value { |v| collect(v, found, depth + 1) }
        when Array then value.each { |v| collect(v, found, depth + 1) }
        else found << value.to_s if value.respond_to?(:to_str) || value.class.name.to_s.start_with?("URI")
        end
      end
    end
  end
end
