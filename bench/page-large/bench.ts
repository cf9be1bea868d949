// How much the main thread of the page does with 200 interfaces, and in windows of a day.
import type { Browser } from 'playwright-core'
import { setUpWeb } from '../../scripts/setup.mjs'
import { startBrowser } from '../../test/browser/browser.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { serve } from '../page/serve.ts'
import { type DayRound, measureDay, serveDay } from './day.ts'
import { busyMsPerSecond, withFreshPage } from './live.ts'

const COUNTS = { few: 16, many: 200 } as const
const LIMITS = { interfaces: 2, day: 1.2, clickMs: 500 }

interface InterfacesRound {
  readonly fewMs: number
  readonly manyMs: number
}

/** Rounds of the fabric page of two nodes in turn, and rounds of a day that is over. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const browser = await startBrowser()
  try {
    const interfaces = await measureInterfaces(browser, rounds)
    const day = await serveDay()
    const days: DayRound[] = []
    try {
      for (let round = 0; round < rounds; round++) days.push(await measureDay(browser, day, round))
    } finally {
      await day.stop()
    }
    return { figures: [...interfaceFigures(interfaces), ...dayFigures(days)], lines: linesOf(days, day.pastSeconds) }
  } finally {
    await browser.close()
  }
}

async function measureInterfaces(browser: Browser, rounds: number): Promise<readonly InterfacesRound[]> {
  const [few, many] = await Promise.all([
    serve('../page-large/interfaces-main.ts', ['', String(COUNTS.few)]),
    serve('../page-large/interfaces-main.ts', ['', String(COUNTS.many)]),
  ])
  const secondOf = ({ address }: { readonly address: string }, count: number) =>
    withFreshPage(browser, async (page) => {
      await page.goto(`${address}/fabric`)
      await page.locator('.page-note', { hasText: `${count}` }).waitFor()
      return busyMsPerSecond(browser, page)
    })
  try {
    const measured: InterfacesRound[] = []
    for (let round = 0; round < rounds; round++) {
      const isFewFirst = round % 2 === 0
      const first = isFewFirst ? await secondOf(few, COUNTS.few) : await secondOf(many, COUNTS.many)
      const second = isFewFirst ? await secondOf(many, COUNTS.many) : await secondOf(few, COUNTS.few)
      measured.push({ fewMs: isFewFirst ? first : second, manyMs: isFewFirst ? second : first })
    }
    return measured
  } finally {
    await Promise.all([few.stop(), many.stop()])
  }
}

function interfaceFigures(rounds: readonly InterfacesRound[]): Figure[] {
  const few = median(rounds.map(({ fewMs }) => fewMs))
  const many = median(rounds.map(({ manyMs }) => manyMs))
  const name = 'fabric page: main thread of a second'
  return [
    {
      ...{ name: `${name}, ${COUNTS.many} interfaces, against ${COUNTS.few}`, value: many / few, unit: 'x' },
      gate: atMost(many / few, LIMITS.interfaces),
    },
    { name: `${name}, ${COUNTS.few} interfaces`, value: few, unit: 'ms' },
    { name: `${name}, ${COUNTS.many} interfaces`, value: many, unit: 'ms' },
  ]
}

function dayFigures(rounds: readonly DayRound[]): Figure[] {
  const live = median(rounds.map(({ liveMs }) => liveMs))
  const day = median(rounds.map(({ dayMs }) => dayMs))
  const click = median(rounds.map(({ clickMs }) => clickMs))
  const name = 'node page: main thread of a second'
  return [
    {
      ...{ name: `${name}, a window of 24 h, against live`, value: day / live, unit: 'x' },
      gate: atMost(day / live, LIMITS.day),
    },
    { name: `${name}, live`, value: live, unit: 'ms' },
    { name: `${name}, a window of 24 h`, value: day, unit: 'ms' },
    {
      ...{ name: 'node page: click on a window of 24 h to charts, by the clock', value: click, unit: 'ms' },
      gate: atMost(click, LIMITS.clickMs),
    },
    {
      ...{ name: 'node page: click on a window of 24 h to charts, by the clock, worst', unit: 'ms' },
      value: Math.max(...rounds.map(({ clickMs }) => clickMs)),
    },
  ]
}

function linesOf(rounds: readonly DayRound[], pastSeconds: number): string[] {
  return [`${rounds.length} rounds in turns. The past of 24 h was there ${Math.round(pastSeconds)} s after the start.`]
}
