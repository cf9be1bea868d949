// Whether the figures of benchmarks that pages quote are those of `bench/RESULTS.md`, missed gates included.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { quotesOf, quotingPages, type Results, resultsOf } from '../docs/figures.ts'

/** Units that other numbers have too: a limit, a setting, an example. */
const COMMON_UNITS = new Set(['', 's', 'ms', 'µs', 'KiB', 'MB', 'MB/s', '%', 'x'])

/** Every figure that the results do not hold, as `file:line: what is wrong`. */
export function findWrongFigures(folder: string, pages: readonly string[] = quotingPages()): string[] {
  const results = resultsOf(readFileSync(join(folder, 'bench/RESULTS.md'), 'utf8'))
  return pages.flatMap((path) => {
    const page = readFileSync(join(folder, path), 'utf8')
    const place = (index: number): string => `${path}:${page.slice(0, index).split('\n').length}`
    return [
      ...quotesOf(page).flatMap(({ text, bench, figure, index }) => {
        const held = results.text(bench, figure)
        if (held === undefined) return [`${place(index)}: the results of ${bench} have no figure "${figure}"`]
        if (held === text) return []
        return [`${place(index)}: ${figure} of ${bench} is ${held}, not ${text}; renew it with: npm run docs`]
      }),
      ...unquoted(page, results).map(({ text, index }) => {
        return `${place(index)}: "${text}" is a figure of a benchmark; quote it: [](bench/RESULTS.md#BENCH "FIGURE")`
      }),
    ]
  })
}

/** Numbers with a unit that only benchmarks have, outside of quotes and code. */
function unquoted(page: string, { units }: Results): { text: string; index: number }[] {
  const own = [...units].filter((unit) => !COMMON_UNITS.has(unit)).map((unit) => unit.replaceAll(' ', '\\s+'))
  if (own.length === 0) return []
  // Blanks of the same length, so that places stay what they are.
  const prose = page.replace(/```[\s\S]*?```|`[^`\n]*`|\[[^\]]*\]\([^)]*\)/g, (cut) => cut.replace(/[^\n]/g, ' '))
  const figure = new RegExp(`\\d[\\d.,]*\\*{0,2}\\s+(?:${own.join('|')})(?![\\w/])`, 'g')
  return [...prose.matchAll(figure)].map(({ 0: text, index }) => ({ text: text.replace(/\s+/g, ' '), index }))
}
