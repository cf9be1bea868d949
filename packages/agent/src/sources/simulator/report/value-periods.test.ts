import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventAnswer } from '@sonde/sdk/api'
import { until } from '../../../../../sdk/test/helper.ts'
import { askEvents, eventPath } from '../../../../test/events-in.ts'
import { serveAgent } from '../../../../test/served-agent.ts'
import { TestNode } from '../../test-node.ts'
import { simulator } from '../simulator.ts'

interface Lane {
  readonly type: string
  readonly resolutionMs: number
}

const TYPES = ['nvml_gpu', 'nvml_profile', 'netdev']

test('lanes of GPUs that are reported every 100 ms know power no better than its mean of a second', {
  timeout: 60_000,
}, async (t) => {
  const node = new TestNode(t)
  const rules = join(node.root, 'rules.json')
  const signal = { name: 'power', type: 'nvml_gpu', field: 'power_usage' }
  const rule = { name: 'draws', signal: 'power', comparison_type: 'gt', comparison_value: 0 }
  writeFileSync(rules, JSON.stringify({ sample_history_depth: 1, signals: [signal], rules: [rule] }))
  const { address } = await serveAgent(t, {
    sources: [{ ...simulator, intervalMs: 100 }],
    paths: node.paths,
    traceback: { dir: join(node.root, 'events'), rules, before_ms: 300, after_ms: 100, max_event_s: 1 },
  })
  const ask = async <T>(id: number) => (await (await fetch(`${address}${eventPath(id)}/lanes`)).json()) as T
  // The first part of the event may be stored before every type was reported.
  const lanes = (await until('a part with lanes of all types', async () => {
    const [event] = (await askEvents(address)).events
    const { parts = [] } = event === undefined ? {} : await ask<EventAnswer>(event.id)
    for (const { id } of parts) {
      const { lanes } = await ask<{ lanes: readonly Lane[] }>(id)
      if (TYPES.every((name) => lanes.some(({ type }) => type === name))) return lanes
    }
    return false
  })) as readonly Lane[]
  const of = (name: string) => lanes.filter(({ type }) => type === name).map(({ resolutionMs }) => resolutionMs)
  assert.ok(
    of('nvml_gpu').every((ms) => ms >= 1000),
    `${of('nvml_gpu')}`,
  )
  assert.ok(
    of('netdev').every((ms) => ms >= 900),
    `${of('netdev')}`,
  )
  // Profiling is a mean over 100 ms, the report interval of this test.
  assert.ok(
    of('nvml_profile').every((ms) => ms >= 100 && ms < 900),
    `${of('nvml_profile')}`,
  )
})
