import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type SondeProcess, startSonde, temporaryDir } from '../../test/sonde-process.ts'
import { firstDrawing, watchDrawings } from '../page/drawings.ts'
import { busyMsPerSecond, withFreshPage } from '../page/live.ts'

const PAST_S = 86_400
/** Charts of a day have longer steps than this, so that they get as many points as with a sample a second. */
const STEP_MS = 10_000
/** How long the past may take, and how often the log is looked at. Unit: milliseconds. */
const PAST_LIMIT_MS = 1_800_000
const LOOK_EVERY_MS = 1_000

/** A simulated node with a day behind it. */
export interface ServedDay {
  readonly address: string
  /** From the start until the day was in the history. */
  readonly pastSeconds: number
  readonly stop: () => Promise<void>
}

/** One round of the node page. Unit: milliseconds. */
export interface DayRound {
  /** Main thread of a second. */
  readonly liveMs: number
  readonly pastMs: number
  /** From the click on the strip to the painted charts. */
  readonly clickMs: number
}

/** Starts a simulated node and waits until its past of 24 h is there. */
export async function serveDay(): Promise<ServedDay> {
  const data = temporaryDir()
  const beganMs = performance.now()
  const config = join(data.path, 'sonde.yaml')
  writeFileSync(config, `data_sources:\n  - type: simulator\n    interval_ms: ${STEP_MS}\n    past_s: ${PAST_S}\n`)
  const sonde = await startSonde(['up', '--config', config, '--data-dir', join(data.path, 'data')])
  await untilFilled(sonde)
  return {
    address: sonde.address,
    pastSeconds: (performance.now() - beganMs) / 1_000,
    async stop() {
      await sonde.stop()
      data.remove()
    },
  }
}

async function untilFilled({ output }: SondeProcess): Promise<void> {
  const endMs = performance.now() + PAST_LIMIT_MS
  while (!output().includes('filled with the past')) {
    if (performance.now() > endMs) throw new Error('the simulated past takes too long')
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** The node page live, then in the window of a click on the strip. */
export function measureDay(browser: Browser, { address }: ServedDay, round: number): Promise<DayRound> {
  return withFreshPage(browser, async (page) => {
    await watchDrawings(page)
    await page.goto(`${address}/`)
    await page.getByRole('group', { name: /^SM active.*\d/ }).waitFor()
    const liveMs = await busyMsPerSecond(browser, page)
    // Another place of the day in each round.
    const clickMs = await clickStrip(page, 0.15 + 0.12 * (round % 6))
    const pastMs = await busyMsPerSecond(browser, page)
    return { liveMs, pastMs, clickMs }
  })
}

/** Clicks on the strip, which shows the time around that place. Returns when the first chart of it was painted. */
async function clickStrip(page: Page, share: number): Promise<number> {
  const box = await stripOf(page)
  await page.mouse.click(box.x + box.width * share, box.y + box.height / 2)
  return (await firstDrawing(page)).sinceClickMs
}

async function stripOf(page: Page) {
  const box = await page.locator('.time-strip-track').boundingBox()
  if (box === null) throw new Error('the page has no time strip')
  return box
}
