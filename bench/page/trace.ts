import type { Browser, Page } from 'playwright-core'

/** One task of the page's main thread. Unit: milliseconds. */
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
  readonly args?: { readonly data?: { readonly documentLoaderURL?: string } }
}

const MARK = 'sonde-bench'
const CATEGORIES = ['blink.user_timing', 'disabled-by-default-devtools.timeline', 'toplevel']

/** Every task of the page's main thread while something is done, in their order. Times are since the Unix epoch. */
export async function tasksDuring(browser: Browser, page: Page, work: () => Promise<void>): Promise<Task[]> {
  let markedMs = 0
  const events = await traceOf(browser, page, async () => {
    markedMs = await page.evaluate((name) => {
      performance.mark(name)
      return performance.timeOrigin + performance.now()
    }, MARK)
    await work()
  })
  return tasksAfter(
    events,
    events.find(({ name }) => name === MARK),
    markedMs,
  )
}

/** Every task of the main thread since a page was opened, in their order. Times are since the navigation. */
export async function tasksOfNavigation(browser: Browser, page: Page, work: () => Promise<void>): Promise<Task[]> {
  const events = await traceOf(browser, page, work)
  const address = page.url()
  return tasksAfter(
    events,
    events.find(({ name, args }) => name === 'navigationStart' && args?.data?.documentLoaderURL === address),
    0,
  )
}

async function traceOf(browser: Browser, page: Page, work: () => Promise<void>): Promise<readonly TraceEvent[]> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await work()
  return (JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }).traceEvents
}

function tasksAfter(events: readonly TraceEvent[], mark: TraceEvent | undefined, markedMs: number): Task[] {
  if (mark === undefined) throw new Error('the trace lacks the event that its times are counted from')
  return events
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && pid === mark.pid && tid === mark.tid)
    .map(({ ts, dur = 0, tdur = dur }) => ({
      startMs: markedMs + (ts - mark.ts) / 1000,
      wallMs: dur / 1000,
      cpuMs: tdur / 1000,
    }))
    .filter(({ startMs }) => startMs >= markedMs)
    .sort((a, b) => a.startMs - b.startMs)
}
