#include "gm_heap.h"

#include "gm_sync.h"

#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum {
    HEAP_CHUNK = 32 << 10, /* from here on a request is a chunk: below, the C library faults few pages */
    HEAP_CHUNK_BIT = 15,
    HEAP_CLASSES = 4 * (63 - HEAP_CHUNK_BIT)
};
static const double HEAP_NEVER = 1e300;

typedef struct HeapChunk {
    void *p;
    double since; /* when it was freed */
    bool reset;
} HeapChunk;

typedef struct HeapClass {
    HeapChunk *kept; /* the last one freed is the first one used */
    uint32_t len, cap;
} HeapClass;

struct GmHeap {
    atomic_uint references;
    GmMutex lock;
    double delay; /* seconds; negative: kept for good */
    bool decommits;
    double due;    /* when the next chunk is to be purged */
    uint64_t kept; /* bytes of chunks that are neither in use nor purged */
    HeapClass classes[HEAP_CLASSES];
};

/* -- the system ------------------------------------------------------------------------------------------ */

static void *heap_system_take(size_t size)
{
#if defined(_WIN32)
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
#else
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
#endif
}

static void heap_system_return(void *p, size_t size)
{
#if defined(_WIN32)
    (void)size;
    (void)VirtualFree(p, 0, MEM_RELEASE);
#else
    (void)munmap(p, size);
#endif
}

static void heap_system_reset(void *p, size_t size)
{
#if defined(_WIN32)
    (void)VirtualAlloc(p, size, MEM_RESET, PAGE_READWRITE);
#elif defined(MADV_FREE)
    if (madvise(p, size, MADV_FREE) != 0) { /* not known to old systems */
        (void)madvise(p, size, MADV_DONTNEED);
    }
#else
    (void)madvise(p, size, MADV_DONTNEED);
#endif
}

/* -- size classes ---------------------------------------------------------------------------------------- */

static uint32_t heap_top_bit(size_t size)
{
    uint32_t high = (uint32_t)((uint64_t)size >> 32);
    return high != 0 ? 32 + gm_top_bit(high) : gm_top_bit((uint32_t)size);
}

/* Rounds *size up to its class: 4, 5, 6 or 7 quarters of a power of two, so always whole pages. */
static uint32_t heap_class_of(size_t *size)
{
    uint32_t top = heap_top_bit(*size);
    size_t quarter = (size_t)1 << (top - 2);
    *size = (*size + quarter - 1) & ~(quarter - 1);
    top = heap_top_bit(*size);
    return 4 * (top - HEAP_CHUNK_BIT) + (uint32_t)(*size >> (top - 2) & 3);
}

static size_t heap_class_size(uint32_t class) { return (size_t)(4 + class % 4) << (HEAP_CHUNK_BIT - 2 + class / 4); }

static bool is_chunk(size_t size) { return size >= HEAP_CHUNK && size <= SIZE_MAX / 4; }

/* -- keeping and purging; locked -------------------------------------------------------------------------- */

/* Purge what was freed up to `limit`; the bytes of it. */
static uint64_t heap_purge_until(GmHeap *heap, double limit)
{
    uint64_t bytes = 0;
    heap->due = HEAP_NEVER;
    for (uint32_t class = 0; class < HEAP_CLASSES; class++) {
        HeapClass *list = &heap->classes[class];
        uint32_t left = 0;
        for (uint32_t i = 0; i < list->len; i++) {
            HeapChunk chunk = list->kept[i];
            if (!chunk.reset && chunk.since <= limit) {
                size_t size = heap_class_size(class);
                bytes += size;
                heap->kept -= size;
                if (heap->decommits) {
                    heap_system_return(chunk.p, size);
                    continue;
                }
                heap_system_reset(chunk.p, size);
                chunk.reset = true;
            }
            if (!chunk.reset && chunk.since + heap->delay < heap->due && heap->delay >= 0) {
                heap->due = chunk.since + heap->delay;
            }
            list->kept[left++] = chunk;
        }
        list->len = left;
    }
    return bytes;
}

static void heap_look_at_clock(GmHeap *heap)
{
    if (heap->due != HEAP_NEVER) {
        double now = gm_seconds();
        if (now >= heap->due) {
            (void)heap_purge_until(heap, now - heap->delay);
        }
    }
}

static void *heap_take(GmHeap *heap, size_t size)
{
    uint32_t class = heap_class_of(&size);
    HeapClass *list = &heap->classes[class];
    void *p = NULL;
    gm_mutex_lock(&heap->lock);
    if (list->len > 0) {
        HeapChunk chunk = list->kept[--list->len];
        p = chunk.p;
        heap->kept -= chunk.reset ? 0 : size;
    }
    heap_look_at_clock(heap);
    gm_mutex_unlock(&heap->lock);
    return p != NULL ? p : heap_system_take(size);
}

static void heap_keep(GmHeap *heap, void *p, size_t size)
{
    uint32_t class = heap_class_of(&size);
    HeapClass *list = &heap->classes[class];
    gm_mutex_lock(&heap->lock);
    if (list->len == list->cap) {
        uint32_t cap = list->cap == 0 ? 8 : 2 * list->cap;
        HeapChunk *grown = realloc(list->kept, cap * sizeof *grown);
        if (grown == NULL) { /* nowhere to note it */
            gm_mutex_unlock(&heap->lock);
            heap_system_return(p, size);
            return;
        }
        list->kept = grown;
        list->cap = cap;
    }
    double now = gm_seconds();
    list->kept[list->len++] = (HeapChunk){p, now, false};
    heap->kept += size;
    if (heap->delay >= 0 && heap->due == HEAP_NEVER) {
        heap->due = now + heap->delay;
    }
    heap_look_at_clock(heap);
    gm_mutex_unlock(&heap->lock);
}

/* -- outside ------------------------------------------------------------------------------------------------ */

GmHeap *gm_heap_new(int64_t delay_ms, int decommits)
{
    GmHeap *heap = calloc(1, sizeof *heap);
    if (heap != NULL) {
        atomic_init(&heap->references, 1);
        gm_mutex_init(&heap->lock);
        heap->delay = delay_ms < 0 ? -1 : (double)delay_ms / 1e3;
        heap->decommits = decommits != 0;
        heap->due = HEAP_NEVER;
    }
    return heap;
}

void gm_heap_retain(GmHeap *heap) { (void)atomic_fetch_add(&heap->references, 1); }

void gm_heap_free(GmHeap *heap)
{
    if (heap == NULL || atomic_fetch_sub(&heap->references, 1) != 1) {
        return;
    }
    for (uint32_t class = 0; class < HEAP_CLASSES; class++) {
        for (uint32_t i = 0; i < heap->classes[class].len; i++) {
            heap_system_return(heap->classes[class].kept[i].p, heap_class_size(class));
        }
        free(heap->classes[class].kept);
    }
    gm_mutex_deinit(&heap->lock);
    free(heap);
}

void *gm_heap_resize(void *context, void *p, size_t old, size_t size)
{
    GmHeap *heap = context;
    bool was = p != NULL && is_chunk(old), is = is_chunk(size);
    if (!was && !is) {
        return gm_mem_libc(NULL, p, old, size);
    }
    if (was && is) {
        size_t before = old, after = size;
        if (heap_class_of(&before) == heap_class_of(&after)) {
            return p;
        }
    }
    void *fresh = NULL;
    if (size > 0) {
        fresh = is ? heap_take(heap, size) : gm_mem_libc(NULL, NULL, 0, size);
        if (fresh == NULL) {
            return NULL;
        }
    }
    if (p != NULL) {
        if (fresh != NULL) {
            memcpy(fresh, p, old < size ? old : size);
        }
        if (was) {
            heap_keep(heap, p, old);
        } else {
            (void)gm_mem_libc(NULL, p, old, 0);
        }
    }
    return fresh;
}

uint64_t gm_heap_purge(GmHeap *heap)
{
    gm_mutex_lock(&heap->lock);
    uint64_t bytes = heap_purge_until(heap, HEAP_NEVER);
    gm_mutex_unlock(&heap->lock);
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
    return bytes;
}

uint64_t gm_heap_kept(GmHeap *heap)
{
    gm_mutex_lock(&heap->lock);
    uint64_t bytes = heap->kept;
    gm_mutex_unlock(&heap->lock);
    return bytes;
}

void gm_heap_pause(GmHeap *heap) { gm_mutex_lock(&heap->lock); }

void gm_heap_resume(GmHeap *heap) { gm_mutex_unlock(&heap->lock); }
