# Names that may be meant. What follows the message of an error is made by the runtime itself.
module DidYouMean
  SPELL_CHECKERS = {}
  module Correctable; end

  class SpellChecker
    def initialize(dictionary:)
      @dictionary = dictionary
    end

    def correct(input) = ObjectSpace.__similar(input.to_s, @dictionary.to_a)
  end

  class << self
    attr_accessor :formatter
    def correct_error(error_class, spell_checker) = SPELL_CHECKERS[error_class.to_s] = spell_checker
    def spell_checkers = SPELL_CHECKERS
  end
end
