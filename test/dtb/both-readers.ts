import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createFiles, createSource, type Source } from '@sonde/sdk'
import type { Random } from '../../packages/sdk/test/random.ts'
import { EVERY_KIND, everyKindRecord } from './every-kind.ts'
import { SONDE_READ } from './sonde-read.ts'

/** What may wait to be written. */
const FLUSH_EVERY = 20_000
const FIRST_NS = 1_790_000_000_000_000_000n
/** Small enough that a hundred thousand records are several files. Unit: bytes. */
const FILE_BYTES_MAX = 4 << 20

/** The reader in Python, which was written from docs/dtb.md alone. */
export const PYTHON_READER = fileURLToPath(new URL('reader.py', import.meta.url))

/** Records of every kind: all types in turn, some of each at a time, so that their blocks lie among each other. */
export async function writeEveryKind(dataRoot: string, recordCount: number, random: Random): Promise<void> {
  const sink = createFiles({ dataRoot, maxBytes: FILE_BYTES_MAX, durability: 'none' })
  const sources: Source[] = ['', 'b "2"'].map((tag, i) =>
    createSource({
      id: `every kind/${i}`,
      tag,
      clock: i === 0 ? 'wall' : 'device',
      emit: (batch) => sink.accept(batch),
    }),
  )
  for (let i = 0; i < recordCount; i++) {
    const type = EVERY_KIND[Math.floor(i / 50) % EVERY_KIND.length]
    assert.ok(type !== undefined)
    sources[Math.floor(i / 10_000) % 2]?.report(type, everyKindRecord(random, type, FIRST_NS + BigInt(i) * 1000n))
    if (i % FLUSH_EVERY === 0) await sink.flush()
  }
  for (const source of sources) await source.close()
  await sink.close()
  assert.deepEqual([...sink.stats.dropped], [])
}

/**
 * Reads files with `sonde read` and with the reader in Python; fails at the first record that they read differently.
 * Gives how many records and files there were. The output of both stays in `outputDir`.
 */
export async function readWithBoth(
  dataRoot: string,
  outputDir: string,
): Promise<{ readonly records: number; readonly files: number }> {
  const files = readdirSync(dataRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.bin'))
    .sort()
    .map((path) => join(dataRoot, path))
  const [program, ...words] = SONDE_READ
  const [ours, theirs] = await Promise.all([
    run(program, [...words, dataRoot], join(outputDir, 'ours')),
    run('python3', [PYTHON_READER, ...files], join(outputDir, 'theirs')),
  ])
  return { records: await sameLines(ours, theirs), files: files.length }
}

/** Runs a reader into a file; it must find nothing wrong. */
async function run(program: string, args: readonly string[], output: string): Promise<string> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  })
  let told = ''
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk.toString()
  })
  const ends = new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  const [code] = await Promise.all([ends, finished(child.stdout.pipe(createWriteStream(output)))])
  assert.equal(code, 0, told)
  const wrong = told.split('\n').filter((line) => line !== '' && !/, ended at \d+, 0 bytes ignored$/.test(line))
  assert.deepEqual(wrong, [])
  return output
}

/** Counts lines; fails at the first that says something else than its counterpart. */
async function sameLines(one: string, other: string): Promise<number> {
  const theirs = linesOf(other)
  let count = 0
  for await (const line of linesOf(one)) {
    const { value } = await theirs.next()
    count++
    if (line !== value)
      assert.deepEqual(parsed(line), parsed(value ?? '"nothing"'), `record ${count}: ${line}\n${value}`)
  }
  assert.equal((await theirs.next()).done, true, 'the reader in Python has more')
  return count
}

/** Lines end at a newline alone: other separators stand in texts. */
async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  assert.equal(rest, '', 'the last line is not whole')
}

/** JSON with every integer exact; floats are written in different ways by the two, integers in one. */
function parsed(line: string): unknown {
  return JSON.parse(line, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source ?? ''
    return /^-?\d{16,}$/.test(source) ? BigInt(source) : value
  })
}
