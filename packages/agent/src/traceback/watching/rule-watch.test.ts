import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostEdge } from '../../hosting/edge-gate.ts'
import { readRuleBook } from '../../rules/read/read-rule-book.ts'
import { RuleWatch } from './rule-watch.ts'

const { book } = readRuleBook(
  JSON.stringify({
    sample_history_depth: 1,
    signals: [{ name: 'sampled', type: 'steady', field: 'sampled_ms' }],
    rules: [
      { name: 'high', signal: 'sampled', comparison_type: 'gt', comparison_value: 1 },
      { name: 'low', signal: 'sampled', comparison_type: 'lt', comparison_value: 1 },
      { name: 'either', comparison_type: 'any_of', rules: ['high', 'low'] },
    ],
  }),
)

/** Rules on rings of hosts, and what becomes of their edges. */
async function start() {
  const told: string[] = []
  const watch = new RuleWatch({
    ...{ sources: () => [], emit: () => undefined, deviceOf: () => '', appOf: () => '', startsAMinute: 60 },
    onEdge: (source, { rule, isStart, isLost }) =>
      told.push(`${source} ${rule} ${isStart ? 'start' : isLost ? 'lost' : 'end'}`),
  })
  await watch.set(book)
  const edge = (source: string, rule: string, isStart: boolean) => {
    const taken: HostEdge = { rule, device: 'd', event: 256, monoNs: process.hrtime.bigint(), errorNs: 0n, isStart }
    watch.take(source, taken)
  }
  return { watch, told, edge }
}

test('a combination ends with the host that saw the last of its rules hold', async () => {
  const { watch, told, edge } = await start()
  edge('near', 'high', true)
  edge('far', 'high', true)
  edge('far', 'high', false)
  watch.lose('far')
  assert.deepEqual(told.splice(0), ['near high start', 'traceback either start', 'far high start', 'far high end'])
  watch.lose('near')
  assert.deepEqual(told.splice(0), ['traceback either lost'])
  edge('near', 'high', true)
  assert.deepEqual(told, ['near high start', 'traceback either start'])
})
