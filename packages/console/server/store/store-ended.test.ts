import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Batch, createSource, defineType, gauge, label, type RecordType, timestamp } from '@sonde/sdk'
import { openStore } from '../../test/open-store.ts'
import type { EndedNames } from './protocol.ts'

function linkType(fields: readonly string[], name = 'wire'): RecordType {
  const gauges = Object.fromEntries(fields.map((field) => [field, gauge('f64')]))
  return defineType(name, 'A link', { time: timestamp(), port: label(), ...gauges })
}

const before = linkType(['speed_bytes', 'lanes', 'level'])
const after = linkType(['speed_bytes_per_second', 'level'])

interface Start {
  readonly type: RecordType
  readonly client?: bigint
}

/** Opens the store of a folder once for each call, reports a record of each type, and returns the ended names. */
function starts(t: TestContext): (...reported: readonly Start[]) => Promise<EndedNames[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-ended-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return async (...reported) => {
    const { store } = await openStore({ path: join(folder, 'store.db') })
    const ended: EndedNames[] = []
    store.onEnded = (names) => ended.push(names)
    try {
      for (const { type, client } of reported) {
        const page = client === undefined ? {} : { origin: 'client' as const, page: { client, sequence: 1n } }
        const source = createSource({ id: 'links', emit: (batch: Batch) => store.accept({ ...batch, ...page }) })
        const gauges = Object.fromEntries([...type.metrics.keys()].map((field) => [field, 1]))
        source.report(type, { time: BigInt(Date.now()) * 1_000_000n, port: 'p0', ...gauges })
        source.flush()
      }
      await store.flush()
      await store.maintain()
    } finally {
      await store.close()
    }
    return ended
  }
}

test('metric names that a type lost are reported once, at the first start that lacks them', async (t) => {
  const start = starts(t)
  assert.deepEqual(await start({ type: before }), [])
  assert.deepEqual(await start({ type: after }), [{ count: 2, examples: ['wire_lanes', 'wire_speed_bytes'] }])
  assert.deepEqual(await start({ type: after }), [])
  const later = linkType(['speed_bytes_per_second'])
  assert.deepEqual(await start({ type: later }), [{ count: 1, examples: ['wire_level'] }])
  // The names are back for a while. The versions that have them were reported already.
  assert.deepEqual(
    (await start({ type: before })).map(({ count }) => count),
    [1],
  )
  assert.deepEqual(await start({ type: after }), [])
})

test('a name that another type has now, a type without reports and types of applications are not reported', async (t) => {
  const start = starts(t)
  const application = linkType(['requests'], 'shop')
  await start({ type: before }, { type: application, client: 7n })
  assert.deepEqual(await start({ type: linkType(['orders'], 'shop'), client: 8n }), [])
  const lanes = gauge('f64', { metric: 'wire_lanes' })
  const heir = defineType('fibre', 'A fibre', { time: timestamp(), port: label(), lanes })
  assert.deepEqual(await start({ type: heir }), [])
  assert.deepEqual(await start({ type: after }, { type: heir }), [{ count: 1, examples: ['wire_speed_bytes'] }])
})

test('types that stand beside each other in one run have ended nothing', async (t) => {
  const start = starts(t)
  assert.deepEqual(await start({ type: before }, { type: after }), [])
  assert.deepEqual(await start({ type: before }, { type: after }), [])
})
