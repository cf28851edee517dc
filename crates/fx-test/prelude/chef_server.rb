# ServerRunner: the same with a server's objects, which live as long as an example.
module ChefSpec
  # Nodes, roles, environments, clients and data bags of a server.
  class ServerData < ::Chef::FxStore::Local
    KINDS = { "client" => "clients", "data_bag" => "data", "environment" => "environments", "node" => "nodes",
              "role" => "roles" }.freeze
    @now = nil
    class << self
      def now = @now ||= new
      def forget = @now = nil
    end
    attr_reader :all
    def initialize = @all = Hash.new { |all, kind| all[kind] = {} }

    def role(name) = (found = all["roles"][name.to_s]) && ::Chef::Role.from_hash(found, name)
    def environment(name)
      found = all["environments"][name]
      return ::Chef::Environment.from_hash(found || {}, name) if found || name == "_default"
      ::Chef::FxMissing.raise('404 "Not Found"', "there is no environment #{name}")
    end
    def node(name) = all["nodes"][name.to_s]
    def create_node(node) = save_node(node)
    def save_node(node) = all["nodes"][node.name] = node.for_json
    def data_bags = all["data"].keys.to_h { |name| [name, name] }
    def data_bag(name)
      found = all["data"][name.to_s]
      ::Chef::FxMissing.raise('404 "Not Found"', "there is no data bag #{name}") unless found
      found.keys.to_h { |id| [id.to_s, id.to_s] }
    end
    def data_bag_item(bag, id)
      found = all["data"][bag.to_s]&.find { |name, _| name.to_s == id.to_s }
      ::Chef::FxMissing.raise('404 "Not Found"', "there is no item #{id} in the data bag #{bag}") unless found
      { "id" => id.to_s }.merge(ServerData.plain(found.last))
    end
    def self.plain(value)
      case value
      when Hash then value.to_h { |key, one| [key.to_s, plain(one)] }
      when Array then value.map { |one| plain(one) }
      when Symbol then value.to_s
      else value
      end
    end
  end

  # The server itself needs no port and no start here.
  class ZeroServer
    class << self
      def server = ServerData.now
      def load_data(name, key, data) = server.all[key][name.to_s] = ServerData.plain(data)
      %i[setup! teardown! upload_cookbooks!].each { |name| define_method(name) { nil } }
      %i[reset! nuke!].each { |name| define_method(name) { ServerData.forget } }
    end
  end

  # What a spec puts on the server, and finds there.
  module ServerMethods
    ServerData::KINDS.each do |word, kind|
      define_method(:"create_#{word}") do |name, data = {}|
        name, data = name.name, name.for_json if name.is_a?(::Chef::Node)
        plain = ServerData.plain(data)
        ServerData.now.all[kind][name.to_s] = kind == "data" ? plain : { "name" => name.to_s }.merge(plain)
      end
      define_method(:"get_#{word}") do |name|
        found = ServerData.now.all[kind][name.to_s]
        word == "node" && found ? ::Chef::Node.from_hash(found) : found
      end
      define_method(:"get_#{kind}") { ServerData.now.all[kind].keys }
      define_method(:"has_#{word}?") { |name| ServerData.now.all[kind].key?(name.to_s) }
    end
    alias update_node create_node
    def server = ServerData.now
  end

  class ServerRunner < SoloRunner
    include ServerMethods
    def initialize(options = {})
      super(options, &nil)
      yield node, self if block_given?
    end
    def converge(*recipes)
      super do
        yield if block_given?
        node.save
      end
    end

    private

    def configure
      super
      config = ::Chef::Config
      config[:solo] = config[:solo_legacy_mode] = false
      config[:client_name] = config[:node_name] = "chefspec"
      config[:chef_server_url] = "http://localhost:8889"
      ::Chef::FxStore.fx_spec = ServerData.now
    end
  end

  class Server
    def self.method_missing(name, *)
      raise Error::NoConversionError,
        "You called a deprecated method without a backwards compatible replacement: #{name}"
    end
    def self.respond_to_missing?(*) = true
  end
end
