import type { Browser, Page } from 'playwright-core'

/** One task of the page's main thread. Times are milliseconds since the Unix epoch. */
export interface Task {
  readonly startMs: number
  /** By the clock. */
  readonly wallMs: number
  /** Time that the thread was on a processor: what other programs take is not in it. */
  readonly cpuMs: number
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Unit: microseconds. */
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
}

const MARK = 'sonde-bench'
const CATEGORIES = ['blink.user_timing', 'disabled-by-default-devtools.timeline', 'toplevel']

/** Every task of the page's main thread while something is done, in their order. */
export async function tasksDuring(browser: Browser, page: Page, work: () => Promise<void>): Promise<Task[]> {
  await browser.startTracing(page, { categories: CATEGORIES })
  const markedMs = await page.evaluate((name) => {
    performance.mark(name)
    return performance.timeOrigin + performance.now()
  }, MARK)
  await work()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const mark = trace.traceEvents.find(({ name }) => name === MARK)
  if (mark === undefined) throw new Error('the trace lacks its mark')
  return trace.traceEvents
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && pid === mark.pid && tid === mark.tid)
    .map(({ ts, dur = 0, tdur = dur }) => ({
      startMs: markedMs + (ts - mark.ts) / 1000,
      wallMs: dur / 1000,
      cpuMs: tdur / 1000,
    }))
    .filter(({ startMs }) => startMs >= markedMs)
    .sort((a, b) => a.startMs - b.startMs)
}
