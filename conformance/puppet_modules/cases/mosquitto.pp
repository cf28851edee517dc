class { 'mosquitto': config => ['listener 1899 127.0.0.1', 'allow_anonymous true', 'persistence false'] }
