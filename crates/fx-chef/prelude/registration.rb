# A new client introduces itself with the validator's key and keeps a key of its own.
class Chef
  class FxRegistration
    def initialize(name, file) = (@name, @file = name, file)

    def run
      check
      changes = [[:chef_client, @name, :ensure, "absent", "present"]]
      tries = Chef::Config[:client_registration_retries] || 5
      FX.tell("chef_client", @name, "create", "there is no key of the client", changes) do
        begin
          answer = create
        rescue Net::HTTPFatalError => e
          raise if tries <= 0
          tries -= 1
          Chef::Log.warn("Failed to register new client, #{tries} tries remaining")
          Chef::Log.warn("Response: HTTP #{e.response.code} - #{e}")
          retry
        end
        keep(answer)
        true
      end
    end

    private

    def local? = Chef::Config[:local_key_generation] != false
    def api
      @api ||= Chef::ServerAPI.new(Chef::Config[:chef_server_url], api_version: 0,
        client_name: Chef::Config[:validation_client_name], signing_key_filename: Chef::Config[:validation_key])
    end

    def check
      dir = ::File.dirname(::File.expand_path(@file))
      return if ::File.directory?(dir) && ::File.writable?(dir) || FX.leaves_server?
      unless ::File.exist?(dir)
        require "fileutils"
        return FX.own_state { FileUtils.mkdir_p(dir, mode: 0700) }
      end
      raise Chef::Exceptions::CannotWritePrivateKey, "I can't write your private key to #{@file} - check permissions?"
    end

    def create
      data = { "name" => @name, "admin" => false }
      data["public_key"] = (@public_key ||= FX.make_key(nil)) if local?
      api.post("clients", data)
    rescue Net::HTTPServerException => e
      raise unless e.response.code == "409"
      data["private_key"] = true unless local?
      api.put("clients/#{FxServerStore.escape(@name)}", data)
    end

    def keep(answer)
      given = local? ? nil : answer["private_key"] || answer.dig("chef_key", "private_key")
      FX.keep_key(@file, given, Chef::Config[:follow_client_key_symlink])
    end
  end
end
