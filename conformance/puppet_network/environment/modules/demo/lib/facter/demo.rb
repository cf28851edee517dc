Facter.add(:demo_custom) { setcode { 'from ruby' } }
Facter.add(:demo_out) { setcode { ENV.fetch('DEMO_OUT', nil) } }
