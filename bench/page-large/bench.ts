// How much the main thread of the page does with 200 interfaces, against 16.
import type { Browser } from 'playwright-core'
import { setUpWeb } from '../../scripts/setup.mjs'
import { startBrowser } from '../../test/browser/browser.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { busyMsPerSecond, withFreshPage } from '../page/live.ts'
import { serve } from '../page/serve.ts'

const COUNTS = { few: 16, many: 200 } as const
const RATIO_MAX = 2

interface InterfacesRound {
  readonly fewMs: number
  readonly manyMs: number
}

/** Rounds of the fabric page of two nodes in turn. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  if (!(await setUpWeb())) throw new Error('the page could not be built')
  const browser = await startBrowser()
  try {
    const interfaces = await measureInterfaces(browser, rounds)
    return { figures: interfaceFigures(interfaces), lines: [] }
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
      gate: atMost(many / few, RATIO_MAX),
    },
    { name: `${name}, ${COUNTS.few} interfaces`, value: few, unit: 'ms' },
    { name: `${name}, ${COUNTS.many} interfaces`, value: many, unit: 'ms' },
  ]
}
