import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Batch,
  createFiles,
  createIpc,
  createSource,
  type ReadRecord,
  type RecordType,
  readRecords,
  type Source,
  viewsOf,
} from '@sonde/sdk'
import { ownLabels } from '@sonde/sdk/internal'
import { keepingService } from '../../../packages/agent/test/keeping-service.ts'
import { openStore } from '../../../packages/console/test/open-store.ts'
import { anyRecord, anyType } from '../../../packages/sdk/test/any-type.ts'
import { readFiles } from '../../../packages/sdk/test/files-rig.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { FaultLoop } from '../loop.ts'

const HOUR_MS = 3_600_000
const ALL = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }

/** The same batches over every way that batches go. */
export const link: FaultLoop = {
  name: 'link',
  what: 'random batches of several sources, whose tables of labels and texts grow and are replaced, go through IPC, files and the store: each gives the same records, with the same labels and texts',
  testRounds: 3,
  async open() {
    let records = 0
    return {
      async round(random) {
        const folder = mkdtempSync(join(tmpdir(), 'sonde-link-'))
        try {
          records += await compareWays(random, folder)
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      },
      async close() {
        return `${records} records`
      },
    }
  },
}

async function compareWays(random: Random, folder: string): Promise<number> {
  const arrived: string[] = []
  const types = Array.from({ length: random.integer(1, 4) }, () => anyType(random))
  const service = await keepingService(join(folder, 'sockets'), (batch) => arrived.push(...textsOf([batch])))
  const ipc = createIpc({ socketsDir: join(folder, 'sockets') })
  const dataRoot = join(folder, 'files')
  const files = createFiles({ dataRoot, durability: 'none' })
  const { store, close } = await openStore()
  try {
    const given: string[] = []
    const emit = (batch: Batch) => {
      given.push(...textsOf([batch]))
      for (const sink of [ipc, files, store]) sink.accept(batch)
    }
    for (const source of sourcesOf(random, emit)) await reportAny(random, source, types)
    await Promise.all([ipc.flush(), files.flush(), store.flush()])
    await Promise.all([ipc.close(), files.close()])
    const wanted = given.sort()
    const stored = await Promise.all(
      [...new Set(types.map(({ name }) => name))].map((type) => store.records({ ...ALL, type })),
    )
    assert.deepEqual(arrived.sort(), wanted, 'over IPC')
    assert.deepEqual(textsOf(readFiles(dataRoot).flatMap(({ batches }) => batches)).sort(), wanted, 'from files')
    assert.deepEqual(textsOf(stored.flat()).sort(), wanted, 'from the store')
    return wanted.length
  } finally {
    await Promise.all([service.close(), ipc.close(), files.close(), close()])
  }
}

/** Tables of all sizes, so that some are replaced. */
function sourcesOf(random: Random, emit: (batch: Batch) => void): Source[] {
  return Array.from({ length: random.integer(1, 4) }, (_, i) =>
    createSource({
      id: `s${i}`,
      tag: random.pick(['', 'lab']),
      labels: { rack: `r${i}` },
      clock: random.pick(['wall', 'device']),
      symbolLimit: random.pick([12, 65_536]),
      textLimit: random.pick([3, 30, 32_768]),
      bufferBytes: random.pick([4000, 60_000]),
      emit,
    }),
  )
}

async function reportAny(random: Random, source: Source, types: readonly RecordType[]): Promise<void> {
  const startMs = Date.now() - 5 * HOUR_MS
  for (let i = 0; i < 300; i++) {
    const type = random.pick(types)
    source.report(type, anyRecord(random, type, startMs + random.integer(0, HOUR_MS)))
    if (random.chance(0.05)) source.emit()
    if (random.chance(0.02)) await new Promise((resolve) => setImmediate(resolve))
  }
  await source.flush()
  assert.deepEqual([...source.stats.dropped], [], 'a full table of labels loses nothing')
}

/** Records with all that they refer to, each as a text that tells apart what JSON does not. */
function textsOf(batches: readonly Batch[]): string[] {
  return batches.flatMap(({ type, source, bytes, count, symbols, clock }) => {
    const records = readRecords(type, viewsOf(bytes.slice()), count, symbols) as Iterable<ReadRecord>
    const who = { type: type.fingerprint, id: source.id, tag: source.tag, labels: ownLabels(source), clock }
    return Array.from(records, (record) => JSON.stringify({ ...who, ...record }, exactly))
  })
}

function exactly(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'number' || (Number.isFinite(value) && !Object.is(value, -0))) return value
  return `f${Object.is(value, -0) ? '-0' : value}`
}
