/** The processor time of a process up to a moment. Values that the kernel does not report are absent. */
export interface Readings {
  /** By a clock that only rises. Unit: milliseconds. */
  readonly atMs: number
  /** Process that this is about. */
  readonly pid: number
  /** For how long its threads ran, and waited until a processor was free. Unit: milliseconds. */
  readonly threads?: { readonly runMs: number; readonly waitMs: number }
  /** Whether a signal or a debugger holds it. */
  readonly isStopped?: boolean
  /** For how long any task waited for a processor. Unit: milliseconds. */
  readonly pressureMs?: number
  /** For how long its control group was held back by its limit. Unit: milliseconds. */
  readonly throttledMs?: number
}

/** A stretch in which a process was waited for. */
export interface Stretch {
  readonly before: Readings
  readonly after: Readings
  /** By how much timers of the waiting process came late in it. Unit: milliseconds. */
  readonly lateMs: number
}

/**
 * How much of a stretch a process could not use, as it waited for a processor or was stopped. A thread that waits for a
 * device does not count: that is no wait for a processor. Where the kernel keeps no account of its threads, the limit
 * of its control group and then the pressure stand for it. Unit: milliseconds.
 */
export function lostMsOf({ before, after, lateMs }: Stretch): number {
  const elapsedMs = after.atMs - before.atMs
  if (after.isStopped) return elapsedMs
  const waitedMs =
    change(before.threads?.waitMs, after.threads?.waitMs) ??
    change(before.throttledMs, after.throttledMs) ??
    change(before.pressureMs, after.pressureMs) ??
    0
  return Math.min(elapsedMs, Math.max(0, waitedMs, lateMs))
}

/** The shortage of a process in words, with its figures and advice if there is any. */
export function shortageWords({ before, after, lateMs }: Stretch): string {
  const { pid } = after
  if (after.isStopped) return `process ${pid} is stopped, by a signal or a debugger; kill -CONT ${pid} lets it go on`
  const elapsedMs = after.atMs - before.atMs
  const ranMs = change(before.threads?.runMs, after.threads?.runMs)
  const waitedMs = change(before.threads?.waitMs, after.threads?.waitMs)
  const pressureMs = change(before.pressureMs, after.pressureMs)
  const throttledMs = change(before.throttledMs, after.throttledMs) ?? 0
  const of = `of the last ${seconds(elapsedMs)}`
  const facts = [
    pressureMs === undefined ? '' : `pressure ${Math.round((100 * Math.min(pressureMs, elapsedMs)) / elapsedMs)} %`,
    throttledMs < SHOWN_MS ? '' : `its control group was held back by its limit (cpu.max) for ${seconds(throttledMs)}`,
    ranMs === undefined || waitedMs === undefined
      ? ''
      : `process ${pid} ran ${seconds(ranMs)} and waited ${seconds(Math.min(waitedMs, elapsedMs))} ${of}`,
    lateMs < SHOWN_MS ? '' : `timers of Sonde came ${seconds(lateMs)} late`,
  ]
  return `waits for a processor: ${facts.filter(Boolean).join(', ')}`
}

/** What to do where a processor is lacking, for whatever reason. */
export const SHORTAGE_FIX =
  'no device is at fault: give this machine, or the container of Sonde, more processor time (top shows what takes it), or do what the reason names'

/** A shorter time is not told. Unit: milliseconds. */
const SHOWN_MS = 50

/** By how much a count grew; undefined if it is not kept. */
function change(before: number | undefined, after: number | undefined): number | undefined {
  // A thread that ended takes its times along.
  return before === undefined || after === undefined ? undefined : Math.max(0, after - before)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
