import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, createSource, defineType, gauge, label, type Source, text, timestamp } from '@sonde/sdk'
import { advance } from '../../test/simulated-clock.ts'
import { openSimulatedStore } from '../../test/simulated-store.ts'

const HOUR_MS = 3_600_000
/** Time between two checks, and number of pods that come and go in it. */
const STEP_MS = 2 * HOUR_MS
const STEPS_A_DAY = 12
const PODS_A_STEP = 12

const nodeType = defineType('node_load', 'Always there', { time: timestamp(), load: gauge('f64') })

/** The report of a pod, with its own type. */
function typeOf(pod: number) {
  return defineType(`pod_${pod}`, 'Of one pod', {
    time: timestamp(),
    pod: label(),
    steps_total: counter('u64'),
    state: text(),
  })
}

test('a month of pods that come and go leaves file and memory as large as a week of it', async () => {
  const stored = await openSimulatedStore({ retentionDays: 1, rollupRetentionDays: 3 })
  const { store } = stored
  const emit = (client: bigint | undefined, sequence: bigint) => (batch: Parameters<typeof store.accept>[0]) => {
    store.accept(client === undefined ? batch : { ...batch, page: { client, sequence } })
  }
  const timeNs = () => BigInt(Math.floor(Date.now())) * 1_000_000n
  try {
    const node: Source = createSource({ id: 'node', intervalMs: STEP_MS, emit: emit(undefined, 0n) })
    const memory: Record<string, number>[] = []
    const sizes: Record<string, number>[] = []
    let pod = 0
    for (let step = 0; step < 30 * STEPS_A_DAY; step++) {
      node.report(nodeType, { time: timeNs(), load: step })
      node.flush()
      for (let i = 0; i < PODS_A_STEP; i++) {
        pod++
        const source = createSource({ id: `pod${pod}`, tag: 'job', intervalMs: 1000, emit: emit(BigInt(pod), 1n) })
        source.report(typeOf(pod), { time: timeNs(), pod: `pod${pod}`, steps_total: pod, state: `state ${pod}` })
        source.flush()
      }
      await store.flush()
      advance(STEP_MS)
      await store.maintain()
      if (step === 12 * STEPS_A_DAY || step === 30 * STEPS_A_DAY - 1) {
        sizes.push(stored.sizes())
        memory.push({ ...store.status().names })
      }
    }
    const [early = {}, late = {}] = sizes
    assert.deepEqual(Object.keys(late).sort(), [
      'chunk',
      'file',
      'files of the head',
      'head',
      'log',
      'meta',
      'period',
      'segment',
      'series',
      'source',
      'symbol',
      'type',
      'writer',
    ])
    for (const [name, size] of Object.entries(late)) {
      assert.ok(size <= 1.1 * (early[name] ?? 0) + 4, `${name}: ${early[name]} after 12 days, ${size} after 30`)
    }
    for (const [name, count] of Object.entries(memory[1] ?? {})) {
      const before = memory[0]?.[name] ?? 0
      assert.ok(count <= 1.1 * before + 4, `${name} in memory: ${before} after 12 days, ${count} after 30`)
    }
    const { results } = await store.query({
      fromMs: Date.now() - 12 * HOUR_MS,
      toMs: Date.now(),
      stepMs: HOUR_MS,
      queries: [{ metric: 'node_load_load', function: 'last', matchers: [], by: undefined, aggregate: 'sum' }],
    })
    assert.ok((results[0]?.series[0]?.values ?? []).some(Number.isFinite))
    assert.deepEqual([...store.stats.dropped], [], 'nothing was lost for want of room')
  } finally {
    await stored.close()
  }
})
