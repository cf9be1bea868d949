import type { Browser, Page } from 'playwright-core'
import { NODE } from '../../test/browser/generated-event.ts'
import { atMost, type Figure, median } from '../bench.ts'
import { drawingCount, type FirstDrawing, firstDrawing, watchDrawings } from './drawings.ts'
import { type Task, tasksDuring } from './trace.ts'

/** Lanes of the event, and samples of each. */
export const LANE_COUNT = 64
export const SAMPLE_COUNT = 100_000
const EVENT = 12
const SAMPLES_ROUTE = `/api/v1/incidents/${encodeURIComponent(`${NODE}:${EVENT}`)}/samples`
const PAN_COUNT = 10
const DRAG_COUNT = 30
const ZOOM_COUNT = 2
const ANSWER_LIMIT_KB = 1_000
/** Time to load the code of all pages, and time to load the zoomed window. Unit: milliseconds. */
const SETTLE_MS = 4_000
const ZOOM_MS = 1_000

/** The page of an event in one round. */
export interface EventRound {
  /** From the click on an event of the list. */
  readonly clicked: FirstDrawing
  /** From the navigation, with nothing cached. */
  readonly opened: FirstDrawing
  /** Longest task while the view is moved. */
  readonly panTask: Task
}

/** Opens an event from the list and by its address, each in a fresh context, and moves its view. */
export async function measureEvent(browser: Browser, address: string): Promise<EventRound> {
  const opened = await withPage(browser, async (page) => {
    await page.goto(`${address}/incidents/${NODE}:${EVENT}`)
    return firstDrawing(page, SAMPLES_ROUTE)
  })
  return withPage(browser, async (page) => {
    await page.goto(`${address}/incidents`)
    const link = page.getByRole('link', { name: 'PCIe stalls', exact: true }).first()
    await link.waitFor()
    await page.waitForTimeout(SETTLE_MS)
    await link.click()
    const clicked = await firstDrawing(page, SAMPLES_ROUTE)
    await page.locator('.onset-row').first().waitFor()
    await page.locator('.lanes-body').focus()
    for (let count = 0; count < ZOOM_COUNT; count++) await page.keyboard.press('+')
    await page.waitForTimeout(ZOOM_MS)
    const tasks = await tasksDuring(browser, page, () => pan(page))
    return { clicked, opened, panTask: tasks.reduce((a, b) => (b.cpuMs > a.cpuMs ? b : a)) }
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

/** Moves the view half its length on and back, each time as soon as it was drawn, then drags it along. */
async function pan(page: Page): Promise<void> {
  for (let count = 0; count < PAN_COUNT; count++) {
    const before = await drawingCount(page)
    await page.keyboard.press(count % 2 === 0 ? 'PageDown' : 'PageUp')
    await page.waitForFunction(
      (drawn) => (window as unknown as { drawings: readonly unknown[] }).drawings.length > drawn,
      before,
    )
  }
  const axis = await page.locator('.lane-axis').boundingBox()
  if (!axis) throw new Error('there is no axis')
  const [x, y] = [axis.x + axis.width / 2, axis.y + axis.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x - axis.width / 3, y, { steps: DRAG_COUNT })
  await page.mouse.up()
  // What the new view asks for is drawn too.
  await page.waitForTimeout(ZOOM_MS)
}

/** Figures of some rounds; panning is held against that of the explorer in the same run. */
export function eventFigures(rounds: readonly EventRound[], explorer: readonly Task[]): Figure[] {
  const name = (words: string): string => `event page, ${LANE_COUNT} series of ${SAMPLE_COUNT} samples: ${words}`
  const worst = (values: readonly number[]): number => Math.max(...values)
  const first = median(rounds.map(({ clicked }) => clicked.sinceClickMs))
  const kilobytes = worst(rounds.map(({ clicked }) => clicked.answerBytes)) / 1_000
  const task = worst(rounds.map(({ panTask }) => panTask.cpuMs))
  const explorerMs = worst(explorer.map(({ cpuMs }) => cpuMs))
  return [
    { name: name('click to drawn, by the clock'), value: first, unit: 'ms' },
    {
      name: name('click to drawn, by the clock, worst'),
      value: worst(rounds.map(({ clicked }) => clicked.sinceClickMs)),
      unit: 'ms',
    },
    {
      name: name('answer to drawn, by the clock'),
      value: median(rounds.map(({ clicked }) => clicked.sinceAnswerMs)),
      unit: 'ms',
    },
    {
      name: name('navigation to drawn, nothing cached'),
      value: median(rounds.map(({ opened }) => opened.sinceNavigationMs)),
      unit: 'ms',
    },
    { name: name('the answer'), value: kilobytes, unit: 'kB', gate: atMost(kilobytes, ANSWER_LIMIT_KB) },
    { name: name('longest task while panning'), value: task, unit: 'ms', gate: atMost(task, explorerMs) },
    {
      name: name('longest task while panning, by the clock'),
      value: worst(rounds.map(({ panTask }) => panTask.wallMs)),
      unit: 'ms',
    },
  ]
}

/** Notes under the figures. */
export function eventLines(): string[] {
  return [
    `Event page: answers are generated in the format of the API and made before the run, so that the page is measured and not the reading of files;`,
    `panning is ${PAN_COUNT} keys and a drag of ${DRAG_COUNT} moves, its limit the longest task of the explorer while panning in the same run.`,
  ]
}
