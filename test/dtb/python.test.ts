import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createFiles, createSource, type Source } from '@sonde/sdk'
import { sampleFile } from '../../packages/sdk/test/dtb-sample.ts'
import { Random, SEED } from '../../packages/sdk/test/random.ts'
import { needs } from '../debian.ts'
import { damage, decode } from './damage.ts'
import { EVERY_KIND, everyKindRecord } from './every-kind.ts'
import { SONDE_READ } from './sonde-read.ts'

const RECORD_COUNT = 1_000_000
/** What may wait to be written. */
const FLUSH_EVERY = 20_000
const FIRST_NS = 1_790_000_000_000_000_000n

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test(
  `the reader in Python and \`sonde read\` agree on ${RECORD_COUNT} records of every kind (seed ${SEED})`,
  needs('python3'),
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'sonde-dtb-'))
    t.after(() => rmSync(dir, { recursive: true, force: true }))
    await writeRecords(join(dir, 'data'))
    const files = readdirSync(join(dir, 'data'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.bin'))
      .sort()
      .map((path) => join(dir, 'data', path))
    const [program, ...words] = SONDE_READ
    const [ours, theirs] = await Promise.all([
      run(t, program, [...words, join(dir, 'data')], join(dir, 'ours')),
      run(t, 'python3', [here('reader.py'), ...files], join(dir, 'theirs')),
    ])
    assert.equal(await sameLines(ours, theirs), RECORD_COUNT)
  },
)

test(`both stop at the same place of a damaged file (seed ${SEED})`, needs('python3'), async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-dtb-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const random = new Random(SEED)
  const ours = new Map<string, string>()
  for (let i = 0; i < 300; i++) {
    const sample = await sampleFile(random, 10)
    const cut = sample.bytes.subarray(0, random.integer(0, sample.bytes.length))
    const bytes = random.chance(0.3) ? cut : damage(random, sample)
    const path = join(dir, `${i}.bin`)
    writeFileSync(path, bytes)
    const { end } = decode(bytes, { salvage: false })
    ours.set(path, `${end.state} at ${end.at}, ${end.ignoredBytes} bytes ignored`)
  }
  const { stderr } = spawnSync('python3', [here('reader.py'), ...ours.keys()], { encoding: 'utf8', maxBuffer: 1 << 26 })
  const theirs = stderr
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, path = '', state, rest] =
        /^(.*\.bin): \d+ records, (\w+).*?( at \d+, \d+ bytes ignored)$/.exec(line) ?? []
      return [path, `${state}${rest}`]
    })
  assert.deepEqual(new Map(theirs as [string, string][]), ours)
})

/** All types in turn, some records of each at a time, so that blocks of all of them lie among each other. */
async function writeRecords(dataRoot: string): Promise<void> {
  const sink = createFiles({ dataRoot, maxBytes: 32 << 20, durability: 'none' })
  const random = new Random(SEED)
  const sources: Source[] = ['', 'b "2"'].map((tag, i) =>
    createSource({
      id: `every kind/${i}`,
      tag,
      clock: i === 0 ? 'wall' : 'device',
      emit: (batch) => sink.accept(batch),
    }),
  )
  for (let i = 0; i < RECORD_COUNT; i++) {
    const type = EVERY_KIND[Math.floor(i / 50) % EVERY_KIND.length]
    assert.ok(type !== undefined)
    sources[Math.floor(i / 10_000) % 2]?.report(type, everyKindRecord(random, type, FIRST_NS + BigInt(i) * 1000n))
    if (i % FLUSH_EVERY === 0) await sink.flush()
  }
  for (const source of sources) await source.close()
  await sink.close()
  assert.deepEqual([...sink.stats.dropped], [])
}

/** Runs a reader into a file; it must find nothing wrong. */
async function run(t: TestContext, program: string, args: readonly string[], output: string): Promise<string> {
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  })
  t.after(() => child.kill('SIGKILL'))
  const written = createWriteStream(output)
  child.stdout?.pipe(written)
  let told = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString()
  })
  const ends = [
    new Promise((resolve, reject) => child.once('close', resolve).once('error', reject)),
    new Promise<void>((resolve) => written.once('finish', resolve)),
  ]
  const [code] = await Promise.all(ends)
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
