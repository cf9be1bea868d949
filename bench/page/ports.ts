import type { Browser, Page } from 'playwright-core'
import { type Figure, median } from '../bench.ts'
import { drawingCount, watchDrawings } from './drawings.ts'
import { type Task, tasksDuring } from './trace.ts'

/** Adapters of the fabric page. */
export const PORT_COUNT = 16
/** Distance of two samples. Unit: milliseconds. */
export const PORT_STEP_MS = 100
const ADDRESS = `/fabric?range=30s&step=${PORT_STEP_MS}ms`
const LIVE_MS = 10_000
/** Time in which the window is filled and everything is compiled. Unit: milliseconds. */
const SETTLE_MS = 4_000

/** The fabric page while it is live. */
export interface PortsRound {
  /** Every task of the main thread. */
  readonly tasks: readonly Task[]
  /** Charts, and frames in which something was drawn, a second. */
  readonly chartCount: number
  readonly framesPerSecond: number
  /** Time of the main thread of each second. Unit: milliseconds. */
  readonly busyMsPerSecond: number
}

/** Opens the fabric page in a fresh context and watches ten seconds of it. */
export async function measurePorts(browser: Browser, address: string): Promise<PortsRound> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    await watchDrawings(page)
    await page.goto(address + ADDRESS)
    await page.getByRole('group', { name: /^PCIe errors.*\d/ }).waitFor()
    await page.waitForTimeout(SETTLE_MS)
    return await watch(browser, page)
  } finally {
    await context.close()
  }
}

async function watch(browser: Browser, page: Page): Promise<PortsRound> {
  const chartCount = await page.locator('.chart canvas').count()
  const before = await drawingCount(page)
  const tasks = await tasksDuring(browser, page, () => page.waitForTimeout(LIVE_MS))
  const frames = (await drawingCount(page)) - before
  const busyMs = tasks.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  return {
    tasks,
    chartCount,
    framesPerSecond: (frames / LIVE_MS) * 1_000,
    busyMsPerSecond: (busyMs / LIVE_MS) * 1_000,
  }
}

/** Figures of some rounds of {@link measurePorts}. */
export function portFigures(rounds: readonly PortsRound[]): Figure[] {
  const tasks = rounds.flatMap((round) => round.tasks)
  const longest = Math.max(...tasks.map(({ cpuMs }) => cpuMs))
  const middle = median(rounds.map((round) => Math.max(...round.tasks.map(({ cpuMs }) => cpuMs))))
  const figure = (name: string, value: number, unit: string): Figure => ({
    name: `fabric page, ${PORT_COUNT} ports at 10 Hz: ${name}`,
    value,
    unit,
  })
  return [
    figure('longest task', longest, 'ms'),
    figure('longest task, median of rounds', middle, 'ms'),
    figure('longest task, by the clock', Math.max(...tasks.map(({ wallMs }) => wallMs)), 'ms'),
    figure('main thread of a second', median(rounds.map((round) => round.busyMsPerSecond)), 'ms'),
    figure('frames drawn a second', median(rounds.map((round) => round.framesPerSecond)), ''),
  ]
}

/** Notes under the figures. */
export function portLines(rounds: readonly PortsRound[]): string[] {
  return [
    `Fabric page: ${PORT_COUNT} ports × ${rounds[0]?.chartCount ?? 0} charts and a table, a window of 30 s with a step of ${PORT_STEP_MS} ms,`,
    `fed through the router of a whole \`sonde up\`; ${LIVE_MS / 1_000} s of it in each round.`,
  ]
}
