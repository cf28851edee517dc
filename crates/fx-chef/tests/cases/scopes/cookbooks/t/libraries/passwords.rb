class Chef
  class Passwords
    def self.one = 'secret'
  end
end
