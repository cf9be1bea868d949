import { messageOf } from '../errors.ts'

/** What has records to hand over when the process ends. */
export interface Leaver {
  /** Hands everything over at once. Default: it buffers nothing. */
  emit?(): void
  /** Brings what was handed over to where it is safe: it is the last that it does. Default: it was at once. */
  finish?(): void
  /** Records handed over so far. */
  readonly records: number
  /** Resolves once what was handed over is acknowledged. */
  acknowledged(): Promise<void>
}

/** Everything that is open, with the records that it had when the loop was last empty. */
const open = new Map<Leaver, number>()

/**
 * Hands records over when the process ends: where the loop is empty, it stays until they are acknowledged; at `process.exit` there is time to write, but
 * none to wait. A signal that nobody takes ends a process without either.
 */
export function watchExit(leaver: Leaver): void {
  if (open.size === 0) process.on('beforeExit', flushAll).on('exit', emitAll)
  open.set(leaver, 0)
}

/** No longer open. */
export function forgetExit(leaver: Leaver): void {
  open.delete(leaver)
  if (open.size === 0) process.off('beforeExit', flushAll).off('exit', emitAll)
}

/** Node asks again once the waiting is over: only what has something new waits again. */
function flushAll(): void {
  for (const [leaver, records] of open) {
    leaver.emit?.()
    if (leaver.records === records) continue
    open.set(leaver, leaver.records)
    leaver.acknowledged().catch((error: unknown) => {
      process.emitWarning(`Not everything was kept at the end: ${messageOf(error)}`, { code: 'TEL_LOST' })
    })
  }
}

function emitAll(): void {
  // One that begins to watch meanwhile, since it is handed its first records now, comes along.
  for (const leaver of open.keys()) leaver.emit?.()
  for (const leaver of open.keys()) leaver.finish?.()
}
