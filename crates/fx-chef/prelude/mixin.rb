# Mixins by name; each is read when first named.
class Chef
  module Mixin
    autoload :ParamsValidate, "prelude:chef/params_validate.rb"
    autoload :ShellOut, "prelude:chef/mixin_shell_out.rb"
    autoload :PowershellOut, "prelude:chef/mixin_helpers.rb"
    autoload :WhyRun, "prelude:chef/requirements.rb"
    autoload :DeepMerge, "prelude:chef/deep_merge.rb"
    autoload :Template, "prelude:chef/mixin_template.rb"
    %i{Securable Which DefaultPaths PathSanity FromFile ConvertToClassName Properties Deprecation Checksum UserContext
      HomebrewUser HomebrewUserMixin
      EnforceOwnershipAndPermissions FileClass WindowsArchitectureHelper CreatePath GetSourceFromPackage Uris
        OpensslHelper VersionString Provides ChefUtilsWiring LazyModuleInclude
      ProxifiedSocket Language RecipeDefinitionDSLCore XMLEscape Unformatter PowershellTypeCoercions Descending
        CommandHelper RunCommand UnifiedModeInternalInitialize ApiVersionRequestHandling DescendantsTracker Homebrew
          NotifyingBlock OpenSSLHelper PowershellExec SubclassDirective
      VersionedAPI VersionedAPIFactory WideString WindowsEnvHelper}.each do |n|
      autoload n, "prelude:chef/mixin_helpers.rb"
    end
  end
end
