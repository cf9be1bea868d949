import type { Browser, Page } from 'playwright-core'
import { type Figure, median } from '../bench.ts'
import { APP, SERVICES } from '../dashboard-api/load.ts'
import { type FirstDrawing, firstDrawing, watchDrawings } from './drawings.ts'
import { tasksOfNavigation } from './trace.ts'

/** A day in steps of 300 s. */
const POINT_COUNT = 288
const ADDRESS = `/apps/${APP}/gpu?range=24h&view=lines`

/** The first chart of the page of an app. */
export interface AppRound extends FirstDrawing {
  /** Time of the main thread from the end of the answer to the painted chart. Unit: milliseconds. */
  readonly cpuMs: number
}

/** Opens the page of an app in a fresh context, up to its first chart. */
export async function measureApp(browser: Browser, address: string): Promise<AppRound> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    await watchDrawings(page)
    return await open(browser, page, address)
  } finally {
    await context.close()
  }
}

async function open(browser: Browser, page: Page, address: string): Promise<AppRound> {
  let first: FirstDrawing | undefined
  const tasks = await tasksOfNavigation(browser, page, async () => {
    await page.goto(`${address}${ADDRESS}`)
    // Charts are drawn where they are seen, and cards stand above them.
    await page.locator('.app-charts').first().scrollIntoViewIfNeeded()
    first = await firstDrawing(page)
  })
  if (first === undefined) throw new Error('nothing was drawn')
  const { answeredMs, sinceNavigationMs } = first
  const between = tasks.filter(({ startMs, wallMs }) => startMs + wallMs > answeredMs && startMs < sinceNavigationMs)
  return { ...first, cpuMs: between.reduce((sum, { cpuMs }) => sum + cpuMs, 0) }
}

/** Figures of some rounds of {@link measureApp}. */
export function appFigures(rounds: readonly AppRound[]): Figure[] {
  const figure = (name: string, value: number): Figure => ({
    name: `app page, ${SERVICES} services × ${POINT_COUNT} points: ${name}`,
    value,
    unit: 'ms',
  })
  const main = median(rounds.map(({ cpuMs }) => cpuMs))
  const clock = median(rounds.map(({ answerMs, sinceAnswerMs }) => answerMs + sinceAnswerMs))
  return [
    figure('first chart, main thread', main),
    figure('first chart, by the clock, with its answer', clock),
    figure('question to answer', median(rounds.map(({ answerMs }) => answerMs))),
  ]
}
