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
  readRecords,
  type Source,
  viewsOf,
} from '@sonde/sdk'
import { ownLabels } from '@sonde/sdk/internal'
import { keepingService } from '../../../packages/agent/test/keeping-service.ts'
import { openStore } from '../../../packages/console/test/open-store.ts'
import { readFiles } from '../../../packages/sdk/test/files-rig.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { HostLink, reportElsewhere } from '../link/any-host.ts'
import { anyTypes, reportAny, reportHere } from '../link/any-source.ts'
import type { FaultLoop } from '../loop.ts'

const HOUR_MS = 3_600_000
const ALL = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, recordLimit: 1_000_000 }

/** The same batches over every way that batches go. */
export const link: FaultLoop = {
  name: 'link',
  what: 'random batches of several sources, whose tables of labels and texts grow and are replaced, in this process and in a child, go through IPC, files, the store and the pipe of a host: each gives the same records, with the same labels and texts',
  testRounds: 2,
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
  const options = { seed: random.integer(0, 1e9), startMs: Date.now() - 5 * HOUR_MS }
  const types = anyTypes(options.seed)
  const service = await keepingService(join(folder, 'sockets'), (batch) => arrived.push(...textsOf([batch])))
  const ipc = createIpc({ socketsDir: join(folder, 'sockets') })
  const dataRoot = join(folder, 'files')
  const files = createFiles({ dataRoot, durability: 'none' })
  const { store, close } = await openStore()
  const piped: string[] = []
  const hostLink = new HostLink(types, (batch) => piped.push(...textsOf([batch])))
  try {
    const given: string[] = []
    const give = (batch: Batch) => given.push(...textsOf([batch]))
    const emit = (batch: Batch) => {
      for (const way of [ipc, files, store, hostLink]) way.accept(batch)
    }
    const both = (batch: Batch) => {
      give(batch)
      emit(batch)
    }
    for (const source of sourcesOf(random, both)) {
      await reportAny(random, source, types, options.startMs)
      assert.deepEqual([...source.stats.dropped], [], 'a full table of labels loses nothing')
    }
    await reportHere(options, give)
    await reportElsewhere(random.pick(['any', 'worker']), options, emit)
    await Promise.all([ipc.flush(), files.flush(), store.flush()])
    await Promise.all([ipc.close(), files.close(), hostLink.close()])
    const wanted = given.sort()
    const stored = await Promise.all(
      [...new Set(types.map(({ name }) => name))].map((type) => store.records({ ...ALL, type })),
    )
    assert.deepEqual(piped.sort(), wanted, 'from a host')
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
