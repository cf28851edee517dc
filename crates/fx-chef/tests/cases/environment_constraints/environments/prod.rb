name 'prod'
cookbook 't', '= 1.0.0'
default_attributes 'a' => 'x'
