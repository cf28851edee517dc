rhsm_register 'here' do
  organization 'org'
  activation_key ['one', 'two words']
end
rhsm_repo 'extra'
rhsm_subscription 'pool1'
rhsm_errata 'RHSA:2018-1234'
rhsm_errata_level 'Critical'
