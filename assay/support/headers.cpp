// Nothing: the precompiled headers of the library need a source to be compiled for.
