# Small mixins: paths, names, checksums, users, and names that exist only.
class Chef
  module Mixin
    module Securable
      def self.included(base)
        Chef::Resource::File
        base.include(Chef::Resource::FxSecurable)
      end
    end

    module Which
      include ChefUtils::DSL::Which
    end

    module DefaultPaths
      def enforce_default_paths(env = ENV) = nil
      def default_paths(env = ENV) = env["PATH"]
    end
    PathSanity = DefaultPaths

    module FromFile
      attr_accessor :source_file
      def from_file(path)
        @source_file = path
        instance_eval(FX.read(path) || ::File.read(path), path, 1)
      end
      def class_from_file(path) = class_eval(FX.read(path) || ::File.read(path), path, 1)
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
    %i{ApiVersionRequestHandling DescendantsTracker Homebrew SubclassDirective VersionedAPI VersionedAPIFactory
      WideString WindowsEnvHelper}.each do |n|
      const_set(n, Module.new)
    end
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
