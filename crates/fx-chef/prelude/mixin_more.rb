# The rarer mixins.
class Chef
  module Mixin
    module WhyRun
      class ConvergeActions; end
      class ResourceRequirements
        class Assertion
          class AssertionFailure < RuntimeError; end
          def initialize = (@exception, @message = AssertionFailure, nil)
          def assertion(&block) = @block = block
          def failure_message(*args) = args.size == 2 ? (@exception, @message = args) : @message = args[0]
          def whyrun(message, &block) = (@whyrun, @modifier = message, block)
          def block_action! = @blocks = true
          def block_action? = @blocks
          def assertion_failed? = @failed
          def run(_action, _events, _resource)
            return if @block && @block.call
            @failed = true
            if @whyrun && !FX.converging?
              FX.requirement(@message) if @message
              FX.requirement(@whyrun)
              @modifier&.call
            elsif @message
              FX.requirement(@message)
              raise @exception, @message
            end
          end
        end
        attr_accessor :action
        def initialize(resource, run_context, action)
          @resource, @run_context, @action = resource, run_context, action
          @assertions, @blocked = Hash.new { |h, k| h[k] = [] }, []
        end
        def action_blocked?(action) = @blocked.include?(action)
        def assert(*actions)
          return unless actions.include?(Array(action).first.to_sym) || actions.include?(:all_actions)
          a = Assertion.new
          yield a
          actions.each { |x| @assertions[x] << a }
        end
        def run(action)
          @assertions[action.to_sym].each do |a|
            a.run(action, nil, @resource)
            if a.assertion_failed? && a.block_action?
              @blocked << action
              break
            end
          end
        end
      end
    end

    module Securable
      def self.included(base)
        Chef::Resource::File
        Chef::Resource::File
        base.include(Chef::Resource::FxSecurable)
      end
    end

    module Which
      def which(*cmds, extra_path: nil)
        (ENV["PATH"].to_s.split(":") + Array(extra_path)).each do |d|
          cmds.each do |c|
            f = ::File.join(d, c.to_s)
            return f if ::File.executable?(f) && !::File.directory?(f) && (!block_given? || yield(f))
          end
        end
        false
      end
      def where(*cmds) = [which(*cmds)].select { |x| x }
    end

    module DefaultPaths
      def enforce_default_paths(env = ENV) = nil
      def default_paths(env = ENV) = env["PATH"]
    end
    PathSanity = DefaultPaths

    module DeepMerge
      class InvalidParameter < StandardError; end
      def self.merge(first, second) = deep_merge(second, first.dup)
      def merge(first, second) = DeepMerge.merge(first, second)
      # The first argument wins; arrays are united.
      def self.deep_merge(source, dest)
        return source if dest.nil?
        return dest if source.nil?
        if source.is_a?(Hash) && dest.is_a?(Hash)
          out = dest.dup
          source.each { |k, v| out[k] = out.key?(k) ? deep_merge(v, out[k]) : v }
          out
        elsif source.is_a?(Array) && dest.is_a?(Array)
          dest | source
        else
          source
        end
      end
      def self.deep_merge!(source, dest) = dest.replace(deep_merge(source, dest))
      def deep_merge(source, dest) = DeepMerge.deep_merge(source, dest)
      def self.hash_only_merge(onto, with)
        return with unless onto.is_a?(Hash) && with.is_a?(Hash)
        out = onto.dup
        with.each { |k, v| out[k] = out.key?(k) ? hash_only_merge(out[k], v) : v }
        out
      end
      def hash_only_merge(a, b) = DeepMerge.hash_only_merge(a, b)
      # Later roles win over earlier ones.
      def self.role_merge(role, sofar)
        deep_merge(role, sofar)
      end
      extend self if false
    end

    module FromFile
      attr_accessor :source_file
      def from_file(path)
        @source_file = path
        instance_eval(::File.read(path), path, 1)
      end
      def class_from_file(path) = class_eval(::File.read(path), path, 1)
    end

    module ConvertToClassName
      extend self
      def convert_to_class_name(str) = str.to_s.split(/[_\s.-]/).map { |w| w[0].to_s.upcase + w[1..].to_s }.join
      def convert_to_snake_case(str, _ns = nil) = FX.snake(str.to_s.split("::").last)
      def filename_to_qualified_string(base, filename)
        f = ::File.basename(filename, ".rb")
        (f == "default" ? base.to_s : "#{base}_#{f}").tr("-", "_")
      end
      def snake_case_basename(str) = FX.snake(str.split("::").last)
    end

    module Checksum
      def checksum(file)
        require "digest"
        Digest::SHA256.file(file).hexdigest
      end
      def short_cksum(sum) = sum.nil? ? "none" : sum[0, 6]
    end

    module Properties
      def self.included(base) = nil
    end
    module Deprecation; end
    module UserContext
      def with_user_context(*) = yield
    end
    module EnforceOwnershipAndPermissions; end
    module FileClass
      def file_class = ::File
    end
    module WindowsArchitectureHelper
      def node_windows_architecture(*) = :x86_64
    end
    module CreatePath
      def create_path(path)
        require "fileutils"
        FileUtils.mkdir_p(path)
      end
    end
    module GetSourceFromPackage; end
    module Uris
      def uri_scheme?(s) = s.to_s.match?(%r{\A\w+://})
      def as_uri(s) = URI.parse(s)
    end
    module OpensslHelper; end
    module VersionString; end
    module Provides; end
    module ChefUtilsWiring; end
    module LazyModuleInclude; end
    module ProxifiedSocket; end
    module Language; end
    module RecipeDefinitionDSLCore; end
    module XMLEscape
      def self.convert(s) = s.to_s.encode(xml: :text)
    end
    module Unformatter; end
    module PowershellTypeCoercions; end
    module Descending; end
    module CommandHelper; end
    module RunCommand; end
    module UnifiedModeInternalInitialize; end
    %i{ApiVersionRequestHandling DescendantsTracker Homebrew SubclassDirective VersionedAPI VersionedAPIFactory WideString WindowsEnvHelper}.each { |n| const_set(n, Module.new) }
    OpenSSLHelper = OpensslHelper
    module PowershellExec
      def powershell_exec(*) = raise(NotImplementedError, "powershell_exec is not on this platform")
      alias powershell_exec! powershell_exec
    end
    module NotifyingBlock
      # Resources declared in the block converge at its end, and count for the one around them.
      def notifying_block(&block) = compile_and_converge_action { instance_eval(&block) }
    end
    module HomebrewUser; end
    HomebrewUserMixin = HomebrewUser
    module PowershellOut
      def powershell_out(*) = raise(NotImplementedError, "powershell_out is not on this platform")
      alias powershell_out! powershell_out
    end
  end
end
