import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Batch, createSource, type SondeError } from '@sonde/sdk'
import { property, until } from '../../../sdk/test/helper.ts'
import { Random } from '../../../sdk/test/random.ts'
import { Counting, countedType, numbersIn, upTo } from '../../test/counted-records.ts'
import { checkStore } from './check-store.ts'
import { storeSettings } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import { createStore, type Store } from './store.ts'

const HOUR_MS = 3_600_000

/** Resources of a test, released at its end in reverse order. */
type Releases = (() => unknown)[]

/** A test with its own folder. */
function faultTest(name: string, run: (folder: string, releases: Releases, t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sonde-faults-'))
    const releases: Releases = [() => rmSync(folder, { recursive: true, force: true })]
    try {
      await run(folder, releases, t)
    } finally {
      for (const release of releases.toReversed()) await release()
    }
  })
}

async function open(releases: Releases, path: string, options: object = {}): Promise<Store> {
  const store = await createStore({ path, flushIntervalMs: 10, closeLimitMs: 300, ...options })
  releases.push(() => store.close())
  return store
}

faultTest(
  'a batch that cannot be handed to the thread is dropped and counted, and ends nothing',
  async (folder, releases) => {
    const store = await open(releases, join(folder, 'store.db'))
    const faults: string[] = []
    store.onFault = (error) => faults.push((error as Error).name)
    const labels = { broken: (() => 'no text') as unknown as string }
    const emit = (batch: Batch) => store.accept({ ...batch, source: { ...batch.source, labels } })
    const broken = createSource({ id: 'broken', emit })
    broken.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'broken', number: 7 })
    broken.flush()
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    assert.deepEqual([faults, [...store.stats.dropped]], [['DataCloneError'], [['failed', 1]]])
    new Counting(store).report(10)
    await store.flush()
    assert.deepEqual(await numbersIn(store), upTo(10))
  },
)

/** A closed file with 5 000 records: compacted hours, and a head. */
async function filled(path: string): Promise<void> {
  const store = await createStore({ path })
  const counting = new Counting(store)
  counting.report(4000, Date.now() - 3 * HOUR_MS)
  await store.flush()
  await store.maintain()
  counting.report(1000)
  await store.flush()
  await store.close()
}

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

function noise(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.integer(0, 255))
}

/** The requirements for every damaged file: it opens, reports what happened or loses nothing, and takes new records. */
async function checkStarts(releases: Releases, path: string): Promise<{ store: Store; numbers: number[] }> {
  const store = await open(releases, path)
  await until('it writes', () => store.status().state === 'writing')
  const before = await numbersIn(store)
  assert.deepEqual(before, [...new Set(before)], 'no record is there twice')
  const whole = new Set(upTo(5000))
  assert.ok(
    before.every((number) => whole.has(number)),
    'no record is another than it was',
  )
  const counting = new Counting(store, 'later')
  counting.report(10, Date.now() + 60_000)
  await store.flush()
  // Records of a type with a damaged definition are readable again after the type is reported again.
  assert.ok((await numbersIn(store)).length >= before.length + 10)
  const { reason, corruptChunks } = store.status()
  if (before.length < 5000) assert.ok(reason !== '' || corruptChunks > 0, 'what was lost is told')
  return { store, numbers: before }
}

faultTest('a file whose start is noise is set aside, and the status says so', async (folder, releases) => {
  const path = join(folder, 'store.db')
  await filled(path)
  overwrite(path, 0, noise(new Random(1), 4096))
  const { store } = await checkStarts(releases, path)
  assert.match(store.status().reason, /was damaged .* set aside as .*store\.db\.corrupt-/)
  assert.equal(asidesIn(dirname(path), 'corrupt').length, 1)
})

faultTest('a file of noise, an empty one and one that is no database are replaced', async (folder, releases) => {
  for (const [i, content] of [
    noise(new Random(2), 50_000),
    new Uint8Array(0),
    Buffer.from('just a text\n'),
  ].entries()) {
    const path = join(folder, `${i}.db`)
    writeFileSync(path, content)
    writeFileSync(`${path}.lock`, 'garbage')
    const store = await open(releases, path)
    assert.equal(store.status().state, 'writing')
    new Counting(store).report(10)
    await store.flush()
    assert.deepEqual(await numbersIn(store), upTo(10))
  }
})

/** Stores that were set aside, without their companion files. */
function asidesIn(folder: string, why: 'corrupt' | 'newer' | 'older'): string[] {
  return readdirSync(folder).filter((name) => name.includes(`.${why}-`) && !/-(wal|shm|head)$/.test(name))
}

/** Changes a closed file from outside. */
function alter(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

faultTest('files that were set aside are never deleted: a ninth such file has to wait', async (folder, releases) => {
  const path = join(folder, 'store.db')
  const asides = () => asidesIn(folder, 'newer')
  await filled(path)
  for (let turn = 1; turn <= 9; turn++) {
    const database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 1000')
    database.close()
    const store = await open(releases, path)
    assert.equal(asides().length, Math.min(8, turn))
    if (turn === 9) {
      assert.equal(store.status().state, 'failing')
      assert.match(store.status().reason, /8 files .*store\.db\.newer-… lie beside the store/)
      rmSync(join(folder, asides()[0] ?? ''))
      await until('it goes on', () => store.status().state === 'writing')
    }
    await store.close()
  }
})

faultTest('a file of an older or newer format is set aside whole, and the status says so', async (folder, releases) => {
  for (const [kind, version] of [
    ['older', 1],
    ['newer', 1000],
  ] as const) {
    const path = join(folder, `${kind}.db`)
    await filled(path)
    alter(path, `ALTER TABLE segment RENAME COLUMN times_of TO times; PRAGMA user_version = ${version}`)
    assert.match(checkStore(path).found, new RegExp(`has format ${version}, .* the next start sets it aside`))
    const store = await open(releases, path)
    assert.equal(store.status().state, 'writing')
    assert.match(store.status().reason, new RegExp(`has the ${kind} format ${version} and was set aside as .*${kind}-`))
    new Counting(store).report(10)
    await store.flush()
    await store.maintain()
    assert.deepEqual(await numbersIn(store), upTo(10))
    assert.equal(asidesIn(folder, kind).length, 1)
  }
})

faultTest('a file whose tables are not those of its format is treated as damaged', async (folder, releases) => {
  const path = join(folder, 'store.db')
  await filled(path)
  alter(path, 'ALTER TABLE segment RENAME COLUMN times_of TO times')
  const { store, numbers } = await checkStarts(releases, path)
  assert.deepEqual(numbers.slice(4000), upTo(5000).slice(4000), 'the head is carried over, with its files')
  assert.match(store.status().reason, /tables are not those of its format.* set aside/)
  await store.maintain()
})

faultTest('a truncated file opens with the rest of its records', async (folder, releases) => {
  for (const share of [0.1, 0.5, 0.9, 0.99]) {
    const path = join(folder, `cut-${share}.db`)
    await filled(path)
    truncateSync(path, Math.floor(statSync(path).size * share))
    await checkStarts(releases, path)
  }
})

property('noise anywhere in the file: it opens, loses little, and says what', 6, async (random) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-noise-'))
  const path = join(folder, 'store.db')
  const releases: Releases = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    await filled(path)
    const size = statSync(path).size
    for (let i = random.integer(1, 3); i > 0; i--) {
      overwrite(path, random.integer(0, size - 600), noise(random, random.integer(1, 600)))
    }
    const { store } = await checkStarts(releases, path)
    await store.maintain()
    const query = { metric: 'counted_number', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
    await store.query({ fromMs: 0, toMs: Date.now(), stepMs: 365 * 24 * HOUR_MS, queries: [query] })
  } finally {
    for (const release of releases.toReversed()) await release()
  }
})

faultTest(
  'a database of another program is left alone; the store is created after it is removed',
  async (folder, releases) => {
    const path = join(folder, 'store.db')
    const foreign = new DatabaseSync(path)
    foreign.exec("CREATE TABLE mail (subject TEXT); INSERT INTO mail VALUES ('hello')")
    foreign.close()
    const content = readFileSync(path)
    const store = await open(releases, path)
    assert.equal(store.status().state, 'failing')
    assert.match(store.status().reason, /database of another program/)
    const counting = new Counting(store)
    counting.report(100)
    await assert.rejects(numbersIn(store), { code: 'STO_UNAVAILABLE' })
    assert.deepEqual(readFileSync(path), content)
    rmSync(path)
    await store.flush()
    assert.deepEqual(await numbersIn(store), upTo(100))
    assert.equal(store.status().state, 'writing')
  },
)

faultTest(
  'a folder that cannot be made is tried again; the oldest records are dropped when memory is full, and counted',
  async (folder, releases) => {
    const blocked = join(folder, 'blocked')
    writeFileSync(blocked, 'a file where the folder should be')
    const store = await open(releases, join(blocked, 'store.db'), { queueLimitBytes: 1 << 20 })
    assert.equal(store.status().state, 'failing')
    assert.match(store.status().reason, /blocked.* look at the disk and at the folder: what was reported is kept/)
    const counting = new Counting(store)
    for (let i = 0; i < 100; i++) counting.report(1000)
    const dropped = store.stats.dropped.get('queue_full') ?? 0
    assert.ok(dropped > 0 && store.queuedRecords > 0)
    assert.equal(store.stats.in, store.stats.out + dropped + store.queuedRecords)
    rmSync(blocked)
    mkdirSync(blocked)
    await assert.rejects(store.flush(), { code: 'STO_LOST' })
    const numbers = await numbersIn(store)
    assert.deepEqual(numbers, upTo(100_000).slice(dropped), 'what was not dropped is written, once')
    assert.deepEqual([store.stats.in, store.stats.out], [100_000, 100_000 - dropped])
  },
)

faultTest(
  'a place where no folder can be made is told at once, and the store can be closed',
  async (_folder, releases, t) => {
    if (process.platform !== 'linux') return t.skip('needs /proc')
    const store = await open(releases, '/proc/self/nope/store.db')
    assert.equal(store.status().state, 'failing')
    assert.match(store.status().reason, /^\/proc\/self\/nope\/store\.db cannot be /)
    const { errors } = store.status()
    await until('it is tried again', () => store.status().errors > errors)
  },
)

faultTest('a question that cannot be read is refused and counted; the file stays open', async (folder, releases) => {
  const store = await open(releases, join(folder, 'store.db'))
  new Counting(store).report(10)
  await store.flush()
  const query = { metric: 'counted_number', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
  const request = { fromMs: 0, toMs: Date.now(), stepMs: 365 * 24 * HOUR_MS, queries: [query] }
  const hostile = { ...query, matchers: null as unknown as [] }
  await assert.rejects(store.query({ ...request, queries: [hostile] }), { code: 'STO_READ' })
  await until('it is counted', () => store.status().errors === 1)
  assert.deepEqual([store.status().state, store.status().reason], ['writing', ''])
  const { results } = await store.query(request)
  assert.equal(results[0]?.series.length, 1)
  await assert.rejects(store.query({ ...request, queries: [hostile] }), { code: 'STO_READ' })
  new Counting(store, 'later').report(10, Date.now() + 1000)
  await store.flush()
  assert.equal(store.status().state, 'writing', 'nothing was closed or opened again')
})

faultTest('a file that is removed while it is open is created again', async (folder, releases) => {
  const data = join(folder, 'data')
  const store = await open(releases, join(data, 'store.db'))
  rmSync(data, { recursive: true })
  await until('that is noticed', () => store.status().errors > 0)
  await until('there is a new one', () => store.status().state === 'writing')
  new Counting(store).report(10)
  await store.flush()
  assert.deepEqual(await numbersIn(store), upTo(10))
})

/** A small disk; undefined if mounting is not allowed. */
function smallDisk(folder: string, releases: Releases, megabytes: number): string | undefined {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk], { stdio: 'pipe' })
  } catch {
    return undefined
  }
  releases.push(() => execFileSync('umount', ['--lazy', disk], { stdio: 'pipe' }))
  return disk
}

faultTest(
  'a full disk: nothing acknowledged is lost, and what waited is written when there is room again',
  async (folder, releases, t) => {
    const disk = smallDisk(folder, releases, 4)
    if (disk === undefined) return t.skip('mounting a small disk needs root')
    const path = join(disk, 'store.db')
    const store = await open(releases, path)
    const counting = new Counting(store)
    counting.report(10_000)
    await store.flush()
    writeFileSync(join(disk, 'ballast'), new Uint8Array(2 << 20))
    while (store.status().state === 'writing') {
      counting.report(10_000)
      await until(
        'they are written or the disk is full',
        () => store.queuedRecords === 0 || store.status().state === 'failing',
      )
    }
    const { reason } = store.status()
    assert.equal(
      reason,
      `the disk of ${path} is full; free some space: what was reported is kept in memory up to 64 MiB and written then`,
    )
    const reported = store.stats.in
    assert.ok(store.stats.out >= 10_000)
    assert.deepEqual(await numbersIn(store), upTo(store.stats.out), 'what is written can be read')
    rmSync(join(disk, 'ballast'))
    await store.flush()
    assert.equal(store.status().state, 'writing')
    assert.deepEqual(await numbersIn(store), upTo(reported))
    assert.equal(store.stats.out, reported)
  },
)

faultTest('a disk that is full from the start, then not', async (folder, releases, t) => {
  const disk = smallDisk(folder, releases, 2)
  if (disk === undefined) return t.skip('mounting a small disk needs root')
  const ballast = join(disk, 'ballast')
  try {
    writeFileSync(ballast, new Uint8Array(4 << 20))
  } catch {
    // This error is expected: the disk is full now.
  }
  const store = await open(releases, join(disk, 'store.db'))
  assert.equal(store.status().state, 'failing')
  new Counting(store).report(100)
  rmSync(ballast)
  await store.flush()
  assert.deepEqual(await numbersIn(store), upTo(100))
})

faultTest('a disk that turns read-only, and back', async (folder, releases, t) => {
  const disk = smallDisk(folder, releases, 8)
  if (disk === undefined) return t.skip('mounting a small disk needs root')
  const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, disk], { stdio: 'pipe' })
  remount('ro')
  const store = await open(releases, join(disk, 'store.db'))
  assert.equal(store.status().state, 'failing')
  assert.notEqual(store.status().reason, '')
  new Counting(store).report(100)
  remount('rw')
  await store.flush()
  assert.deepEqual(await numbersIn(store), upTo(100))
})

faultTest('a file that is refused after all ends what waits for it, and says why', async (folder, _releases, t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const worker = new URL('../../test/refusing-worker-main.ts', import.meta.url)
  const store = new EmbeddedStore(storeSettings({ path: join(folder, 'store.db') }), worker)
  t.mock.timers.tick(60_000)
  await store.opened
  const faults: unknown[] = []
  store.onFault = (error) => faults.push((error as SondeError).code)
  const source = createSource({ id: 'late', emit: (batch) => store.accept(batch) })
  const report = () => {
    source.report(countedType, { time: BigInt(Date.now()) * 1_000_000n, writer: 'late', number: 7 })
    source.flush()
  }
  report()
  const flushed = assert.rejects(store.flush(), { code: 'STO_LOST' })
  await assert.rejects(store.maintain(), { code: 'STO_LOCKED' })
  await flushed
  report()
  assert.deepEqual([...store.stats.dropped], [['closed', 2]])
  assert.deepEqual([store.status().state, store.status().reason], ['failing', 'another process has it'])
  assert.deepEqual(faults, ['STO_LOCKED'])
  await store.close()
})
