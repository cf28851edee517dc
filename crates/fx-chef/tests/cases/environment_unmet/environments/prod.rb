name 'prod'
cookbook 't', '>= 2.0.0'
default_attributes 'a' => 'x'
