#pragma once

#include <stddef.h>

/// Bytes of the heap that somebody holds at this moment, in all arenas (mallinfo(3)); 0 where another allocator is in its place, as with a
/// sanitizer.
size_t heap_bytes_in_use(void);
