import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backtestText } from './backtest-text.ts'

test('a distance just below a unit is rounded into it', () => {
  const rule = { rule: 'hot', condition: 'it is hot', events: 0, devices: 0, heldNs: 0n, longestNs: 0n, series: 1 }
  const shown = (intervalNs: bigint): string | undefined => {
    const rules = [{ ...rule, records: 9, intervalNs }]
    const counts = { recordCount: 9, repeatedCount: 0, futureCount: 0, refusedCount: 0 }
    const text = backtestText({ rules, events: [], range: { fromNs: 0n, toNs: 1n }, ...counts }, 'table')
    return / 1 {2}([\d.]+ \S+) +it is hot/.exec(text.replace(/ {3,}/g, '  '))?.[1]
  }
  assert.deepEqual([999_960_000n, 999_960n, 12_500_000n, 990_000_000n].map(shown), ['1 s', '1 ms', '12.5 ms', '990 ms'])
})
