import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findWrongFigures } from '../../scripts/check/figures.ts'
import { root } from '../../scripts/check/sources.ts'
import { renewQuotes, resultsOf } from '../../scripts/docs/figures.ts'
import { temporaryDir } from '../sonde-process.ts'

const RESULTS = `# Benchmark results

## store

| Figure | Value | Unit | Gate |
|---|---:|---|---|
| on disk | 2.49 | bytes a value | ≤ 5: met |
| values written | 1 204 | M values/s | ≥ 2 000: missed |
| slowest query, p95 | 28.9 | ms | ≤ 50: met |
`

/** Everything that is wrong with a page, where the results are those above. */
function wrongIn(context: TestContext, page: string): string[] {
  const { path: folder, remove } = temporaryDir()
  context.after(remove)
  mkdirSync(join(folder, 'bench'))
  writeFileSync(join(folder, 'bench/RESULTS.md'), RESULTS)
  writeFileSync(join(folder, 'a.md'), page)
  return findWrongFigures(folder, ['a.md'])
}

test('the pages quote what the results hold', () => {
  assert.deepEqual(findWrongFigures(root), [])
})

test('a figure that the results hold passes, where its text is theirs', (context) => {
  const page =
    'It takes [2.49 bytes a value](bench/RESULTS.md#store "on disk"), a page of 4 096 bytes and 28 ms.\n' +
    'Quote it as `[](bench/RESULTS.md#store "on disk")`.\n'
  assert.deepEqual(wrongIn(context, page), [])
})

test('a figure that is better than the results is found, with its line', (context) => {
  assert.deepEqual(wrongIn(context, 'Text.\n\nIt takes [2.1 bytes a value](bench/RESULTS.md#store "on disk").\n'), [
    'a.md:3: on disk of store is 2.49 bytes a value, not 2.1 bytes a value; renew it with: npm run docs',
  ])
})

test('a missed gate is called missed where the figure is quoted', (context) => {
  const quote = (text: string) => `[${text}](bench/RESULTS.md#store "values written")\n`
  assert.deepEqual(wrongIn(context, quote('1 204 M values/s (≥ 2 000: missed)')), [])
  assert.deepEqual(wrongIn(context, quote('1 204 M values/s')), [
    'a.md:1: values written of store is 1 204 M values/s (≥ 2 000: missed), not 1 204 M values/s; renew it with: npm run docs',
  ])
})

test('a figure that no row of the results has is found', (context) => {
  assert.deepEqual(wrongIn(context, '[9 ms](bench/RESULTS.md#store "fastest query")\n'), [
    'a.md:1: the results of store have no figure "fastest query"',
  ])
})

test('a number with a unit of benchmarks that is not a quote is found, also across lines; code is left alone', (context) => {
  const page =
    'The store takes **3.5** bytes\na value. `4 M values/s`\n\n```\n5 M values/s\n```\nIt writes 6 M values/s.\n'
  const advice = 'is a figure of a benchmark; quote it: [](bench/RESULTS.md#BENCH "FIGURE")'
  assert.deepEqual(wrongIn(context, page), [
    `a.md:1: "3.5** bytes a value" ${advice}`,
    `a.md:7: "6 M values/s" ${advice}`,
  ])
})

test('npm run docs writes the text of each quote', () => {
  const page = '[old](../bench/RESULTS.md#store "on disk") and [](../bench/RESULTS.md#store "values written")'
  assert.equal(
    renewQuotes(page, resultsOf(RESULTS)),
    '[2.49 bytes a value](../bench/RESULTS.md#store "on disk") and [1 204 M values/s (≥ 2 000: missed)](../bench/RESULTS.md#store "values written")',
  )
})
