#!/usr/bin/ruby
# Prints the kitchen suites for Debian of some cookbooks, one JSON object a line: what run.sh needs to converge them.
#
#   suites.rb COOKBOOK-DIRECTORY …
#
# A suite's run list is its own, or the named one of the cookbook's Policyfile.rb. No cookbook is run for this, but both
# files are Ruby in part: use it on a copy of the machine.
require 'yaml'
require 'erb'
require 'json'

# What a Policyfile.rb says: run lists and attributes.
class Policy
  attr_reader :lists, :attributes

  def initialize(file)
    @lists = {}
    @attributes = { 'default' => tree, 'override' => tree }
    Dir.chdir(File.dirname(file)) { instance_eval(File.read(file), file) } if File.exist?(file)
  end

  def tree = Hash.new { |hash, key| hash[key] = tree }
  def run_list(*list) = @lists[nil] = list.flatten
  def named_run_list(name, *list) = @lists[name.to_s] = list.flatten
  def default = @attributes['default']
  def override = @attributes['override']
  def method_missing(*) = nil
  def respond_to_missing?(*) = true
end

def recipe(entry) = entry.include?('[') ? entry : "recipe[#{entry}]"

def for_debian?(config, suite)
  names = config['platforms'].to_a.map { |platform| platform['name'].to_s }.grep(/debian/i)
  included = suite['includes'].to_a.map(&:to_s)
  excluded = suite['excludes'].to_a.map(&:to_s)
  return false if names.empty?
  return included.any? { |name| name.match?(/debian/i) } unless included.empty?
  !(names - excluded).empty? && !excluded.include?('debian*') && !excluded.include?('debian')
end

def deep(one, two)
  one.merge(two) { |_, a, b| a.is_a?(Hash) && b.is_a?(Hash) ? deep(a, b) : b }
end

ARGV.each do |book|
  file = ["#{book}/kitchen.yml", "#{book}/.kitchen.yml"].find { |name| File.exist?(name) } or next
  text = ERB.new(File.read(file)).result
  config = YAML.safe_load(text, aliases: true, permitted_classes: [Symbol])
  policy = Policy.new("#{book}/Policyfile.rb")
  platform = config['platforms'].to_a.find { |one| one['name'].to_s =~ /debian/i } || {}
  config['suites'].to_a.each do |suite|
    next unless for_debian?(config, suite)
    provisioner = deep(config['provisioner'] || {}, suite['provisioner'] || {})
    named = provisioner['named_run_list'] || suite['named_run_list']
    list = suite['run_list'] || (named && policy.lists[named.to_s]) || provisioner['run_list'] || policy.lists[nil]
    next if list.nil? || list.empty?
    list = Array(platform['run_list']) + Array(list)
    paths = {}
    %w[data_bags roles environments].each do |kind|
      given = provisioner["#{kind}_path"] || suite["#{kind}_path"]
      places = [given, "test/integration/#{suite['name']}/#{kind}", "test/integration/#{kind}", kind]
      found = places.compact.find { |place| File.directory?(File.join(book, place)) }
      paths[kind] = found.delete_prefix('./') if found
    end
    secret = provisioner['encrypted_data_bag_secret_key_path']
    paths['secret'] = secret if secret && File.file?(File.join(book, secret))
    attributes = [policy.attributes['default'], policy.attributes['override'], platform['attributes'], suite['attributes'], provisioner['attributes']]
    puts JSON.generate(
      'cookbook' => File.basename(book), 'suite' => suite['name'].to_s,
      'run_list' => list.map { |entry| recipe(entry.to_s) }.uniq,
      'attributes' => attributes.compact.reduce({}) { |all, more| deep(all, more) }, 'paths' => paths
    )
  end
rescue StandardError, SyntaxError => e
  warn "#{book}: #{e.class}: #{e.message}"
end
