import { spawnSync } from 'node:child_process'
import { createReadStream, globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  createFiles,
  createSource,
  DtbDecoder,
  numberAt,
  openDtb,
  type RecordType,
  readRecords,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { jobRecord, jobType } from './record.ts'

/** How many times faster than `JSON.parse` of each line. */
const COLUMNS_GATE = 15
const RECORDS = 4_000_000
/** Slower ways read fewer records. */
const FEW_RECORDS = 500_000
const FLUSH_EVERY = 50_000
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** A way to read; gives how many records it came upon. */
interface Way {
  readonly name: string
  read(): number | Promise<number>
}

/** How fast files of records are read; see the README beside. */
export async function benchReader(rounds: number): Promise<BenchResult> {
  const root = mkdtempSync(join(tmpdir(), 'sonde-bench-'))
  try {
    const many = await write(join(root, 'many'), RECORDS)
    const few = await write(join(root, 'few'), FEW_RECORDS)
    const ways = waysOf(many, few, join(root, 'few'), join(root, 'few.jsonl'))
    const samples = ways.map(() => [] as number[])
    for (let round = -1; round < rounds; round++) {
      for (const [i, way] of ways.entries()) {
        const startMs = performance.now()
        const records = await way.read()
        if (round >= 0) samples[i]?.push(records / 1000 / (performance.now() - startMs))
      }
    }
    return resultOf(ways, samples, many, rounds)
  } finally {
    rmSync(root, { recursive: true })
  }
}

function waysOf(many: readonly string[], few: readonly string[], fewDir: string, jsonl: string): Way[] {
  writeFileSync(jsonl, sondeRead(fewDir, 'pipe').stdout)
  return [
    { name: 'reader, every checksum and two columns of each record', read: () => columns(many) },
    { name: 'reader, headers of blocks alone', read: () => headers(many) },
    { name: 'reader, each record as an object', read: () => objects(few) },
    { name: 'JSON lines of the same records, each as an object', read: () => jsonLines(jsonl) },
    { name: 'sonde read to JSON lines, start of the process included', read: () => printed(fewDir) },
  ]
}

function resultOf(
  ways: readonly Way[],
  samples: readonly number[][],
  files: readonly string[],
  rounds: number,
): BenchResult {
  const speeds = ways.map(({ name }, i): Figure => ({ name, value: median(samples[i] ?? []), unit: 'M records/s' }))
  const [byColumn = [], , asObjects = [], ofLines = []] = samples
  const ratioOf = (ours: readonly number[]) => median(ours.map((speed, i) => speed / (ofLines[i] ?? Number.NaN)))
  const columnRatio = ratioOf(byColumn)
  const figures: Figure[] = [
    {
      name: 'reader against JSON lines, two columns of each record',
      value: columnRatio,
      unit: 'x',
      gate: atLeast(columnRatio, COLUMNS_GATE),
    },
    { name: 'reader against JSON lines, each record as an object', value: ratioOf(asObjects), unit: 'x' },
    ...speeds,
  ]
  const megabytes = files.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6
  const line = `${RECORDS / 1e6} M records of ${jobType.layout.recordBytes} bytes, ${megabytes.toFixed(0)} MB in ${files.length} files that the page cache holds, ${rounds} rounds.`
  return { figures, lines: [line] }
}

/**
 * Reads everything that is in a file, and gives the number of records; the sums keep the reading from being left out.
 */
function columns(files: readonly string[]): number {
  const [wait, bytes] = ['wait_seconds', 'bytes_total'].map(slotOf)
  let count = 0
  let sum = 0
  eachBatch(files, (type, payload, records) => {
    const views = viewsOf(payload)
    const { recordBytes } = type.layout
    for (let at = 0; at < records * recordBytes; at += recordBytes) {
      sum += numberAt(wait as Slot, views, at) + numberAt(bytes as Slot, views, at)
    }
    count += records
  })
  if (!(sum > 0)) throw new Error('nothing was summed up')
  return count
}

function headers(files: readonly string[]): number {
  let count = 0
  for (const path of files) {
    const file = openDtb(path)
    const decoder = new DtbDecoder(file, { wants: () => false })
    for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
      if (step.kind === 'block') count += step.header.count
    }
    file.close()
  }
  return count
}

function objects(files: readonly string[]): number {
  let count = 0
  for (const path of files) {
    const file = openDtb(path)
    const decoder = new DtbDecoder(file)
    for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
      if (step.kind !== 'records') continue
      const { type, bytes, count: records, symbols } = step.batch
      for (const record of readRecords(type, viewsOf(bytes), records, symbols)) if ('queue' in record) count++
    }
    file.close()
  }
  return count
}

async function jsonLines(path: string): Promise<number> {
  let count = 0
  for await (const line of createInterface({ input: createReadStream(path) })) if ('record' in JSON.parse(line)) count++
  return count
}

function printed(dir: string): number {
  sondeRead(dir)
  return FEW_RECORDS
}

function sondeRead(dir: string, stdout: 'pipe' | 'null' = 'null'): { stdout: string } {
  const out = stdout === 'pipe' ? 'pipe' : 'ignore'
  const args = ['--conditions=source', '--disable-warning=ExperimentalWarning', MAIN, 'read', dir]
  const run = spawnSync(process.execPath, args, {
    stdio: ['ignore', out, 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  if (run.status !== 0) throw new Error(`sonde read ended with ${run.status}`)
  return { stdout: run.stdout ?? '' }
}

function eachBatch(files: readonly string[], take: (type: RecordType, bytes: Uint8Array, count: number) => void): void {
  for (const path of files) {
    const file = openDtb(path)
    const decoder = new DtbDecoder(file)
    for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
      if (step.kind === 'records') take(step.batch.type, step.batch.bytes, step.batch.count)
    }
    file.close()
  }
}

function slotOf(name: string): Slot {
  const slot = jobType.layout.slots.find((each) => each.name === name)
  if (slot === undefined) throw new Error(`no field ${name}`)
  return slot
}

/** Writes files through the sink, as an application would; gives their paths. */
async function write(dataRoot: string, records: number): Promise<string[]> {
  const sink = createFiles({ dataRoot, maxBytes: 64 << 20, durability: 'none' })
  const source = createSource({ id: 'bench', emit: (batch) => sink.accept(batch) })
  const time = wallNs()
  for (let i = 0; i < records; i++) {
    source.report(jobType, jobRecord(time, i))
    if (i % FLUSH_EVERY === 0) await sink.flush()
  }
  await source.close()
  await sink.close()
  return globSync('[0-9]*/**/*.bin', { cwd: dataRoot }).map((path) => join(dataRoot, path))
}
