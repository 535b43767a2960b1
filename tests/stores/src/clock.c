/* The wall clock of a real server, as it is told: put before its libraries (LD_PRELOAD), this answers every question for the
 * time of day with the microseconds since 1970 that the file TENURE_CLOCK holds. All other clocks run as always, so that
 * timers and timeouts do. It allocates nothing: an allocator may ask for the time while it begins. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *told(void) {
    static volatile const int64_t *page;
    if (page) return page;
    const char *path = getenv("TENURE_CLOCK");
    if (!path) return NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    void *at = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return NULL;
    return page = at;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    volatile const int64_t *at = NULL;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) at = told();
    if (!at) return (int)syscall(SYS_clock_gettime, clock, now);
    int64_t micros = *at;
    now->tv_sec = micros / 1000000;
    now->tv_nsec = micros % 1000000 * 1000;
    return 0;
}

int gettimeofday(struct timeval *now, void *zone) {
    (void)zone;
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
