# Rendering templates: the context they run in, and compiling each once.
class Chef
  module Mixin
    module Template
      class TemplateError < RuntimeError
        attr_reader :original_exception, :context, :options
        AROUND = 2
        LONGEST = 10_000
        def initialize(original, template = "", context = nil, options = {})
          @original_exception, @template, @context, @options = original, template, context, options
          super()
        end
        def message
          text = @original_exception.is_a?(Exception) ? @original_exception.message : @original_exception.to_s
          text.length > LONGEST ? "#{text[0, LONGEST]}\n... [truncated #{text.length - LONGEST} characters]" : text
        end
        def line_number
          @line_number ||= begin
            e = @original_exception
            places = e.is_a?(SyntaxError) ? [e.message] : (e.is_a?(Exception) && e.backtrace) || []
            line = places.find { |l| l.start_with?("#{@options[:filename]}:") }
            line && line[/\A.+?:(\d+)/, 1].to_i
          end
        end
        def source_location = "on line ##{line_number}"
        def source_listing
          lines = @template.split("\n")
          first = line_number ? [line_number - 1 - AROUND, 0].max : 0
          shown = line_number ? lines[first, AROUND * 2 + 1] : lines
          Array(shown).each_with_index.map { |l, i| "#{(first + i + 1).to_s.rjust(3)}: #{l}" }.join("\n")
        end
        def to_s
          parts = []
          if @context.respond_to?(:cookbook_name) && @context.cookbook_name
            parts << "cookbook: #{@context.cookbook_name}"
          end
          if @context.respond_to?(:template_name) && @context.template_name
            parts << "template: #{@context.template_name}"
          end
          hint = parts.empty? ? "" : " (#{parts.join(", ")})"
          "\n\n#{self.class} (#{message}) #{source_location}#{hint}:\n\n#{source_listing}\n\n  " \
            "#{(@original_exception.backtrace || []).join("\n  ")}\n\n"
        end
        def self.fx_plain_exception? = false
      end

      class TemplateContext
        include Chef::DSL::Universal
        attr_reader :_extension_modules, :cookbook_name, :recipe_name, :recipe_line_string, :recipe_path, :recipe_line,
          :template_name, :template_path
        def initialize(variables = {})
          variables.to_h.each { |k, v| instance_variable_set(:"@#{k}", v) }
          @_extension_modules = []
        end
        def node
          return @node if @node
          raise "Could not find a value for node. If you are explicitly setting variables in a template, include a " \
            "node variable if you plan to use it."
        end
        def _extend_modules(modules)
          modules.each do |m|
            %i{node render render_template render_template_from_string}.each do |own|
              if m.method_defined?(own) || m.private_method_defined?(own)
                Chef::Log.warn("Core template method `#{own}' overridden by extension module #{m}")
              end
            end
            extend(m)
            @_extension_modules << m
          end
        end
        def _public_instance_variables
          (instance_variables - [:@_extension_modules]).to_h do |v|
            [v.name.delete_prefix("@").to_sym, instance_variable_get(v)]
          end
        end

        # A partial sees what it is given, or all that this template sees.
        def render(partial, options = {})
          raise "You cannot render partials in this context" unless @template_finder
          variables = options.delete(:variables) || _public_instance_variables
          context = TemplateContext.new(variables.to_h.merge(template_finder: @template_finder))
          context._extend_modules(@_extension_modules)
          path = @template_finder.find(partial, options)
          FxRender.run(path, FX.read(path).to_s, context)
        end
        def render_template_from_string(text) = FxRender.run("(erubis)", text, self)
        def render_template(template) = FxRender.run("inline", FX.read(template).to_s, self)
        def inspect
          "#<#{self.class.name} template_name=#{@template_name.inspect} cookbook_name=#{@cookbook_name.inspect}>"
        end
        def to_s = inspect
        def method_missing(name, *args, &block)
          Chef::DSL::Recipe.fx_helpers!
          return send(name, *args, &block) if self.class.method_defined?(name)
          raise NameError.new("undefined local variable or method `#{name}' for #{inspect}", name)
        end
      end

      # Compiles a template once and runs it as a method of the context.
      module FxRender
        @compiled = {}
        def self.run(path, text, context)
          entry = @compiled[path]
          unless entry && entry[0] == text
            @count = (@count || 0) + 1
            name = :"__fx_template_#{@count}"
            begin
              TemplateContext.class_eval("def #{name}; #{FX.erubis(text)}\nend", path, 1)
            rescue SyntaxError => e
              raise TemplateError.new(e, text, context, filename: path)
            end
            entry = @compiled[path] = [text, name]
          end
          begin
            context.send(entry[1])
          rescue StandardError => e
            raise TemplateError.new(e, text, context, filename: path)
          end
        end
      end
    end
  end
end
