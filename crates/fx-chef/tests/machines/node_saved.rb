node.normal['kept'] = { 'a' => [1] }
file '/etc/x'
