import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Batch, createFiles, createSource, delivery, type Sink, wallNs } from '@sonde/sdk'
import { atLeast, atMost, median, type RunBench } from '../bench.ts'
import { jobRecord, jobType } from '../files/record.ts'

/** The queue, written and read back, against the writer of files. */
const RATIO_GATE = 0.4
/** What an outage may take of memory. Unit: 10^6 bytes. */
const OUTAGE_MB_GATE = 32
const OUTAGE_BYTES = 256 << 20
const BATCHES = 2000
const RECORDS_OF_BATCH = 800
const BATCHES_OF_TURN = 4

/** How fast a queue on disk is written and read back; see the README beside. */
export const run: RunBench = async ({ rounds }) => {
  const batch = batchOfJobs()
  // First: rounds leave the process memory that an outage could use again.
  const outageMb = await memoryOfOutage(batch)
  const ways = [writeFiles, throughQueue]
  const samples = ways.map(() => [] as number[])
  for (let round = -1; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
      const startMs = performance.now()
      await way(root, batch)
      if (round >= 0) samples[i]?.push((BATCHES * batch.bytes.byteLength) / 1000 / (performance.now() - startMs))
      rmSync(root, { recursive: true })
    }
  }
  const [files = [], queue = []] = samples
  const ratio = median(queue.map((speed, i) => speed / (files[i] ?? Number.NaN)))
  return {
    figures: [
      {
        name: 'queue, written and read back, against the files writer',
        value: ratio,
        unit: 'x',
        gate: atLeast(ratio, RATIO_GATE),
      },
      { name: 'files writer', value: median(files), unit: 'MB/s' },
      { name: 'queue, written and read back', value: median(queue), unit: 'MB/s' },
      {
        name: 'growth of resident memory through an outage with 256 MiB queued',
        value: outageMb,
        unit: 'MB',
        gate: atMost(outageMb, OUTAGE_MB_GATE),
      },
    ],
    lines: [`${BATCHES} batches of ${batch.bytes.byteLength} bytes, ${rounds} rounds.`],
  }
}

async function writeFiles(root: string, batch: Batch): Promise<void> {
  const files = createFiles({ dataRoot: root, durability: 'interval' })
  await give(files, batch)
  await files.close()
}

/** The far end takes everything at once. */
async function throughQueue(root: string, batch: Batch): Promise<void> {
  let taken = 0
  const done = Promise.withResolvers<void>()
  const queue = delivery<number>({
    name: 'bench',
    queueDir: root,
    queueLimitBytes: 2 ** 30,
    lingerMs: 0,
    encode: (batches) => batches.reduce((sum, { count }) => sum + count, 0),
    send: (count) => {
      taken += count
      if (taken === BATCHES * RECORDS_OF_BATCH) done.resolve()
      return Promise.resolve({ outcome: 'ok' })
    },
  })
  await give(queue, batch)
  await done.promise
  await queue.close()
}

/** The greatest growth of resident memory while the far end is away. A first outage warms up. Unit: 10^6 bytes. */
async function memoryOfOutage(batch: Batch): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  const queue = delivery<number>({
    name: 'bench',
    queueDir: root,
    queueLimitBytes: 2 ** 30,
    lingerMs: 0,
    backoffMaxMs: 500,
    encode: (batches) => batches.reduce((sum, { count }) => sum + count, 0),
    send: () => Promise.resolve({ outcome: 'retry', reason: 'away' }),
  })
  await give(queue, batch, BATCHES / 10)
  const startBytes = process.memoryUsage.rss()
  let peakBytes = startBytes
  for (let givenBytes = 0; givenBytes < OUTAGE_BYTES; givenBytes += (BATCHES / 10) * batch.bytes.byteLength) {
    await give(queue, batch, BATCHES / 10)
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }
  if (queue.queuedBytes < OUTAGE_BYTES) throw new Error(`only ${queue.queuedBytes} bytes were queued`)
  await queue.close()
  rmSync(root, { recursive: true })
  return (peakBytes - startBytes) / 1e6
}

async function give(sink: Sink, batch: Batch, batches = BATCHES): Promise<void> {
  for (let given = 0; given < batches; given++) {
    sink.accept(batch)
    if (given % BATCHES_OF_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    await sink.ready?.()
  }
  await sink.flush()
}

function batchOfJobs(): Batch {
  let made: Batch | undefined
  const source = createSource({
    id: 'bench',
    bufferBytes: RECORDS_OF_BATCH * jobType.layout.recordBytes,
    emit: (batch) => {
      made ??= { ...batch, bytes: batch.bytes.slice() }
    },
  })
  const startNs = wallNs()
  for (let i = 0; i < RECORDS_OF_BATCH; i++) source.report(jobType, jobRecord(startNs, i))
  source.flush()
  if (made === undefined) throw new Error('no batch was made')
  return made
}
