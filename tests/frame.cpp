// Nothing: the precompiled headers of the tests need a source to be compiled for.
