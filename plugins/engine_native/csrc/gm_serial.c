#include "gm_serial.h"

#include <string.h>

void gm_write_deinit(GmWriter *w) { GM_VEC_FREE(w->mem, w->out); }

GmStatus gm_write_number(GmWriter *w, uint32_t value, GmError *err)
{
    GM_RESERVE(w->mem, w->out, (size_t)w->out.len + 5);
    while (value >= 0x80) {
        w->out.data[w->out.len++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    w->out.data[w->out.len++] = (uint8_t)value;
    return GM_OK;
}

GmStatus gm_write_bytes(GmWriter *w, const void *data, size_t n, GmError *err)
{
    GM_RESERVE(w->mem, w->out, (size_t)w->out.len + n);
    if (n > 0) {
        memcpy(w->out.data + w->out.len, data, n);
    }
    w->out.len += (uint32_t)n; /* the reservation has checked it */
    return GM_OK;
}

GmStatus gm_write_list(GmWriter *w, const uint32_t *list, uint32_t n, GmError *err)
{
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(gm_write_number(w, i == 0 ? list[0] : list[i] - list[i - 1] - 1, err));
    }
    return GM_OK;
}

GmStatus gm_read_number(GmReader *r, uint32_t most, uint32_t *out, GmError *err)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
        if (r->at == r->end) {
            return gm_read_bad(err);
        }
        uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (value > most || (byte == 0 && shift > 0)) { /* one form for each number */
                return gm_read_bad(err);
            }
            *out = (uint32_t)value;
            return GM_OK;
        }
    }
    return gm_read_bad(err);
}

GmStatus gm_read_count(GmReader *r, uint32_t *out, GmError *err)
{
    GM_TRY(gm_read_number(r, UINT32_MAX - 1, out, err));
    return *out <= (size_t)(r->end - r->at) ? GM_OK : gm_read_bad(err);
}

GmStatus gm_read_list(GmReader *r, uint32_t n, uint32_t end, uint32_t *out, GmError *err)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t more;
        if (least >= end) {
            return gm_read_bad(err);
        }
        GM_TRY(gm_read_number(r, end - 1 - least, &more, err));
        out[i] = least + more;
        least = out[i] + 1;
    }
    return GM_OK;
}

GmStatus gm_read_bytes(GmReader *r, size_t n, const uint8_t **out, GmError *err)
{
    if (n > (size_t)(r->end - r->at)) {
        return gm_read_bad(err);
    }
    *out = r->at;
    r->at += n;
    return GM_OK;
}
