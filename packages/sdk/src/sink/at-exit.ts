import { writeSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { FlushError } from './flush-error.ts'
import { recordsAre } from './unreported-drops.ts'

/** A component with records to save when the process ends. */
export interface Leaver {
  /** Passes all buffered records on, at once. Default: it buffers none. */
  emit?(): void
  /** Saves the passed records, as its last action. Default: they are saved at once. */
  finish?(): void
  /** Records passed on so far. */
  readonly records: number
  /** Resolves when the passed records are acknowledged. */
  acknowledged(): Promise<void>
  /**
   * Records that are not acknowledged yet. They are lost with the process unless the service reads them after its end.
   * Default: none.
   */
  pendingRecords?(): number
  /** A sentence about drops that were not reported; empty if there are none. Default: no sentence. */
  lost?(): string
}

/** All open components, with their number of records when the loop was last empty. */
const open = new Map<Leaver, number>()

/** After this time the process waits no more, because metrics are sampled meanwhile. Unit: milliseconds. */
const AGAIN_MS = 1000

/** Components whose records were not acknowledged in time. */
const gaveUp = new Set<Leaver>()

/**
 * When the loop became empty for the first time, and when the last wait ended. Unit: milliseconds since the start of
 * the process.
 */
let firstEmptyMs = 0
let waitedUntilMs = Number.NEGATIVE_INFINITY

/** Losses that were found while the loop was empty; printed once, at the end. */
const faults = new Set<string>()

/**
 * Saves records when the process ends. If the event loop is empty, the process waits until they are acknowledged. At
 * `process.exit` it can write, but not wait. A signal without a handler ends the process at once.
 */
export function watchExit(leaver: Leaver): void {
  if (open.size === 0) process.on('beforeExit', flushAll).on('exit', emitAll)
  open.set(leaver, 0)
}

/** The component is closed. */
export function forgetExit(leaver: Leaver): void {
  open.delete(leaver)
  gaveUp.delete(leaver)
  if (open.size === 0) process.off('beforeExit', flushAll).off('exit', emitAll)
}

/**
 * Node emits `beforeExit` again after the wait. Then only components with new records are waited for, unless the first
 * wait failed or took long.
 */
function flushAll(): void {
  const nowMs = performance.now()
  // The program has continued since then.
  if (nowMs - waitedUntilMs > AGAIN_MS) {
    firstEmptyMs = nowMs
    gaveUp.clear()
  }
  for (const leaver of open.keys()) leaver.emit?.()
  for (const [leaver, records] of open) {
    if (leaver.records === records || gaveUp.has(leaver) || nowMs - firstEmptyMs > AGAIN_MS) continue
    open.set(leaver, leaver.records)
    void waitFor(leaver)
  }
}

async function waitFor(leaver: Leaver): Promise<void> {
  try {
    await leaver.acknowledged()
  } catch (error) {
    const isHidden = error instanceof FlushError && error.hidden > 0 && error.lost + error.pending === 0
    if (!isHidden) {
      gaveUp.add(leaver)
      faults.add(messageOf(error))
    }
  }
  waitedUntilMs = performance.now()
}

function emitAll(): void {
  // Includes components that register meanwhile, because they receive their first records now.
  for (const leaver of open.keys()) leaver.emit?.()
  for (const leaver of open.keys()) leaver.finish?.()
  tellLost()
}

/** Prints one line about losses. A warning of the process would need another turn of the loop, and there is none. */
function tellLost(): void {
  let pending = 0
  for (const leaver of open.keys()) {
    pending += leaver.pendingRecords?.() ?? 0
    const lost = leaver.lost?.() ?? ''
    if (lost !== '') faults.add(lost)
  }
  if (pending === 0 && faults.size === 0) return
  const advice = 'await schema.close() before the process ends'
  const records = pending === 0 ? [] : [`${recordsAre(pending)} not acknowledged and may be lost; ${advice}`]
  // A schema repeats the sentence of its sink.
  const reasons = [...faults].filter((fault) => ![...faults].some((other) => other !== fault && other.includes(fault)))
  const line = `(node:${process.pid}) [TEL_LOST] Warning: ${[...records, ...reasons].join('; ').replaceAll('\n', ' ')}\n`
  try {
    writeSync(2, line)
  } catch {
    // stderr is closed, and there is no other output.
  }
}
