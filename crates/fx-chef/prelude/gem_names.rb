# Gems of this machine, as cookbooks ask for them.
FX.load("gem.rb")
module Gem
  # A gem that is not there.
  class MissingSpecError < Gem::LoadError
    def initialize(name = nil, requirement = nil, *_)
      @name, @requirement = name, requirement
      super(name && "Could not find '#{name}' (#{requirement || ">= 0"}) among the gems here")
    end
    attr_reader :name, :requirement
  end
  class Specification
    # The newest of this machine that fits.
    def self.find_by_name(name, *requirements)
      found = Chef::FxGems.find(name, requirements.empty? ? nil : requirements)
      found || raise(MissingSpecError.new(name, Requirement.create(requirements)))
    end
  end
end
