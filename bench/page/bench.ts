// How fast the page draws 100 series of 5 760 points, and how long its main thread is held up while they move.
import type { Browser, Page } from 'playwright-core'
import { setUpWeb } from '../../scripts/setup.mjs'
import { startBrowser } from '../../test/browser/browser.ts'
import { temporaryDir } from '../../test/sonde-process.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { type AppRound, appFigures, measureApp } from './app.ts'
import {
  drawingCount,
  drawnSeconds,
  type FirstDrawing,
  firstDrawing,
  untilDrawnAgain,
  watchDrawings,
} from './drawings.ts'
import { type EventRound, eventFigures, eventLines, LANE_COUNT, measureEvent, SAMPLE_COUNT } from './event.ts'
import { freshPageUs } from './fresh-memory.ts'
import { plainDrawingMs } from './plain.ts'
import { measurePorts, PORT_COUNT, PORT_STEP_MS, type PortsRound, portFigures, portLines } from './ports.ts'
import { serve } from './serve.ts'
import { type Task, tasksDuring, tasksOfNavigation } from './trace.ts'

const SERIES_COUNT = 100
const POINT_COUNT = 5_760
const METRIC = 'bench_power_watts'
const CATALOGUE = `/explore?range=${POINT_COUNT / 60}m&step=1s&view=lines`
const ADDRESS = `/explore?range=${POINT_COUNT / 60}m&sig=last:${METRIC}&step=1s`
/** Long enough for the window to move several times: it does so in whole pixels. */
const UPDATE_COUNT = 12
const PAN_COUNT = 10

/** Times a plain drawing of as many points, which takes more or less on another machine, as the page does. */
const LIMITS = { first: 0.6, redraw: 0.15, pan: 0.3, ports: 0.15, app: 0.3 }

/** The first drawing, and the time of the main thread from the answer to it. */
interface Opening extends FirstDrawing {
  readonly cpuMs: number
}

/** The main thread in a second of the wall clock, and whether the chart was drawn in it. */
interface Second {
  readonly cpuMs: number
  readonly wallMs: number
  readonly isDrawn: boolean
}

/** What one round measured. */
interface Round {
  /** The peer: see `plain.ts`. Unit: milliseconds. */
  readonly plainMs: number
  readonly lines: Opening
  readonly herd: Opening
  /** From the click on a metric of the catalogue to its painted chart. Unit: milliseconds. */
  readonly clickMs: number
  /** Main thread of each second while the page is live. */
  readonly updates: readonly Second[]
  /** Longest task while the window is moved. */
  readonly panTask: Task
}

/**
 * Each round opens the page anew, with nothing compiled or cached: drawn as lines, as a herd, kept live, and panned.
 */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const pageUs = freshPageUs()
  const data = temporaryDir()
  const browser = await startBrowser()
  /** Runs the rounds against a server of its own. */
  const against = async <T>(main: string, args: readonly unknown[], measure: (address: string) => Promise<T>) => {
    const { address, stop } = await serve(main, [`${data.path}/${main}.db`, ...args.map(String)])
    try {
      const measured: T[] = []
      for (let round = 0; round < rounds; round++) measured.push(await measure(address))
      return measured
    } finally {
      await stop()
    }
  }
  try {
    const explorer = await against('server-main.ts', [SERIES_COUNT, POINT_COUNT], (address) =>
      measureRound(browser, address),
    )
    const ports = await against('ports-main.ts', [PORT_COUNT, PORT_STEP_MS], (address) =>
      measurePorts(browser, address),
    )
    const events: readonly EventRound[] = await against('event-main.ts', [LANE_COUNT, SAMPLE_COUNT], (address) =>
      measureEvent(browser, address),
    )
    const apps = await against('app-main.ts', [], (address) => measureApp(browser, address))
    return {
      figures: [
        ...ratiosOf(explorer, ports, apps),
        ...figuresOf(explorer),
        ...portFigures(ports),
        ...eventFigures(
          events,
          explorer.map(({ panTask }) => panTask),
        ),
        ...appFigures(apps),
      ],
      lines: [...linesOf(browser, explorer, pageUs), ...portLines(ports), ...eventLines()],
    }
  } finally {
    await browser.close()
    data.remove()
  }
}

async function measureRound(browser: Browser, address: string): Promise<Round> {
  const plainMs = await plainDrawingMs(browser)
  const herd = await withPage(browser, (page) => open(browser, page, `${address}${ADDRESS}`))
  const clickMs = await withPage(browser, (page) => choose(page, address))
  return withPage(browser, async (page) => {
    const lines = await open(browser, page, `${address}${ADDRESS}&view=lines`)
    // The first live answers catch up with the time that loading took.
    await page.waitForTimeout(3_000)
    const live = await tasksDuring(browser, page, () => page.waitForTimeout((UPDATE_COUNT + 1) * 1_000))
    const updates = secondsOf(live, await drawnSeconds(page))
    const chart = page.getByRole('group', { name: new RegExp(`^${METRIC}`) })
    await chart.focus()
    const panned = await tasksDuring(browser, page, () => pan(page))
    return { plainMs, lines, herd, clickMs, updates, panTask: longest(panned) }
  })
}

async function withPage<T>(browser: Browser, look: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    await watchDrawings(page)
    return await look(page)
  } finally {
    await context.close()
  }
}

async function open(browser: Browser, page: Page, address: string): Promise<Opening> {
  let first: FirstDrawing | undefined
  const tasks = await tasksOfNavigation(browser, page, async () => {
    await page.goto(address)
    first = await firstDrawing(page)
  })
  if (first === undefined) throw new Error('nothing was drawn')
  const { answeredMs, sinceNavigationMs } = first
  const between = tasks.filter(({ startMs, wallMs }) => startMs + wallMs > answeredMs && startMs < sinceNavigationMs)
  return { ...first, cpuMs: between.reduce((sum, { cpuMs }) => sum + cpuMs, 0) }
}

/**
 * Clicks on the metric in the catalogue, as a user does, and waits for its chart. Unit: milliseconds from the click.
 */
async function choose(page: Page, address: string): Promise<number> {
  await page.goto(`${address}${CATALOGUE}`)
  await page.getByRole('searchbox', { name: 'Filter metrics' }).fill(METRIC)
  await page.getByRole('link', { name: METRIC }).click()
  const { sinceClickMs } = await firstDrawing(page)
  return sinceClickMs
}

/** Moves the window half its length back and on again, each time as soon as the one before was drawn. */
async function pan(page: Page): Promise<void> {
  for (let count = 0; count < PAN_COUNT; count++) {
    const before = await drawingCount(page)
    await page.keyboard.press(count % 2 === 0 ? 'PageUp' : 'PageDown')
    await untilDrawnAgain(page, before)
  }
}

/** Time of the main thread in each whole second: an update is the clock, the stream's message and the drawing. */
function secondsOf(tasks: readonly Task[], drawn: ReadonlySet<number>): Second[] {
  const seconds = new Map<number, Second>()
  for (const { startMs, cpuMs, wallMs } of tasks) {
    const second = Math.floor(startMs / 1_000)
    const sum = seconds.get(second) ?? { cpuMs: 0, wallMs: 0, isDrawn: false }
    seconds.set(second, { cpuMs: sum.cpuMs + cpuMs, wallMs: sum.wallMs + wallMs, isDrawn: drawn.has(second) })
  }
  // The first and the last second are cut.
  return [...seconds]
    .sort(([a], [b]) => a - b)
    .slice(1, -1)
    .map(([, sum]) => sum)
}

function longest(tasks: readonly Task[]): Task {
  return tasks.reduce((a, b) => (b.cpuMs > a.cpuMs ? b : a), { startMs: 0, wallMs: 0, cpuMs: 0 })
}

/** Main threads against the plain drawing. */
function ratiosOf(rounds: readonly Round[], ports: readonly PortsRound[], apps: readonly AppRound[]): Figure[] {
  const plainMs = median(rounds.map((round) => round.plainMs))
  const longestOf = (tasks: readonly { readonly cpuMs: number }[]) => Math.max(...tasks.map(({ cpuMs }) => cpuMs))
  const redrawn = rounds.flatMap(({ updates }) => updates.filter(({ isDrawn }) => isDrawn))
  const against = (name: string, ms: number, allowed: number): Figure => {
    const value = ms / plainMs
    return { name: `${name}, against a plain drawing`, value, unit: 'x', gate: atMost(value, allowed) }
  }
  return [
    against('first drawn, 100 lines', median(rounds.map(({ lines }) => lines.cpuMs)), LIMITS.first),
    against('second that redraws, worst', longestOf(redrawn), LIMITS.redraw),
    against('longest task while panning', longestOf(rounds.map(({ panTask }) => panTask)), LIMITS.pan),
    against('fabric page: longest task', longestOf(ports.flatMap(({ tasks }) => tasks)), LIMITS.ports),
    against('app page: first chart', median(apps.map(({ cpuMs }) => cpuMs)), LIMITS.app),
    { name: 'plain drawing, main thread', value: plainMs, unit: 'ms' },
  ]
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const updates = rounds.flatMap((round) => round.updates)
  const first = median(rounds.map(({ lines }) => lines.cpuMs))
  const redrawn = updates.filter(({ isDrawn }) => isDrawn)
  if (redrawn.length === 0) throw new Error('no second had a drawing in it')
  const task = Math.max(...rounds.map(({ panTask }) => panTask.cpuMs))
  const worst = (values: readonly number[]): number => Math.max(...values)
  const redraw = worst(redrawn.map(({ cpuMs }) => cpuMs))
  const click = median(rounds.map(({ clickMs }) => clickMs))
  const ms = (name: string, value: number): Figure => ({ name, value, unit: 'ms' })
  return [
    ms('first drawn, 100 lines, main thread', first),
    ms('first drawn, 100 lines, main thread, worst', worst(rounds.map(({ lines }) => lines.cpuMs))),
    ms('first drawn, 100 lines, by the clock', median(rounds.map(({ lines }) => lines.sinceAnswerMs))),
    ms('first drawn, herd of 100, main thread', median(rounds.map(({ herd }) => herd.cpuMs))),
    ms('first drawn, herd of 100, by the clock', median(rounds.map(({ herd }) => herd.sinceAnswerMs))),
    ms('question to answer, 576 000 values', median(rounds.map(({ lines }) => lines.answerMs))),
    ms('navigation to drawn, nothing cached', median(rounds.map(({ lines }) => lines.sinceNavigationMs))),
    ms('click to drawn, 100 lines, by the clock', click),
    ms('click to drawn, 100 lines, by the clock, worst', worst(rounds.map(({ clickMs }) => clickMs))),
    ms('second that redraws, main thread, worst', redraw),
    ms('second that redraws, main thread', median(redrawn.map(({ cpuMs }) => cpuMs))),
    ms('any second, main thread', median(updates.map(({ cpuMs }) => cpuMs))),
    ms('any second, by the clock, worst', worst(updates.map(({ wallMs }) => wallMs))),
    ms('longest task while panning', task),
    ms('longest task while panning, by the clock', worst(rounds.map(({ panTask }) => panTask.wallMs))),
  ]
}

function linesOf(browser: Browser, rounds: readonly Round[], pageUs: number): string[] {
  return [
    `${SERIES_COUNT} series × ${POINT_COUNT} points of 1 s in the explorer at 1440 × 900, from the real store through the real routes; Chromium ${browser.version()},`,
    `without a GPU. ${rounds.length} rounds, each in a fresh context; medians where nothing else is said. Updates are of 100 lines.`,
    'Main thread is the time that it was on a processor, from a trace of every task; by the clock includes what other programs took.',
    `The first touch of 4 KiB of memory took ${pageUs.toPrecision(2)} µs of processor time here: compare the times of the explorer where it is alike.`,
  ]
}
