# tempfile
