#pragma once

#include <stddef.h>

/// Bytes of the heap that are in use at this moment, in all arenas (mallinfo(3)); 0 where another allocator takes the
/// place of glibc's, as with a sanitizer.
size_t heap_bytes_in_use(void);
