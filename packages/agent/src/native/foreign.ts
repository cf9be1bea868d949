import koffi from 'koffi'

/**
 * Calls on the thread pool whose memory is kept. Each holds its memory until its result was taken, which is later than
 * its thread is free, so there are more of them than threads; memory of further calls is mapped and unmapped each time.
 */
const KEPT_CALLS = 32

// Refused once a library is loaded, so all bindings take koffi from here.
koffi.config({ resident_async_pools: KEPT_CALLS })

export { default } from 'koffi'
