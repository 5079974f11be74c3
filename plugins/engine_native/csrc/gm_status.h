/* gm_status: result codes and error records.
 * Every fallible function returns GmStatus and takes GmError *err last. Outputs are written only on
 * success. GM_TRY forwards; GM_CHECK turns a broken invariant into GM_INTERNAL in every build.
 * Tests    tests/c/test_base.c. */
#ifndef GM_STATUS_H
#define GM_STATUS_H

#include "gm.h" /* GmError, which cffi reads there */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum GmStatus {
    GM_OK = 0,
    GM_NOMEM = 1,
    GM_LIMIT = 2,
    GM_ARG = 3,
    GM_REJECTED = 4,
    GM_FORMAT = 5,
    GM_VERSION = 6,
    GM_INTERNAL = 7
} GmStatus;

/* Fill `err` (may be NULL) printf-style and return `status`. */
GmStatus gm_fail(GmError *err, GmStatus status, const char *format, ...);
/* GM_LIMIT with the name of the limit. */
GmStatus gm_fail_limit(GmError *err, const char *limit, const char *format, ...);

#define GM_TRY(expr)                        \
    do {                                    \
        GmStatus gm_try_status_ = (expr);   \
        if (gm_try_status_ != GM_OK) {      \
            return gm_try_status_;          \
        }                                   \
    } while (0)

#define GM_CHECK(cond, err)                                                                            \
    do {                                                                                               \
        if (!(cond)) {                                                                                 \
            return gm_fail((err), GM_INTERNAL, "broken invariant at %s:%d: %s", __FILE__, __LINE__, #cond); \
        }                                                                                              \
    } while (0)

#endif
