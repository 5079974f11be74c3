/* gm_serial: numbers and bytes to and from a flat form.
 *
 *   number   7 bits a byte, lowest first, the top bit set but in the last byte; at most 5 bytes
 *   list     distinct ascending numbers: the first one, then each less the one before and 1
 *
 * Reading trusts nothing: every read is bounded by the data and by what the caller can use, and fails as GM_FORMAT.
 *
 * Owner    a writer owns its bytes, of the account given; a reader borrows.
 * Source   own. Tests: tests/c/test_tables.c. */
#ifndef GM_SERIAL_H
#define GM_SERIAL_H

#include "gm_mem.h"

typedef struct GmWriter {
    GmMem *mem;
    GM_VEC(uint8_t) out;
} GmWriter;

void gm_write_deinit(GmWriter *w);
GmStatus gm_write_number(GmWriter *w, uint32_t value, GmError *err);
GmStatus gm_write_bytes(GmWriter *w, const void *data, size_t n, GmError *err);
/* n distinct ascending numbers, without their count. */
GmStatus gm_write_list(GmWriter *w, const uint32_t *list, uint32_t n, GmError *err);

typedef struct GmReader {
    const uint8_t *at, *end;
} GmReader;

static inline GmStatus gm_read_bad(GmError *err)
{
    return gm_fail(err, GM_FORMAT, "the saved tables of the engine do not hold together");
}
/* A number up to `most`. */
GmStatus gm_read_number(GmReader *r, uint32_t most, uint32_t *out, GmError *err);
/* How many of something that takes at least one byte each. */
GmStatus gm_read_count(GmReader *r, uint32_t *out, GmError *err);
/* n distinct ascending numbers below `end`. */
GmStatus gm_read_list(GmReader *r, uint32_t n, uint32_t end, uint32_t *out, GmError *err);
/* n bytes, borrowed. */
GmStatus gm_read_bytes(GmReader *r, size_t n, const uint8_t **out, GmError *err);

#endif
