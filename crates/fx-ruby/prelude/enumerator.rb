# enumerator
