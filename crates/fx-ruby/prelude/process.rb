# process
