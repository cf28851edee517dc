# The exceptions cookbooks rescue and users see, with their messages.
class Chef
 class Exceptions
 def self.leaf(superclass, *names)
 names.each { |n| const_set(n, Class.new(superclass)) }
 end
 class ConfigurationError < ArgumentError; end
 leaf RuntimeError, *%i{Application SigInt SigTerm Env Cron Exec Execute ErlCall FileNotFound Package Service Script
   Route SearchIndex Override UnsupportedAction
 MissingLibrary User Group Link Mount Sysctl PrivateKeyMissing CannotWritePrivateKey RoleNotFound DuplicateRole
   CannotDetermineHomebrewPath
 InvalidPrivateKey InvalidClientUpgrade PathNotAllowed MissingParentDirectory UnmetDependency CannotDetermineNodeName
   DelayedInteractive MultipleDscResourcesFound
 PolicyfileDownloadError InvalidDataBagItemID InvalidDataBagName InvalidIdentityRole Bacon CookbookMergingError Registry
   
 RubyGemsPathMismatch LockConfigMismatch CookbookFrozen NoSuchHabitat NotAChefRepo CannotValidateStaticallyError}
 leaf ArgumentError, :InvalidEnvironmentPath, :ValidationFailed, :InvalidPolicybuilderCall, :InvalidCommandOption,
   :InvalidVersionConstraint, :InvalidCookbookVersion, :InvalidPlatformVersion,
 :InvalidEnvironmentRunListSpecification, :InvalidSymlink, :InvalidDataBagPath, :InvalidRemoteFileURI,
 :InvalidResourceSpecification, :InvalidWhyRunAssertion, :UserIDNotFound, :GroupIDNotFound,
 :MissingRequiredParameter, :InvalidKeyAttribute, :InvalidKeyArgument, :MultipleIdentityError, :InvalidSearchQuery,
 :InvalidKnifeConfig
 leaf StandardError, :RequiredPropertyNotSet, :RecipeNotFound, :AttributeNotFound, :MetadataNotValid,
   :CookbookNotFoundInRepo, :FileTypeMismatch,
 :EnclosingDirectoryDoesNotExist, :CookbookVersionNameMismatch,
 :PermissionDenied, :InterruptedError, :SearchError, :NodeError, :DecryptionFailure, :DeprecatedFeatureError,
 :GemRequirementConflict, :UnifiedModeImmediateSubscriptionEarlierResource,
 :UnifiedModeBeforeSubscriptionEarlierResource, :DeprecatedExitCode, :LegacySolo
 class InvalidResourceReference < RuntimeError; end
 class ResourceNotFound < RuntimeError; end
 class ProviderNotFound < RuntimeError; end
 class NoSuchResourceType < NameError; end
 class NoSuchAttribute < RuntimeError; end
 class NoProviderAvailable < RuntimeError; end
 class AttributeTypeMismatch < RuntimeError; end
 class CurrentValueDoesNotExist < RuntimeError; end
 class CommandTimeout < RuntimeError; end
 class ContentLengthMismatch < RuntimeError; end
 class ChecksumMismatch < RuntimeError
 def initialize(expected, actual)
 super("Checksum on resource (#{expected}...) does not match checksum on content (#{actual}...)")
 end
 end
 class FileContentStagingError < RuntimeError; end
 class CannotReadSecret < RuntimeError; end
 class Win32APIError < RuntimeError; end
 class ClientUpgraded < RuntimeError; end
 class ClientVersionMismatch < RuntimeError; end
 class InvalidHomeDirectory < ArgumentError; end
 class DsclCommandFailed < RuntimeError; end
 class PlistUtilCommandFailed < RuntimeError; end
 class UserInvalid < RuntimeError; end
 class MissingRole < RuntimeError
 NULL = Object.new
 attr_reader :expansion
 def initialize(message_or_expansion = NULL)
 @expansion = nil
 case message_or_expansion
 when NULL then super()
 when String then super
 else
 @expansion = message_or_expansion
 super("The expanded run list includes nonexistent roles: #{expansion.errors.join(", ")}")
 end
 end
 end
 class CookbookNotFound < RuntimeError; end
 class ConflictingMembersInGroup < ArgumentError; end
 class CookbookVersionNotFound < RuntimeError; end
 class MissingCookbookDependency < StandardError; end
 class CookbookVersionSelection < RuntimeError; end
 class CookbookChefVersionMismatch < RuntimeError
 def initialize(chef_version, cookbook_name, cookbook_version, *constraints)
 super("Cookbook '#{cookbook_name}' version '#{cookbook_version}' depends on Chef Infra Client version " \
   "#{constraints.inspect}, but the running Chef Infra Client version is #{chef_version}")
 end
 end
 class CookbookOhaiVersionMismatch < RuntimeError
 def initialize(ohai_version, cookbook_name, cookbook_version, *constraints)
 super("Cookbook '#{cookbook_name}' version '#{cookbook_version}' depends on ohai version " \
   "#{constraints.join(" or ")}, but the running ohai version is #{ohai_version}")
 end
 end
 class MetadataNotFound < StandardError
 attr_reader :install_path, :cookbook_name
 def initialize(install_path, cookbook_name)
 @install_path, @cookbook_name = install_path, cookbook_name
 super("No metadata.rb or metadata.json found for cookbook #{cookbook_name} in #{install_path}")
 end
 end
 class ImmutableAttributeModification < NoMethodError
 def initialize
 super("Node attributes are read-only when you do not specify which precedence level to set. To set an attribute use " \
   "code like `node.default[\"key\"] = \"value\"'")
 end
 end
 class NodeAttributeDoesNotExist < NoMethodError; end
 class MultipleFailures < StandardError
 def initialize(*args)
 super
 @all_failures = []
 end
 def message
 base = "Multiple failures occurred:\n"
 @all_failures.inject(base) do |message, (location, error)|
 message + "* #{error.class} occurred in #{location}: #{error.message}\n"
 end
 end
 def client_run_failure(exception)
 set_backtrace(exception.backtrace)
 @all_failures << ["#{ChefUtils::Dist::Infra::PRODUCT} run", exception]
 end
 def notification_failure(exception)
 @all_failures << ["delayed notification", exception]
 end
 def raise!
 raise self if @all_failures.size > 1
 raise @all_failures.first[1] if @all_failures.size == 1
 end
 def empty? = @all_failures.empty?
 def all_failures = @all_failures
 def for_each(&b) = @all_failures.each(&b)
 end
 class UnsupportedPlatform < RuntimeError
 def initialize(platform)
 super("This functionality is not supported on platform #{platform}.")
 end
 end
 class InvalidRedirect < StandardError; end
 class MultipleConflicts < StandardError; end
 class BlockedAsRootFork < RuntimeError; end
 class ImportNotFound < StandardError; end
 class Reboot < Exception; end
 class RebootPending < Exception; end
 class RebootFailed < Exception; end
 class MultipleResources < RuntimeError; end
 class Secret
 class MissingFetcher < RuntimeError; end
 end
 class AttributeNotFoundInChain < StandardError; end
 class EncryptedDataBagDecryption < StandardError; end
 class DuplicateDataBagItem < StandardError; end
 class EncryptedDataBagVersionMismatch < StandardError; end
 class InvalidCookbookPath < StandardError; end
 class CannotReadMetadata < StandardError; end
 class InvalidEventType < RuntimeError; end
 class UnresolvableGitReference < RuntimeError; end
 class VerificationNotFound < RuntimeError; end
 class RunLockTimeout < RuntimeError
 def initialize(duration, blocking_pid)
 super("Unable to acquire lock. Waited #{duration} seconds for #{blocking_pid} to release.")
 end
 end
 class JSON
  class EncodeError < RuntimeError; end
  class ParseError < RuntimeError; end
 end
 end
end
