/* Stands between a process and the C library: the n-th call that changes a file is killed, signalled, or fails.
 *
 * Loaded by LD_PRELOAD. Nothing happens before faults_arm(n, action). An action below 1000 is a signal; 1000 + e is the error e.
 * No space (ENOSPC) stays, as on a full disk: every later call that needs room fails too. Other errors come once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls, at;
static atomic_int action, fired;

void faults_arm(long n, int what) { calls = 0; fired = 0; action = what; at = n; }
long faults_calls(void) { return calls; }
int faults_fired(void) { return fired; }

static int fails(int needs_room) {
    if (at == 0) return 0;
    long n = ++calls;
    int full = action == 1000 + ENOSPC;
    if (n != at && !(fired && full && needs_room)) return 0;
    fired = 1;
    if (action < 1000) { kill(getpid(), action); return 0; }
    errno = action - 1000;
    return 1;
}

static int is_file(int fd) {
    struct stat s;
    int kept = errno;
    int regular = fd > 2 && fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
    errno = kept;
    return regular;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *b, size_t n) { REAL(write); return is_file(fd) && fails(1) ? -1 : real(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { REAL(pwrite); return is_file(fd) && fails(1) ? -1 : real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { REAL(pwrite64); return is_file(fd) && fails(1) ? -1 : real(fd, b, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { REAL(writev); return is_file(fd) && fails(1) ? -1 : real(fd, v, n); }
int ftruncate(int fd, off_t n) { REAL(ftruncate); return is_file(fd) && fails(1) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); return is_file(fd) && fails(1) ? -1 : real(fd, n); }
int fsync(int fd) { REAL(fsync); return is_file(fd) && fails(1) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return is_file(fd) && fails(1) ? -1 : real(fd); }
int mkdir(const char *p, mode_t m) { REAL(mkdir); return fails(1) ? -1 : real(p, m); }
int rename(const char *a, const char *b);
int rename(const char *a, const char *b) { REAL(rename); return fails(1) ? -1 : real(a, b); }
int renameat2(int x, const char *a, int y, const char *b, unsigned f);
int renameat2(int x, const char *a, int y, const char *b, unsigned f) { REAL(renameat2); return fails(1) ? -1 : real(x, a, y, b, f); }
int unlink(const char *p) { REAL(unlink); return fails(0) ? -1 : real(p); }
int unlinkat(int d, const char *p, int f) { REAL(unlinkat); return fails(0) ? -1 : real(d, p, f); }
int rmdir(const char *p) { REAL(rmdir); return fails(0) ? -1 : real(p); }
