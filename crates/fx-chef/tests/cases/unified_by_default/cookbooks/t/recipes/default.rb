t_early 'each resource of an action acts where it stands'
t_late 'the action is compiled first, as it asks'
