# rexml
