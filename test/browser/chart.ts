import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** A chart of the page, as a test looks at it. */
export interface SeenChart {
  /** What takes the keyboard. */
  readonly group: Locator
  /** What the chart says of itself to those who do not see it. */
  sentence(): Promise<string>
  /** The drawing as one string, which differs where a pixel does. */
  picture(): Promise<string>
  /** Bits a second of one member by time: the rows of the chart's table that are in the document. */
  rows(member: string): Promise<[time: string, bits: number][]>
}

const BITS: Readonly<Record<string, number>> = { 'b/s': 1, 'kb/s': 1e3, 'Mb/s': 1e6, 'Gb/s': 1e9 }

/** The chart with a title. */
export function chartNamed(page: Page, title: string): SeenChart {
  const chart = page.getByRole('region', { name: title, exact: true })
  const group = chart.getByRole('group')
  return {
    group,
    sentence: async () => (await group.getAttribute('aria-label')) ?? '',
    picture: () =>
      chart
        .locator('canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL()),
    rows: async (member) => rowsOf(await chart.locator('table').evaluate(textsOf), member),
  }
}

interface TableTexts {
  readonly head: readonly string[]
  readonly body: readonly (readonly string[])[]
}

/** Runs in the page. */
function textsOf(table: Element): TableTexts {
  const texts = (row: Element): string[] => [...row.children].map((cell) => (cell as HTMLElement).innerText)
  return {
    head: [...table.querySelectorAll('thead tr')].flatMap(texts),
    body: [...table.querySelectorAll('tbody tr:not([aria-hidden])')].map(texts),
  }
}

function rowsOf({ head, body }: TableTexts, member: string): [time: string, bits: number][] {
  const column = head.findIndex((name) => name.startsWith(`${member} `))
  const scale = BITS[head[column]?.split(' ').at(-1) ?? '']
  assert.ok(scale !== undefined, `no column of bits for ${member} in ${head.join(' | ')}`)
  return body.flatMap((cells): [string, number][] => {
    const bits = Number(cells[column]?.replace('< ', '').replace(/\s/g, '')) * scale
    return Number.isNaN(bits) ? [] : [[cells[0] ?? '', bits]]
  })
}
