import { writeSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { FlushError } from './flush-error.ts'
import { recordsAre } from './untold.ts'

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
  /**
   * Records that are not acknowledged yet, and are lost with the process unless somebody takes them after its end.
   * Default: none.
   */
  pendingRecords?(): number
  /** What was dropped and nobody was told of, as a sentence; empty if nothing was. Default: it does not say. */
  lost?(): string
}

/** Everything that is open, with the records that it had when the loop was last empty. */
const open = new Map<Leaver, number>()

/**
 * Waiting brings no further waiting after so long: meanwhile metrics go on being sampled, and there would be no end.
 * Unit: milliseconds.
 */
const AGAIN_MS = 1000

/** What was waited for in vain. */
const gaveUp = new Set<Leaver>()

/**
 * When the loop was first empty of the times that follow one another, and when the last waiting was over. Unit:
 * milliseconds of the process.
 */
let firstEmptyMs = 0
let waitedUntilMs = Number.NEGATIVE_INFINITY

/** What could not be kept while the loop was empty: it is told once, at the very end. */
const faults = new Set<string>()

/**
 * Hands records over when the process ends: where the loop is empty, it stays until they are acknowledged; at
 * `process.exit` there is time to write, but none to wait. A signal that nobody takes ends a process without either.
 */
export function watchExit(leaver: Leaver): void {
  if (open.size === 0) process.on('beforeExit', flushAll).on('exit', emitAll)
  open.set(leaver, 0)
}

/** No longer open. */
export function forgetExit(leaver: Leaver): void {
  open.delete(leaver)
  gaveUp.delete(leaver)
  if (open.size === 0) process.off('beforeExit', flushAll).off('exit', emitAll)
}

/**
 * Node asks again once the waiting is over: only what has something new waits again, unless it was in vain or took
 * long.
 */
function flushAll(): void {
  const nowMs = performance.now()
  // The program went on by itself since.
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
  // One that begins to watch meanwhile, since it is handed its first records now, comes along.
  for (const leaver of open.keys()) leaver.emit?.()
  for (const leaver of open.keys()) leaver.finish?.()
  tellLost()
}

/** Says in one line what may be lost. Warnings of the process come a turn later, which there is none of any more. */
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
  // A schema repeats what its sink says.
  const reasons = [...faults].filter((fault) => ![...faults].some((other) => other !== fault && other.includes(fault)))
  const line = `(node:${process.pid}) [TEL_LOST] Warning: ${[...records, ...reasons].join('; ').replaceAll('\n', ' ')}\n`
  try {
    writeSync(2, line)
  } catch {
    // Nobody reads what the process says any more, and there is no other place to say it.
  }
}
