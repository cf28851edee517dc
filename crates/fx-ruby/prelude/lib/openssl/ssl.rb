module OpenSSL
  module SSL
    # What a connection should be like. Connections themselves are made by the host (Net::HTTP); there are no sockets.
    class SSLContext
      DEFAULT_PARAMS = { min_version: TLS1_VERSION, verify_mode: VERIFY_PEER, verify_hostname: true }.freeze
      METHODS = %w[SSLv23 SSLv2 SSLv3 TLSv1 TLSv1_1 TLSv1_2].flat_map { |name|
        [name, "#{name}_client", "#{name}_server"].map(&:to_sym)
      }.freeze
      PLAIN = %i[
        alpn_protocols alpn_select_cb ca_file ca_path cert cert_store client_ca client_cert_cb extra_chain_cert key
        npn_protocols npn_select_cb options renegotiation_cb security_level servername_cb session_cache_mode
        session_cache_size session_id_context timeout tmp_dh_callback verify_callback verify_depth verify_hostname
        verify_mode
      ].freeze
      attr_accessor(*PLAIN)
      alias ssl_timeout timeout
      alias ssl_timeout= timeout=
      attr_reader :ciphers
      attr_writer :ecdh_curves, :tmp_dh

      def initialize(version = nil)
        @verify_mode, @verify_hostname, @security_level, @ciphers = VERIFY_NONE, false, 2, []
        self.ssl_version = version if version
      end

      def ciphers=(list)
        @ciphers = list.is_a?(Array) ? list : list.to_s.split(":")
      end

      def ssl_version=(name)
        raise ArgumentError, "unknown SSL method `#{name}'" unless METHODS.include?(name.to_sym)
        @version = name.to_sym
      end

      def min_version=(version)
        @least = number(version)
      end

      def max_version=(version)
        @most = number(version)
      end

      def set_params(params = {})
        params = DEFAULT_PARAMS.merge(params)
        params.each { |name, value| __send__(:"#{name}=", value) }
        params
      end

      def setup = (freeze; true)

      private

      NUMBERS = {
        SSL3: 0x300, TLS1: TLS1_VERSION, TLS1_1: TLS1_1_VERSION, TLS1_2: TLS1_2_VERSION, TLS1_3: TLS1_3_VERSION,
      }.freeze
      private_constant :NUMBERS, :PLAIN

      def number(version)
        return version if version.nil? || version.is_a?(Integer)
        NUMBERS.fetch(version.to_s.tr(".", "_").delete_prefix("OP_NO_").sub("v", "").to_sym) do
          raise ArgumentError, "unrecognized version #{version.to_s.inspect}"
        end
      end
    end

    # Refused by name.
    class SSLSocket
      def initialize(*)
        raise NotImplementedError, "OpenSSL::SSL::SSLSocket: this runtime has no sockets; Net::HTTP speaks TLS"
      end
    end
  end
end
