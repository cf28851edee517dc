# open3
