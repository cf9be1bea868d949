// How much the main thread of the page does in a window of the last day, and how soon its charts are there.
import { setUpWeb } from '../../scripts/setup.mjs'
import { startBrowser } from '../../test/browser/browser.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { type DayRound, measureDay, serveDay } from './day.ts'

const RATIO_MAX = 1.2
const CLICK_MAX_MS = 500

/** Rounds of the node page of a simulated node, live and in its past. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const day = await serveDay()
  const browser = await startBrowser()
  try {
    const days: DayRound[] = []
    for (let round = 0; round < rounds; round++) days.push(await measureDay(browser, day, round))
    return { figures: dayFigures(days), lines: linesOf(days, day.pastSeconds) }
  } finally {
    await browser.close()
    await day.stop()
  }
}

function dayFigures(rounds: readonly DayRound[]): Figure[] {
  const live = median(rounds.map(({ liveMs }) => liveMs))
  const past = median(rounds.map(({ pastMs }) => pastMs))
  const click = median(rounds.map(({ clickMs }) => clickMs))
  const name = 'node page: main thread of a second'
  return [
    {
      ...{ name: `${name}, a window of the last 24 h, against live`, value: past / live, unit: 'x' },
      gate: atMost(past / live, RATIO_MAX),
    },
    { name: `${name}, live`, value: live, unit: 'ms' },
    { name: `${name}, a window of the last 24 h`, value: past, unit: 'ms' },
    {
      ...{ name: 'node page: click on the last 24 h to charts, by the clock', value: click, unit: 'ms' },
      gate: atMost(click, CLICK_MAX_MS),
    },
    {
      ...{ name: 'node page: click on the last 24 h to charts, by the clock, worst', unit: 'ms' },
      value: Math.max(...rounds.map(({ clickMs }) => clickMs)),
    },
  ]
}

function linesOf(rounds: readonly DayRound[], pastSeconds: number): string[] {
  return [`${rounds.length} rounds in turns. The past of 24 h was there ${Math.round(pastSeconds)} s after the start.`]
}
