/** A call of a library that takes longer, once everything is written, is not waited for. Unit: milliseconds. */
const CALLS_LIMIT_MS = 2000

/**
 * Ends the process with an exit code where a call of a vendor's library does not come back. A process without such a
 * call ends by itself before that.
 */
export function endDespiteCalls(code: number): void {
  setTimeout(async () => {
    const { exitNow } = await import('../../native/exit-now.ts')
    exitNow(code)
  }, CALLS_LIMIT_MS).unref()
}
