# A client of the server, as search and recipes see it.
class Chef
  class ApiClient
    attr_accessor :public_key, :private_key
    def self.from_hash(h)
      new.tap do |c|
        c.name(h["name"] || h["clientname"])
        c.public_key = h["public_key"]
        c.validator(h["validator"] ? true : false)
        c.admin(h["admin"] ? true : false)
      end
    end
    def self.load(name) = from_hash(api.get("clients/#{FxServerStore.escape(name)}"))
    def self.list(*) = api.get("clients")
    def self.api = Chef::ServerAPI.new(Chef::Config[:chef_server_url], versions: ServerAPI::CLIENTS)
    def initialize = (@name, @validator, @admin = "", false, false)
    def name(v = nil) = v.nil? ? @name : @name = v
    def validator(v = nil) = v.nil? ? @validator : @validator = v
    def admin(v = nil) = v.nil? ? @admin : @admin = v
    def to_h = { "name" => @name, "validator" => @validator, "admin" => @admin, "chef_type" => "client",
                 "json_class" => "Chef::ApiClient" }.merge({ "public_key" => @public_key }.compact)
    alias to_hash to_h
    def [](key) = to_h[key.to_s]
    def to_s = "client[#{@name}]"
    def to_json(*a) = to_h.to_json(*a)
  end
end
