# stringio
