# shell_out and its stricter sibling.
class Chef
  module Mixin
    module ShellOut
      def shell_out(*args, **options)
        options = options.dup
        default_env = options.delete(:default_env)
        options.delete(:argument_order)
        if default_env != false
          env = options.delete(:environment) || options.delete(:env) || {}
          options[:environment] =
            { "LC_ALL" => "C.UTF-8", "LANGUAGE" => "C.UTF-8", "LANG" => "C.UTF-8" }.merge(env.to_h)
        end
        args = args.flatten.compact if args.any? { |a| a.is_a?(Array) }
        cmd = Mixlib::ShellOut.new(*args, **options)
        cmd.run_command
        cmd
      end
      def shell_out!(*args, **options)
        cmd = shell_out(*args, **options)
        cmd.error!
        cmd
      end
      # A tool with its words, never through a shell; messages show them as one line.
      def fx_tool(*words, **options)
        if options.delete(:default_env) != false
          env = { "LC_ALL" => "C.UTF-8", "LANGUAGE" => "C.UTF-8", "LANG" => "C.UTF-8" }
        end
        env = (env || {}).merge((options.delete(:environment) || {}).to_h)
        words = words.flatten.compact.map(&:to_s)
        cmd = Mixlib::ShellOut.new(words, environment: env, **options)
        cmd.fx_shown = words.join(" ")
        cmd.run_command
      end
      def fx_tool!(*words, **options) = fx_tool(*words, **options).tap(&:error!)
      # A tool that only reads and prints: a rehearsal asks it as well.
      def fx_look(*words, **options) = fx_tool(*words, fx_reads: true, **options)
      def fx_look!(*words, **options) = fx_look(*words, **options).tap(&:error!)
      def shell_out_compacted(*args, **options) = shell_out(*args.flatten.compact.map(&:to_s), **options)
      def shell_out_compacted!(*args, **options) = shell_out!(*args.flatten.compact.map(&:to_s), **options)
      def shell_out_with_systems_locale(*args, **options) = shell_out(*args, default_env: false, **options)
      def shell_out_with_systems_locale!(*args, **options) = shell_out!(*args, default_env: false, **options)
      def clean_array(*args) = args.flatten.compact.map(&:to_s)
      extend self
    end
  end
end
