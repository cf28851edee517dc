file "#{'#'}{node['root']}/a"
