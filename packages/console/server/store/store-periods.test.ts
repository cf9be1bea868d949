import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, createSource, defineType, label, timestamp } from '@sonde/sdk'
import { openStore } from '../../test/open-store.ts'

const type = defineType('port', 'A port', { time: timestamp(), device: label(), rx_total: counter('u64') })

test('gaps follow the period of each device, also once records are compacted', async () => {
  const { store, close } = await openStore()
  try {
    const source = createSource({ id: 'nic', intervalMs: 1000, emit: (batch) => store.accept(batch) })
    source.setPeriod(type, { device: 'slow', reportUs: 60_000_000 })
    const toMs = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000
    const fromMs = toMs - 600_000
    for (let timeMs = fromMs; timeMs <= toMs; timeMs += 30_000) {
      const time = BigInt(timeMs) * 1_000_000n
      for (const device of ['fast', 'slow']) source.report(type, { time, device, rx_total: BigInt(timeMs - fromMs) })
    }
    await source.flush()
    await store.flush()
    const query = { metric: 'port_rx_total', function: 'rate', matchers: [], by: undefined, aggregate: 'sum' } as const
    const known = async () => {
      const { results } = await store.query({ fromMs: fromMs + 60_000, toMs, stepMs: 30_000, queries: [query] })
      const found = results[0]?.series.map(({ labels, values }) => [labels.device, values.some(Number.isFinite)])
      return Object.fromEntries(found ?? [])
    }
    // Readings 30 s apart say nothing between them where there should be 30, and everything where one is due a minute.
    assert.deepEqual(await known(), { fast: false, slow: true })
    await store.maintain()
    assert.deepEqual(await known(), { fast: false, slow: true })
  } finally {
    await close()
  }
})
