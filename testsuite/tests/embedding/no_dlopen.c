/* Linked into a host that must load nothing: the loader is not there. */
#include <stdlib.h>

void *dlopen(const char *file, int mode);

void *dlopen(const char *file, int mode) {
    (void)file, (void)mode;
    abort();
}
