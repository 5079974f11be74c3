/* gm_heap: the memory that vocabularies and all that is compiled for them come from, and the purge policy.
 *
 * Large requests are chunks of a size class (four classes to a doubling), taken from the system one by one. A freed
 * chunk is kept for the next request of its class, which finds its pages already there: compiling, linking and
 * dropping in turn costs no page faults. After a delay it is purged: *reset* (the system may take the pages when
 * it needs them; until then they count as resident) or, with `decommits`, handed back at once. Small requests go to
 * the C library.
 *
 *     in use --free--> kept --delay--> reset     (stays in its list, reusable)
 *                          `---------> returned  (decommits)
 *
 * There is no thread for it: whoever allocates or frees a chunk looks at the clock. gm_heap_purge does it at once.
 *
 * Owner    reference-counted; vocabularies retain it. What it says about chunks is kept outside of them.
 * Threads  any; one lock, for large requests only. gm_heap_pause and gm_heap_resume hold it over a fork.
 * Source   own. Tests: tests/c/test_heap.c, tests/test_memory.py. */
#ifndef GM_HEAP_H
#define GM_HEAP_H

#include "gm.h"
#include "gm_mem.h"

void gm_heap_retain(GmHeap *heap);
/* A GmResizeFn; context is the heap. */
void *gm_heap_resize(void *context, void *p, size_t old, size_t size);

#endif
