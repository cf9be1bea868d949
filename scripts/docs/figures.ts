// Figures of benchmarks that a page quotes. A quote is a link to the results whose title is the name of the figure, and
// its text is generated: `[2.49 bytes a value](../bench/RESULTS.md#store "on disk")`. A gate that was missed is part of
// the text.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, root } from '../check/sources.ts'

// Not in code, where a page shows how to quote.
const QUOTE = /(?<!`)\[([^\]]*)\]\((\S*\bRESULTS\.md#(\S+)) "([^"]+)"\)/g

/** A quote in a page. */
export interface Quote {
  /** What it says. */
  readonly text: string
  /** Name of the benchmark, and of the figure. */
  readonly bench: string
  readonly figure: string
  /** Where it begins in the page. */
  readonly index: number
}

/** The figures of the results: what a quote of each says, by benchmark and figure, and the units. */
export interface Results {
  text(bench: string, figure: string): string | undefined
  readonly units: ReadonlySet<string>
}

/** Reads the page that `npm run bench -- NAME --write` writes. */
export function resultsOf(page: string): Results {
  const texts = new Map<string, string>()
  const units = new Set<string>()
  let bench = ''
  for (const line of page.split('\n')) {
    bench = /^## (\S+)$/.exec(line)?.[1] ?? bench
    const [, figure, value, unit = '', gate = ''] = /^\| (.+?) \| (.+?) \| (.*?) \| (.*?) \|$/.exec(line) ?? []
    if (figure === undefined || value === undefined || figure === 'Figure') continue
    const quoted = `${value} ${unit}`.trim()
    texts.set(`${bench} ${figure}`, gate.endsWith('missed') ? `${quoted} (${gate})` : quoted)
    units.add(unit)
  }
  return { text: (name, figure) => texts.get(`${name} ${figure}`), units }
}

/** All quotes of a page. */
export function quotesOf(page: string): Quote[] {
  return [...page.matchAll(QUOTE)].map((match) => {
    const [, text = '', , bench = '', figure = ''] = match
    return { text, bench, figure, index: match.index }
  })
}

/** The pages that quote figures. Decisions and what is generated keep the figures of their day. */
export function quotingPages(): string[] {
  return filesOf('{*.md,docs/*.md,packages/**/*.md,bench/*/*.md}')
}

/** Writes into a page what the results say now. A figure that they do not have stays as it is. */
export function renewQuotes(page: string, results: Results): string {
  return page.replace(QUOTE, (quote, _text, target: string, bench: string, figure: string) => {
    const text = results.text(bench, figure)
    return text === undefined ? quote : `[${text}](${target} "${figure}")`
  })
}

/** Renews all pages; gives the paths of those that changed. */
export function renewFigures(): string[] {
  const results = resultsOf(readFileSync(join(root, 'bench/RESULTS.md'), 'utf8'))
  return quotingPages().filter((path) => {
    const page = readFileSync(join(root, path), 'utf8')
    const renewed = renewQuotes(page, results)
    if (renewed !== page) writeFileSync(join(root, path), renewed)
    return renewed !== page
  })
}
