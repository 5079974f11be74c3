#include "gm_status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void status_write(GmError *err, GmStatus status, const char *limit, const char *format, va_list args)
{
    if (err == NULL) {
        return;
    }
    err->status = (int32_t)status;
    err->detail = -1;
    (void)snprintf(err->limit, sizeof err->limit, "%s", limit);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
}

GmStatus gm_fail(GmError *err, GmStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_write(err, status, "", format, args);
    va_end(args);
    return status;
}

GmStatus gm_fail_limit(GmError *err, const char *limit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_write(err, GM_LIMIT, limit, format, args);
    va_end(args);
    return GM_LIMIT;
}
