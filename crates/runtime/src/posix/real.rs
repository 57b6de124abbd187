//! libc's own functions, for code that is not under control.

use selvedge_protocol::words::Complaint;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where libc's function of that name is, which ends with a zero byte.
pub fn find(cache: &AtomicUsize, name: &'static str) -> usize {
    let known = cache.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: the name ends with a zero byte.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) } as usize;
    if found == 0 {
        crate::sys::give_up(&Complaint::NoFunction(name.trim_end_matches('\0')), 127);
    }
    cache.store(found, Ordering::Relaxed);
    found
}

macro_rules! real {
    ($abi:literal $($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => { $(
        #[doc = concat!("libc's `", stringify!($name), "`.")]
        #[allow(non_snake_case)]
        pub fn $name() -> unsafe extern $abi fn($($argument),*) $(-> $result)? {
            static CACHE: AtomicUsize = AtomicUsize::new(0);
            let found = find(&CACHE, concat!(stringify!($name), "\0"));
            // SAFETY: libc's function of that name has that type.
            unsafe { std::mem::transmute::<usize, unsafe extern $abi fn($($argument),*) $(-> $result)?>(found) }
        }
    )* };
}

type P = *mut c_void;
type Start = unsafe extern "C" fn(P) -> P;
type Attributes = *const libc::pthread_attr_t;
type Key = Option<unsafe extern "C" fn(P)>;

real! { "C"
    pthread_create: fn(*mut libc::pthread_t, Attributes, Start, P) -> c_int;
    pthread_join: fn(libc::pthread_t, *mut P) -> c_int;
    pthread_tryjoin_np: fn(libc::pthread_t, *mut P) -> c_int;
    pthread_timedjoin_np: fn(libc::pthread_t, *mut P, P) -> c_int;
    pthread_detach: fn(libc::pthread_t) -> c_int;
    pthread_exit: fn(P);
    _ZN9__gnu_cxx27__verbose_terminate_handlerEv: fn();
    __pthread_register_cancel: fn(P);
    __pthread_unregister_cancel: fn(P);
    __pthread_unwind_next: fn(P);
    pthread_cancel: fn(libc::pthread_t) -> c_int;
    pthread_getattr_np: fn(libc::pthread_t, *mut libc::pthread_attr_t) -> c_int;
    pthread_mutex_init: fn(P, P) -> c_int;
    pthread_mutex_destroy: fn(P) -> c_int;
    pthread_mutex_lock: fn(P) -> c_int;
    pthread_mutex_trylock: fn(P) -> c_int;
    pthread_mutex_timedlock: fn(P, P) -> c_int;
    pthread_mutex_clocklock: fn(P, c_int, P) -> c_int;
    pthread_mutex_unlock: fn(P) -> c_int;
    pthread_rwlock_init: fn(P, P) -> c_int;
    pthread_rwlock_destroy: fn(P) -> c_int;
    pthread_rwlock_rdlock: fn(P) -> c_int;
    pthread_rwlock_wrlock: fn(P) -> c_int;
    pthread_rwlock_tryrdlock: fn(P) -> c_int;
    pthread_rwlock_trywrlock: fn(P) -> c_int;
    pthread_rwlock_timedrdlock: fn(P, P) -> c_int;
    pthread_rwlock_timedwrlock: fn(P, P) -> c_int;
    pthread_rwlock_unlock: fn(P) -> c_int;
    pthread_cond_init: fn(P, P) -> c_int;
    pthread_cond_destroy: fn(P) -> c_int;
    pthread_cond_wait: fn(P, P) -> c_int;
    pthread_cond_timedwait: fn(P, P, P) -> c_int;
    pthread_cond_clockwait: fn(P, P, c_int, P) -> c_int;
    pthread_cond_signal: fn(P) -> c_int;
    pthread_cond_broadcast: fn(P) -> c_int;
    pthread_barrier_init: fn(P, P, u32) -> c_int;
    pthread_barrier_destroy: fn(P) -> c_int;
    pthread_barrier_wait: fn(P) -> c_int;
    __cxa_atexit: fn(P, P, P) -> c_int;
    __cxa_at_quick_exit: fn(P, P) -> c_int;
    on_exit: fn(P, P) -> c_int;
    __cxa_guard_acquire: fn(P) -> c_int;
    __cxa_guard_release: fn(P);
    __cxa_guard_abort: fn(P);
    __cxa_get_globals: fn() -> P;
    _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv: fn(P);
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE: fn(P, *mut u32, u32, bool, i64, i64) -> bool;
    _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE: fn(P, *mut u32, u32, bool, i64, i64) -> bool;
    _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj: fn(*mut u32);
    _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv: fn(P);
    _ZNSt8__detail15_List_node_base7_M_hookEPS0_: fn(P, P);
    _ZNSt8__detail15_List_node_base9_M_unhookEv: fn(P);
    _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_: fn(P, P, P);
    _ZNSt8__detail15_List_node_base10_M_reverseEv: fn(P);
    _ZNSt8__detail15_List_node_base4swapERS0_S1_: fn(P, P);
    _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base: fn(P) -> P;
    _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base: fn(P) -> P;
    _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_: fn(bool, P, P, P);
    _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_: fn(P, P) -> P;
    pthread_spin_init: fn(P, c_int) -> c_int;
    pthread_spin_destroy: fn(P) -> c_int;
    pthread_spin_lock: fn(P) -> c_int;
    pthread_spin_trylock: fn(P) -> c_int;
    pthread_spin_unlock: fn(P) -> c_int;
    pthread_key_create: fn(*mut u32, Key) -> c_int;
    pthread_key_delete: fn(u32) -> c_int;
    pthread_setspecific: fn(u32, *const c_void) -> c_int;
    pthread_getspecific: fn(u32) -> P;
    __cxa_thread_atexit_impl: fn(unsafe extern "C" fn(P), P, P) -> c_int;
    sem_wait: fn(P) -> c_int;
    sem_trywait: fn(P) -> c_int;
    sem_timedwait: fn(P, P) -> c_int;
    sem_clockwait: fn(P, c_int, P) -> c_int;
    sem_post: fn(P) -> c_int;
    sem_destroy: fn(P) -> c_int;
    sem_init: fn(P, c_int, u32) -> c_int;
    sem_getvalue: fn(P, P) -> c_int;
    usleep: fn(u32) -> c_int;
    sleep: fn(u32) -> u32;
    nanosleep: fn(P, P) -> c_int;
    clock_nanosleep: fn(c_int, c_int, P, P) -> c_int;
    clock_gettime: fn(c_int, P) -> c_int;
    gettimeofday: fn(P, P) -> c_int;
    time: fn(*mut i64) -> i64;
    rand: fn() -> c_int;
    _ZNSt13random_device9_M_getvalEv: fn(P) -> u32;
    random: fn() -> i64;
    lrand48: fn() -> i64;
    timespec_get: fn(P, c_int) -> c_int;
    clock: fn() -> i64;
    pthread_clockjoin_np: fn(libc::pthread_t, *mut P, c_int, P) -> c_int;
    pthread_rwlock_clockrdlock: fn(P, c_int, P) -> c_int;
    pthread_rwlock_clockwrlock: fn(P, c_int, P) -> c_int;
    mrand48: fn() -> i64;
    drand48: fn() -> f64;
    exit: fn(c_int);
    sigprocmask: fn(c_int, P, P) -> c_int;
    pthread_sigmask: fn(c_int, P, P) -> c_int;
    thrd_create: fn(P, P, P) -> c_int;
    thrd_join: fn(libc::pthread_t, *mut c_int) -> c_int;
    thrd_detach: fn(libc::pthread_t) -> c_int;
    thrd_sleep: fn(P, P) -> c_int;
    thrd_yield: fn();
    thrd_exit: fn(c_int);
    mtx_init: fn(P, c_int) -> c_int;
    mtx_destroy: fn(P);
    cnd_init: fn(P) -> c_int;
    cnd_destroy: fn(P);
    mtx_lock: fn(P) -> c_int;
    mtx_trylock: fn(P) -> c_int;
    mtx_timedlock: fn(P, P) -> c_int;
    mtx_unlock: fn(P) -> c_int;
    cnd_signal: fn(P) -> c_int;
    cnd_broadcast: fn(P) -> c_int;
    cnd_wait: fn(P, P) -> c_int;
    cnd_timedwait: fn(P, P, P) -> c_int;
    pipe: fn(*mut c_int) -> c_int;
    pipe2: fn(*mut c_int, c_int) -> c_int;
    socketpair: fn(c_int, c_int, c_int, *mut c_int) -> c_int;
    eventfd: fn(u32, c_int) -> c_int;
    timerfd_create: fn(c_int, c_int) -> c_int;
    epoll_create: fn(c_int) -> c_int;
    epoll_create1: fn(c_int) -> c_int;
    close: fn(c_int) -> c_int;
    dup: fn(c_int) -> c_int;
    fcntl: fn(c_int, c_int, usize) -> c_int;
    ioctl: fn(c_int, u64, usize) -> c_int;
    shutdown: fn(c_int, c_int) -> c_int;
    setsockopt: fn(c_int, c_int, c_int, P, u32) -> c_int;
    read: fn(c_int, P, usize) -> isize;
    write: fn(c_int, *const c_void, usize) -> isize;
    readv: fn(c_int, *const libc::iovec, c_int) -> isize;
    writev: fn(c_int, *const libc::iovec, c_int) -> isize;
    send: fn(c_int, *const c_void, usize, c_int) -> isize;
    recv: fn(c_int, P, usize, c_int) -> isize;
    __read_chk: fn(c_int, P, usize, usize) -> isize;
    __recv_chk: fn(c_int, P, usize, usize, c_int) -> isize;
    sendto: fn(c_int, *const c_void, usize, c_int, *const libc::sockaddr, u32) -> isize;
    recvfrom: fn(c_int, P, usize, c_int, *mut libc::sockaddr, *mut u32) -> isize;
    sendmsg: fn(c_int, *const libc::msghdr, c_int) -> isize;
    recvmsg: fn(c_int, *mut libc::msghdr, c_int) -> isize;
    eventfd_read: fn(c_int, *mut u64) -> c_int;
    eventfd_write: fn(c_int, u64) -> c_int;
    timerfd_settime: fn(c_int, c_int, *const libc::itimerspec, *mut libc::itimerspec) -> c_int;
    timerfd_gettime: fn(c_int, *mut libc::itimerspec) -> c_int;
    epoll_ctl: fn(c_int, c_int, c_int, *mut libc::epoll_event) -> c_int;
    epoll_wait: fn(c_int, *mut libc::epoll_event, c_int, c_int) -> c_int;
    epoll_pwait: fn(c_int, *mut libc::epoll_event, c_int, c_int, *const c_void) -> c_int;
    epoll_pwait2: fn(c_int, *mut libc::epoll_event, c_int, *const libc::timespec, *const c_void) -> c_int;
    poll: fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int;
    ppoll: fn(*mut libc::pollfd, libc::nfds_t, *const libc::timespec, *const c_void) -> c_int;
    select: fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *mut libc::timeval) -> c_int;
    pselect: fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *const libc::timespec, *const c_void) -> c_int;
    __libc_start_main: fn(P, c_int, P, P, P, P, P) -> c_int;
}

type Body = unsafe extern "C-unwind" fn();

// An exception may come out of these.
real! { "C-unwind"
    pthread_once: fn(P, Body) -> c_int;
    call_once: fn(P, Body);
    __cxa_end_catch: fn();
}
