Puppet::Type.newtype(:marker) do
  ensurable do
    defaultvalues
    defaultto :present
  end
  newparam(:path, namevar: true)
  newparam(:text)
end
