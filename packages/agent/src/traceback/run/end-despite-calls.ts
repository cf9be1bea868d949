/** After everything is written, a library call that takes longer is not awaited. Unit: milliseconds. */
const CALLS_LIMIT_MS = 2000

/**
 * Ends the process with an exit code if a call of a vendor's library does not return. A process without such a call
 * ends earlier by itself.
 */
export function endDespiteCalls(code: number): void {
  setTimeout(async () => {
    const { exitNow } = await import('../../native/exit-now.ts')
    exitNow(code)
  }, CALLS_LIMIT_MS).unref()
}
