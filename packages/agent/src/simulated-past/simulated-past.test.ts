import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { markType } from '@sonde/sdk/internal'
import { parse } from 'valibot'
import { temporaryFolder } from '../../../sdk/test/files-rig.ts'
import { until } from '../../../sdk/test/helper.ts'
import { Devices } from '../devices/devices.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import { simulatorDiagOptions } from '../sources/simulator-diag/config.ts'
import { simulatorDiag } from '../sources/simulator-diag/simulator-diag.ts'
import { tracebackDefaults } from '../traceback/config.ts'
import { Traceback } from '../traceback/traceback.ts'
import { SimulatedPast } from './simulated-past.ts'

const STARTED_MS = Date.UTC(2026, 7, 1, 14, 3)
/** Pauses that the NIC sends on the priority of RDMA. The first fault is a pause storm. */
const PAUSES = { name: 'pauses', data_id: '0x1140000500000300' }
const options = parse(simulatorDiagOptions, {
  ...{ seed: 12, node_class: 'small', past_s: 600 },
  ...{ counters: [PAUSES.data_id], sample_period_us: 1000 },
})
const source = { name: 'simulator', definition: simulator, intervalMs: 1000, options }
const rings = { name: 'samples', definition: simulatorDiag, intervalMs: 1000, options }
const { book } = readRuleBook(
  JSON.stringify({
    ...{ diag_sample_period_ns: 1_000_000, sample_history_depth: 1, 'data-ids': [PAUSES] },
    rules: [{ ...PAUSES, comparison_type: 'dt_gt', comparison_value: 0, delta_samples: 200, deactivate_samples: 600 }],
  }),
)

/** The folder of events of an agent. */
function folderOf(t: TestContext, dir: string, limits: object = {}) {
  const config = { ...tracebackDefaults, ...limits, dir }
  const log = { info: () => undefined, warn: (_facts: object, message: string) => assert.fail(message) }
  const traceback = new Traceback({
    ...{ config, log, version: '1', host: 'here', sources: () => [], heldBack: () => 0 },
    ...{ recent: new RecentRing(), devices: new Devices({ host: 'here' }), accept: () => undefined },
    rules: { conditionOf: () => '', signalsOf: () => [], listed: () => [] },
    caught: (error) => assert.ifError(error),
  })
  traceback.start()
  t.after(() => traceback.close(1000))
  return { traceback, config, log }
}

/** Starts to fill the first minute and a half of the past, in which the storm is. */
function startPast(t: TestContext, { traceback, config, log }: ReturnType<typeof folderOf>) {
  const batches: Batch[] = []
  const past = new SimulatedPast({
    ...{ source, startedMs: STARTED_MS, oldestMs: STARTED_MS - 510_000 },
    store: {
      accept: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }),
      status: () => ({ queuedBytes: 0, state: 'writing' }),
    },
    events: {
      ...{ sources: [source, rings], traceback, config, version: '1', log },
      rules: { book, opened: async () => undefined },
    },
  })
  t.after(() => past.close())
  return { past, batches }
}

test('the past has the latest 20 events; their marks are in the history alone', async (t) => {
  const folder = folderOf(t, temporaryFolder(t))
  const { past, batches } = startPast(t, folder)
  const { events: counts } = (await past.filled) ?? {}
  assert.ok(counts !== undefined && counts.leftOut > 0)
  assert.deepEqual([counts.made, counts.faultsLeft], [20, 0])
  const listed = [...folder.traceback.latest()]
  assert.equal(listed.length, 20)
  assert.ok(listed.every(({ isSimulated, end, sizeBytes }) => isSimulated && end === 'cleared' && sizeBytes > 0))
  const marks = batches.flatMap(({ type, bytes, count, symbols, source: { id, labels } }) => {
    if (type !== markType || id !== rings.name) return []
    assert.equal(labels.simulated, 'true')
    return [...readRecords(markType, viewsOf(bytes), count, symbols)]
  })
  assert.deepEqual(
    new Set(marks.map(({ event, edge }) => `${event} ${edge}`)),
    new Set(listed.flatMap(({ id }) => [`${id} opened`, `${id} ended`])),
  )
})

test('events of the past stay within the limits of the folder, and remove no other event', async (t) => {
  const dir = temporaryFolder(t)
  const earlier = folderOf(t, dir, { events_max: 3 })
  const first = await startPast(t, earlier).past.filled
  assert.equal(first?.events?.made, 3)
  const kept = [...earlier.traceback.events()].map(({ id }) => id)
  await earlier.traceback.close(1000)
  const later = folderOf(t, dir, { dir_bytes: 2 << 20 })
  const second = await startPast(t, later).past.filled
  const { made = 0, leftOut = 0 } = second?.events ?? {}
  assert.ok(made > 0 && made < 10, `${made} events`)
  assert.equal(made + leftOut, 3 + (first?.events?.leftOut ?? 0))
  for (const id of kept) assert.ok(later.traceback.get(id) !== undefined, 'numbers in use are not given again')
})

test('an event of the agent that is open meanwhile keeps its samples, whatever its number', async (t) => {
  const dir = temporaryFolder(t)
  const { traceback, ...folder } = folderOf(t, dir)
  await traceback.opened()
  const id = STARTED_MS * 1000 - 4096
  const file = join(dir, `${id}.bin.part`)
  writeFileSync(file, 'samples')
  // A rule of the agent began before the node did, and its event is open.
  t.mock.method(traceback, 'get', (asked: number) => (asked === id ? { id } : undefined))
  const { past } = startPast(t, { traceback, ...folder })
  await past.close()
  assert.ok(existsSync(file))
})

test('a stop in the middle leaves whole events alone', async (t) => {
  const dir = temporaryFolder(t)
  const folder = folderOf(t, dir)
  const { past } = startPast(t, folder)
  await until('an event is kept', () => folder.traceback.archive.count > 0)
  // The thread may write no file at the moment at which it is stopped.
  writeFileSync(join(dir, '1785592399596034.bin.part'), 'unfinished')
  await past.close()
  assert.equal(await past.filled, undefined)
  const names = readdirSync(dir).filter((name) => !name.startsWith('.'))
  const ids = new Set(names.map((name) => name.split('.')[0]))
  assert.deepEqual(names.sort(), [...ids].flatMap((id) => [`${id}.bin`, `${id}.json`]).sort())
  await folder.traceback.close(1000)
  const next = folderOf(t, dir)
  await next.traceback.opened()
  assert.equal(next.traceback.archive.count, ids.size)
})
