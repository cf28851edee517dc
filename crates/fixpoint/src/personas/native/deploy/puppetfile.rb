# What a Puppetfile may say, and what it said, as JSON.
require 'json'

class Puppetfile
  attr_reader :said

  def initialize
    @said = { 'moduledir' => 'modules', 'modules' => [] }
  end

  def forge(_url) = nil

  def moduledir(dir)
    @said['moduledir'] = dir.to_s
  end

  def mod(name, version = nil, options = nil, **given)
    version, options = nil, version if version.is_a?(Hash)
    options = (options || {}).merge(given)
    options = options.to_h { |key, value| [key.to_s, value.is_a?(Symbol) ? value.to_s : value] }
    options['version'] ||= version.to_s if version
    @said['modules'] << options.merge('name' => name.to_s)
  end
end

file = Puppetfile.new
file.instance_eval(File.read(ARGV[0]), ARGV[0])
puts JSON.generate(file.said)
