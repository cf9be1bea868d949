import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { type Batch, createFiles, createSource, wallNs } from '@sonde/sdk'
import type { FilesDurability } from '@sonde/sdk/internal'
import { atLeast, type BenchResult, median } from '../bench.ts'
import { jobRecord, jobType } from './record.ts'

const DURABILITIES: readonly FilesDurability[] = ['none', 'interval', 'block']
/** Parts of the speed of `writeSync`. Without a disk to wait for, two checksums of each block show. */
const GATES: Readonly<Record<FilesDurability, number>> = { none: 0.4, interval: 0.8, block: 0.8 }
const BLOCKS = 4096
/** Different batches, given in turn: as many as a processor's cache does not hold. */
const BATCHES = 64
/** Blocks given in one turn of the loop. */
const TURN_BLOCKS = 4
/** Blocks between two flushes. Each flush waits for the one before, like an application that limits its queue. */
const FLUSH_EVERY = 64
const INTERVAL_MS = 1000
const MEGABYTE = 1e6

/** What one side took. */
interface WriteCost {
  readonly seconds: number
  readonly cpuSeconds: number
}

/** How fast the sink of files writes, beside `writeSync` of the very blocks that it writes; see the README beside. */
export async function benchWriter(rounds: number): Promise<BenchResult> {
  const batches = makeBatches()
  const files = await blocksOf(batches)
  const bytes = files.flat().reduce((sum, block) => sum + block.byteLength, 0)
  const records = Array.from({ length: BLOCKS }, (_, i) => batches[i % BATCHES]?.count ?? 0).reduce((a, b) => a + b)
  const result: { figures: BenchResult['figures'][number][]; lines: string[] } = { figures: [], lines: [] }
  for (const durability of DURABILITIES) {
    const [ours, plain]: [WriteCost[], WriteCost[]] = [[], []]
    for (let round = -1; round < rounds; round++) {
      const pair = [await timed(() => writeOurs(batches, durability)), await timed(() => writePlain(files, durability))]
      if (round < 0) continue
      ours.push(pair[0] as WriteCost)
      plain.push(pair[1] as WriteCost)
    }
    const ratio = median(ours.map(({ seconds }, i) => (plain[i]?.seconds ?? Number.NaN) / seconds))
    result.figures.push(
      {
        name: `writer, durability ${durability}, against writeSync`,
        value: ratio,
        unit: 'x',
        gate: atLeast(ratio, GATES[durability]),
      },
      {
        name: `writer, durability ${durability}`,
        value: records / 1e6 / median(ours.map(({ seconds }) => seconds)),
        unit: 'M records/s',
      },
      {
        name: `writeSync, durability ${durability}`,
        value: bytes / MEGABYTE / median(plain.map(({ seconds }) => seconds)),
        unit: 'MB/s',
      },
      {
        name: `writer, durability ${durability}, processor time`,
        value: median(ours.map(({ cpuSeconds }) => cpuSeconds / (records / 1e6))),
        unit: 's/M records',
      },
    )
  }
  for (const root of written.splice(0)) rmSync(root, { recursive: true })
  result.lines.push(
    `${BLOCKS} blocks of ${batches[0]?.count} records of ${jobType.layout.recordBytes} bytes, ${(bytes / MEGABYTE).toFixed(0)} MB in ${files.length} files, ${rounds} rounds.`,
  )
  return result
}

function makeBatches(): Batch[] {
  const batches: Batch[] = []
  const source = createSource({ id: 'bench', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  const time = wallNs()
  for (let i = 0; batches.length < BATCHES; i++) {
    source.report(jobType, jobRecord(time, i))
  }
  return batches
}

/** The blocks that the sink makes of the batches, file by file: what the plain writer writes. */
async function blocksOf(batches: readonly Batch[]): Promise<Buffer[][]> {
  const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  try {
    await give(root, batches, 'none')
    return globSync('[0-9]*/**/*.bin', { cwd: root }).map((path) => splitBlocks(readFileSync(join(root, path))))
  } finally {
    rmSync(root, { recursive: true })
  }
}

function splitBlocks(file: Buffer): Buffer[] {
  const blocks = [file.subarray(0, 64)]
  for (let at = 64; at < file.byteLength; ) {
    const end = at + 64 + ((file.readUInt32LE(at + 8) + 7) & ~7)
    blocks.push(file.subarray(at, end))
    at = end
  }
  return blocks
}

async function give(dataRoot: string, batches: readonly Batch[], durability: FilesDurability): Promise<void> {
  const sink = createFiles({ dataRoot, durability, intervalMs: INTERVAL_MS })
  let before: Promise<void> | undefined
  for (let i = 0; i < BLOCKS; i++) {
    sink.accept(batches[i % BATCHES] as Batch)
    if (i % TURN_BLOCKS === TURN_BLOCKS - 1) await turn()
    if (i % FLUSH_EVERY !== FLUSH_EVERY - 1) continue
    await before
    before = sink.flush()
  }
  await sink.flush()
  await sink.close()
  if (sink.stats.out !== sink.stats.in) throw new Error(`${sink.stats.in - sink.stats.out} records were lost`)
}

async function writeOurs(batches: readonly Batch[], durability: FilesDurability): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  await give(root, batches, durability)
  written.push(root)
}

function writePlain(files: readonly (readonly Buffer[])[], durability: FilesDurability): void {
  const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  let syncedMs = performance.now()
  let count = 0
  for (const [i, blocks] of files.entries()) {
    const descriptor = openSync(join(root, `${i}.bin`), 'wx')
    if (durability === 'block') syncFolder(root)
    for (const block of blocks) {
      writeSync(descriptor, block)
      count++
      const isDue =
        durability === 'interval'
          ? performance.now() - syncedMs >= INTERVAL_MS
          : durability === 'block' && count % FLUSH_EVERY === 0
      if (!isDue) continue
      fdatasyncSync(descriptor)
      if (durability === 'interval') syncFolder(root)
      syncedMs = performance.now()
    }
    if (durability !== 'none') fdatasyncSync(descriptor)
    closeSync(descriptor)
  }
  if (durability === 'interval') syncFolder(root)
  written.push(root)
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * Folders that were written. They are removed at the end. ext4 reuses the inode of a removed file only after minutes,
 * and searches all such inodes for each new file.
 */
const written: string[] = []

/** Gives the space of the files in a folder back. */
function empty(root: string): void {
  for (const path of globSync('**/*.bin', { cwd: root })) truncateSync(join(root, path))
}

async function timed(work: () => void | Promise<void>): Promise<WriteCost> {
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await work()
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  empty(written.at(-1) ?? '')
  return { seconds, cpuSeconds: (user + system) / 1e6 }
}
