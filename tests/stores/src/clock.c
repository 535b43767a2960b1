/* The clocks of a real server, as they are told: put before its libraries (LD_PRELOAD), this answers every question for the
 * time of day with the microseconds since 1970 that the file TENURE_CLOCK holds. A second number there, other than 0, is what
 * the clock shows that never jumps; without it that one runs as always, so that timers and timeouts do. With it a thread that
 * waits for a time looks every few milliseconds whether it has come: to wake too early is allowed to every such wait. The
 * thread that TENURE_SLEEPER names sees time pass while it waits alone: told another time between looking how long to sleep
 * and falling asleep, it would sleep too long. Nothing is allocated: an allocator may ask for the time while it begins. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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
    void *at = mmap(NULL, 2 * sizeof *page, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return NULL;
    return page = at;
}

/* The longest that a wait lasts where the time is told. */
#define LOOK 4000000L

/* What a clock is told to show, in microseconds; NULL when it runs as always. */
static volatile const int64_t *told_to(clockid_t clock) {
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return told();
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE) return NULL;
    volatile const int64_t *at = told();
    return at && at[1] ? at + 1 : NULL;
}

/* What the sleeper saw of the clock that never jumps when it waited last; 0 in any other thread. */
static __thread int64_t seen;

static void look(void) {
    const char *sleeper = getenv("TENURE_SLEEPER");
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    if (sleeper && !strcmp(sleeper, name)) seen = told()[1];
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    volatile const int64_t *at = told_to(clock);
    if (!at) return (int)syscall(SYS_clock_gettime, clock, now);
    int64_t micros = seen && at == told() + 1 ? seen : *at;
    now->tv_sec = micros / 1000000;
    now->tv_nsec = micros % 1000000 * 1000;
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!wait) wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    if (!told_to(CLOCK_MONOTONIC)) return wait(cond, mutex, until);
    /* A condition does not say which clock it is waited for by, but only one of them shows so many seconds. */
    clockid_t clock = until->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    struct timespec now, at;
    clock_gettime(clock, &now);
    int64_t left = (until->tv_sec - now.tv_sec) * 1000000000LL + until->tv_nsec - now.tv_nsec;
    if (left < 0) left = 0;
    if (left > LOOK) left = LOOK;
    syscall(SYS_clock_gettime, clock, &at);
    at.tv_nsec += left;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    int woken = wait(cond, mutex, &at);
    look();
    return woken;
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
