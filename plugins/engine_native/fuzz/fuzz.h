/* fuzz: what targets share. A target is a file with one property and the function below; it is built alone
 * with a fuzzing compiler (clang -fsanitize=fuzzer,address), or with replay_main.c, which runs a corpus on any
 * compiler. Inputs are any bytes: `Input` deals them out, zeros when they run out. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The entry that fuzzing engines call; 0. A broken property aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                     \
    do {                                                                     \
        if (!(cond)) {                                                       \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                         \
        }                                                                    \
    } while (0)

typedef struct Input {
    const uint8_t *at, *end;
} Input;

static inline uint32_t fuzz_byte(Input *in) { return in->at < in->end ? *in->at++ : 0; }

/* A number that is small as a rule: one byte, signed; 127 announces four bytes. */
static inline int32_t fuzz_number(Input *in)
{
    uint32_t b = fuzz_byte(in);
    if (b != 127) {
        return b < 128 ? (int32_t)b : (int32_t)b - 256;
    }
    uint32_t x = 0;
    for (uint32_t i = 0; i < 4; i++) {
        x = x << 8 | fuzz_byte(in);
    }
    return (int32_t)x;
}

#endif
