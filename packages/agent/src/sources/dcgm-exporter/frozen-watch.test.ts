import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpositionParser } from '@sonde/sdk/internal'
import { FrozenWatch } from './frozen-watch.ts'

const ENERGY = 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-1"}'
const ADDRESS = 'http://node:9400/metrics'

/**
 * Checks bodies that are scraped every 15 s from an exporter that reads every 30 s. Returns the scrape that is refused
 * as frozen.
 */
function frozenAt(bodies: Iterable<string>): number | undefined {
  let nowMs = 0
  const watch = new FrozenWatch(30_000, 15_000, () => nowMs)
  const parser = new ExpositionParser()
  let scrape = 0
  for (const body of bodies) {
    parser.parse(Buffer.from(body))
    try {
      for (const _step of watch.look(ADDRESS, parser));
    } catch (error) {
      assert.match(String(error), /gives the same energy counters or times for 150 s, in 11 scrapes: it is frozen/)
      return scrape
    }
    nowMs += 15_000
    scrape++
  }
  return undefined
}

const bodies = (line: (scrape: number) => string) => Array.from({ length: 30 }, (_, scrape) => `${line(scrape)}\n`)

test('energy that stands still for five periods of the exporter is frozen', () => {
  assert.equal(frozenAt(bodies(() => `${ENERGY} 71294000`)), 10)
})

test('values that come twice, as each is asked for twice, are not', () => {
  assert.equal(frozenAt(bodies((scrape) => `${ENERGY} ${Math.floor(scrape / 2)}`)), undefined)
  assert.equal(frozenAt(bodies((scrape) => `${ENERGY} ${1 + Math.floor(scrape / 9)}`)), undefined)
})

test('idle GPUs without an energy counter may give the same for ever', () => {
  assert.equal(frozenAt(bodies(() => 'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1"} 0')), undefined)
  assert.equal(frozenAt(bodies(() => `${ENERGY} 9223372036854775794`)), undefined, 'a blank is no counter')
})

test('times of lines that stand still are', () => {
  assert.equal(frozenAt(bodies(() => 'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1"} 0 1767225600123')), 10)
})

test('what moves again is well again', () => {
  const watch = new FrozenWatch(1000, 1000, () => nowMs)
  const parser = new ExpositionParser()
  let nowMs = 0
  const look = (joules: number) => {
    parser.parse(Buffer.from(`${ENERGY} ${joules}\n`))
    nowMs += 1000
    for (const _step of watch.look(ADDRESS, parser));
  }
  for (let i = 0; i < 5; i++) look(7)
  assert.throws(() => look(7), /frozen/)
  look(8)
  look(8)
})
