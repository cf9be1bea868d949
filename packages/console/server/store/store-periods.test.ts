import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, counter, createSource, defineType, label, timestamp, wallNs } from '@sonde/sdk'
import { periodType } from '@sonde/sdk/internal'
import { openStore } from '../../test/open-store.ts'
import type { Store } from './store.ts'

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
    // Readings 30 s apart give no rate if 30 are due between them, and a full rate if one is due each minute.
    assert.deepEqual(await known(), { fast: false, slow: true })
    await store.maintain()
    assert.deepEqual(await known(), { fast: false, slow: true })
  } finally {
    await close()
  }
})

/** Devices with a value for a minute, although they report twice in it. */
async function knownOf(store: Store, toMs: number): Promise<(string | undefined)[]> {
  const query = { metric: 'port_rx_total', function: 'rate', matchers: [], by: undefined, aggregate: 'sum' } as const
  const { results } = await store.query({ fromMs: toMs - 60_000, toMs, stepMs: 30_000, queries: [query] })
  const series = results[0]?.series ?? []
  return series.filter(({ values }) => values.some(Number.isFinite)).map(({ labels }) => labels.device)
}

test('a source has periods of 1024 types and devices, the first ones; of the rest the period is that of all', async () => {
  const { store, close } = await openStore()
  try {
    const source = createSource({ id: 'greedy', intervalMs: 1000, emit: (batch) => store.accept(batch) })
    for (let i = 0; i < 2000; i++) source.setPeriod(type, { device: `d${i}`, reportUs: 60_000_000 })
    const toMs = Math.floor(Date.now() / 60_000) * 60_000
    for (const device of ['d0', 'd1022', 'd1023', 'd1999'])
      for (const agoMs of [60_000, 30_000, 0])
        source.report(type, { time: BigInt(toMs - agoMs) * 1_000_000n, device, rx_total: 60_000 - agoMs })
    await source.flush()
    await store.flush()
    // The period of the source takes one of the places.
    assert.deepEqual((await knownOf(store, toMs)).sort(), ['d0', 'd1022'])
  } finally {
    await close()
  }
})

test('periods that a client names, however long, are its own: those of others stay', async () => {
  const { store, close } = await openStore()
  try {
    const page = (sequence: bigint) => ({ page: { client: 7n, sequence }, origin: 'client' as const })
    let pages = 0n
    const emit = (batch: Batch) => store.accept({ ...batch, ...page(++pages) })
    const client = createSource({ id: 'client', emit })
    const honest = createSource({ id: 'nic', intervalMs: 1000, emit: (batch) => store.accept(batch) })
    const toMs = Math.floor(Date.now() / 60_000) * 60_000
    const us = [0n, 2n ** 64n - 1n, 86_400_000_001n, 86_400_000_000n, 1n]
    for (const report_us of us)
      for (const [name, device] of [
        ['', ''],
        ['port', ''],
        ['port', 'theirs'],
        ['port', 'mine'],
        ['', 'theirs'],
      ] as const)
        client.report(periodType, { time: wallNs(), type: name, device, report_us })
    for (const [source, device] of [
      [client, 'mine'],
      [honest, 'theirs'],
    ] as const)
      for (const agoMs of [60_000, 30_000, 0])
        source.report(type, { time: BigInt(toMs - agoMs) * 1_000_000n, device, rx_total: 60_000 - agoMs })
    await Promise.all([client.flush(), honest.flush()])
    await store.flush()
    // Readings 30 s apart give no rate if one is due each second, and a full rate if one is due each day.
    assert.deepEqual(await knownOf(store, toMs), ['mine'])
    await store.maintain()
    assert.deepEqual(await knownOf(store, toMs), ['mine'])
  } finally {
    await close()
  }
})
