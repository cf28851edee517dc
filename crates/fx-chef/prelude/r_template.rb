# template: a file whose content is rendered when the resource converges.
class Chef
  class Resource
    class Template
      def initialize(name, run_context = nil)
        super
        @source = "#{::File.basename(name.to_s)}.erb"
        @inline_helper_blocks = {}
        @inline_helper_modules = []
        @helper_modules = []
      end
      # Text of a built-in resource's own template.
      attr_accessor :fx_content
      attr_reader :inline_helper_blocks, :inline_helper_modules, :helper_modules_given
      def source(arg = nil)
        return (@source.is_a?(Chef::DelayedEvaluator) ? instance_eval(&@source) : @source) if arg.nil?
        unless arg.is_a?(Chef::DelayedEvaluator)
          Mixin::ParamsValidate.run_check(self, :source, arg, :kind_of, [String, Array])
        end
        @source = arg
      end
      def source=(arg)
        source(arg)
      end
      def helper(name, &block)
        unless block
          raise Chef::Exceptions::ValidationFailed,
            "`helper(:method)` requires a block argument (e.g., `helper(:method) { code }`)"
        end
        unless name.is_a?(Symbol)
          raise Chef::Exceptions::ValidationFailed,
            "method_name argument to `helper(method_name)` must be a symbol (e.g., `helper(:method) { code }`)"
        end
        @inline_helper_blocks[name] = block
      end
      def helpers(mod = nil, &block)
        if block
          @inline_helper_modules << block
        elsif mod.is_a?(Module)
          @helper_modules << mod
        elsif mod.nil?
          raise Chef::Exceptions::ValidationFailed,
            "#helpers requires either a module name or inline module code as a block.\ne.g.: helpers do; " \
            "helper_code; end;\nOR: helpers(MyHelpersModule)"
        else
          raise Chef::Exceptions::ValidationFailed,
            "Argument to #helpers must be a module. You gave #{mod.inspect} (#{mod.class})"
        end
      end
      def helper_modules
        m = @helper_modules.dup
        blocks = @inline_helper_blocks
        unless blocks.empty?
          m << Module.new { blocks.each { |n, b| define_method(n, &b) } }
        end
        @inline_helper_modules.each { |b| m << Module.new(&b) }
        m
      end
    end
  end

  class Provider
    class Template < File
      Finder = Struct.new(:run_context, :cookbook, :node) do
        def find(source, options = {})
          if options[:local]
            return options[:source] ? options[:source] : source
          end
          name = (options[:cookbook] || cookbook).to_s
          book = run_context.cookbook_collection[name]
          unless book
            raise Chef::Exceptions::CookbookNotFound,
              "Cookbook #{name} not found. If you're loading #{name} from another cookbook, make sure you configure " \
              "the dependency in your metadata"
          end
          book.preferred_filename_on_disk_location(node, :templates, source)
        end
      end

      # Variables with what is computed late, however deep it stands.
      def fx_settled(value)
        case value
        when Hash
          value.each_with_object(
            value.is_a?(Chef::Node::ImmutableMash) ? ChefUtils::Mash.new : value.class.new) do |(k, v), all|
            all[k] = fx_settled(v)
          end
        when Array then value.map { |v| fx_settled(v) }
        when Chef::DelayedEvaluator then new_resource.instance_eval(&value)
        else value
        end
      end

      def content_of
        return @content if @content
        r = new_resource
        return r.fx_content.is_a?(Proc) ? r.fx_content.call : r.fx_content if r.fx_content
        finder = Finder.new(run_context, r.cookbook || r.cookbook_name, node)
        path = finder.find(r.source, local: r.local, cookbook: r.cookbook)
        text = FX.read(path)
        raise Errno::ENOENT, path unless text
        vars = fx_settled(r.variables)
        context = Chef::Mixin::Template::TemplateContext.new(vars)
        { node: node, template_finder: finder, template_name: r.source, template_path: path,
          cookbook_name: r.cookbook_name, recipe_name: r.recipe_name,
          recipe_line_string: r.source_line, recipe_path: r.source_line_file, recipe_line: r.source_line_number }
          .each do |name, value|
          given = name != :node && name != :template_finder && (vars.key?(name) || vars.key?(name.name))
          context.instance_variable_set(:"@#{name}", value) unless given
        end
        context._extend_modules(r.helper_modules)
        @content = Chef::Mixin::Template::FxRender.run(path, text, context)
      end
    end
  end
end
