archive { '/tmp/case/a.tar.gz': source => 'file:///tmp/case-src/a.tar.gz', extract => true, extract_path => '/tmp/case', creates => '/tmp/case/a.txt', cleanup => false }
