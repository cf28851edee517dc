# Rendering templates: the context they run in, and compiling each once.
class Chef
  module Mixin
    module Template
      class TemplateError < RuntimeError
        attr_reader :original_exception, :context
        def initialize(original, template = nil, context = nil)
          if original.is_a?(Exception)
            @original_exception, @template, @context = original, template, context
            super(original.message)
          else
            super
          end
        end
        def line_number = nil
        def source_location = "inline"
        def self.fx_plain_exception? = false
      end

      class TemplateContext
        include Chef::DSL::Universal
        attr_reader :_extension_modules
        def initialize(variables = {})
          variables = variables.to_h
          variables.each { |k, v| instance_variable_set(:"@#{k}", v) }
          @_fx = variables
        end
        attr_accessor :fx_finder, :fx_node
        def node
          return @node if @node
          fx_node
        end
        def cookbook_name = @cookbook_name
        def recipe_name = @recipe_name
        def _extend_modules(modules) = modules.each { |m| extend(m) }

        def render(partial, options = {})
          variables = options.delete(:variables) || options.delete("variables")
          context = TemplateContext.new(variables ? variables : @_fx)
          context.instance_variable_set(:@node, node) if @node
          context.fx_finder = fx_finder
          context.fx_node = fx_node
          context._extend_modules(@_mods || [])
          context.instance_variable_set(:@_mods, @_mods)
          path = fx_finder.find(partial, options)
          FxRender.run(path, FX.read(path).to_s, context)
        end
        def fx_modules!(list)
          @_mods = list
          _extend_modules(list)
        end
        def render_template(template) = FxRender.run("inline", FX.read(template).to_s, self)
        def inspect = "#<#{self.class.name} template_name=#{@template_name.inspect} cookbook_name=#{@cookbook_name.inspect}>"
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
              raise failed(e, [e.message[/\A.+?:\d+/].to_s])
            end
            entry = @compiled[path] = [text, name]
          end
          begin
            context.send(entry[1])
          rescue TemplateError
            raise
          rescue StandardError => e
            raise failed(e, e.backtrace)
          end
        end
        # The error keeps the place in the template.
        def self.failed(error, places)
          TemplateError.new(error).tap { |e| e.set_backtrace(places) if places }
        end
      end
    end
  end
end
