# shellwords
