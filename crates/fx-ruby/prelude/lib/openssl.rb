# openssl
