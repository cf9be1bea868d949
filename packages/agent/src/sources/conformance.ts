import assert from 'node:assert/strict'
import fs from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import {
  absenceType,
  type Labels,
  messageOf,
  type ReadRecord,
  type RecordType,
  SondeError,
  seriesKey,
} from '@sonde/sdk'
import * as v from 'valibot'
import type { SourceDefinition } from './source.ts'
import { type Taken, TestedSource, TestNode } from './test-node.ts'

/** What the suite must know of a source. */
export interface SourceCase {
  /**
   * A folder with `proc/` and `sys/` in which the source finds something to read, and reads every file. Left out by a source that reads no files; the cases
   * that strike files are then skipped.
   */
  readonly tree?: URL
  /** Options to make it with. Default: none. */
  readonly options?: object
  /** The file of the tree without which there is nothing to read; `probe` looks at it. */
  readonly file?: string
  /** A counter of kind u64, and how the kernel would show a value of it. */
  readonly counter?: {
    readonly type: RecordType
    readonly field: string
    readonly labels: Labels
    readonly write: (node: TestNode, value: bigint) => void
  }
  /** A series, and how it leaves. Left out where the source has only series that stay. */
  readonly series?: { readonly type: RecordType; readonly labels: Labels; readonly leave: (node: TestNode) => void }
}

/** Files of the running kernel that answer what no plain file can, to root as well. */
const REFUSES = '/sys/class/net/lo/speed'
const DENIES = '/sys/bus/cpu/drivers_probe'
/** Sweeps after which a source that reads in turn has read everything. */
const SETTLE_SWEEPS = 20
const INLINE_LIMIT_MS = 1

/**
 * The cases that every source passes, whatever it reads. A source's own tests hold only what is special to it.
 *
 * @example
 * testSource(netdev, { tree: new URL('fixtures/veth-namespace', import.meta.url), file: 'proc/net/dev' })
 */
export function testSource(definition: SourceDefinition, given: SourceCase): void {
  const bringUp = (t: TestContext): Tested => {
    const node = new TestNode(t, ...(given.tree === undefined ? [] : [given.tree]))
    const tested = new TestedSource(definition, node.paths, given.options)
    t.after(() => tested.source.close())
    return { definition, given, node, tested }
  }
  describe(`every source: ${definition.name}`, () => {
    test('its registry row is sound', () => checkDefinition(definition))
    test('opens twice, closes twice, and closes before it was opened', (t) => checkLifecycle(bringUp(t)))
    test('says present, absent and denied', (t) => checkProbe(bringUp(t)))
    test('reports every type with sound records, and a reason for every value that is absent', (t) =>
      checkRecords(bringUp(t)))
    const treeless = given.tree === undefined
    test('throws and reports nothing where there is nothing', { skip: treeless }, (t) => checkNothing(bringUp(t)))
    for (const damage of DAMAGES) {
      test(`${damage.name}: tells, and recovers`, { skip: damage.skip ?? treeless }, (t) =>
        checkDamage(bringUp(t), damage),
      )
    }
    test('is closed in the middle of a sample', (t) => checkAbort(bringUp(t)))
    test('keeps no descriptor', (t) => checkDescriptors(bringUp(t)))
    test('passes wraps and resets of a counter on as they are', { skip: !given.counter }, (t) =>
      checkCounter(bringUp(t)),
    )
    test('a series leaves and comes back', { skip: !given.series }, (t) => checkSeries(bringUp(t)))
    const slow = definition.placement !== 'inline'
    test('a sweep takes less than 1 ms', { skip: slow }, (t) => checkDuration(bringUp(t)))
  })
}

interface Tested {
  readonly definition: SourceDefinition
  readonly given: SourceCase
  readonly node: TestNode
  readonly tested: TestedSource
}

function checkDefinition({ name, summary, types, intervalMs, options }: SourceDefinition): void {
  assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
  assert.match(summary, /^[A-Z].*[^.]$/, 'the summary is one line without a full stop')
  assert.ok(Number.isInteger(intervalMs) && intervalMs > 0)
  assert.ok(v.safeParse(options, {}).success, 'works without options')
  assert.ok(!v.safeParse(options, { no_such_option: 1 }).success, 'refuses options that it does not have')
  assert.ok(types.length > 0)
  for (const type of types) {
    assert.equal(type.layout.slots[0]?.field.role, 'timestamp', `${type.name} starts with its time`)
    for (const [fieldName, metric] of type.metrics) {
      const field = type.fields[fieldName]
      assert.match(field?.help ?? '', /^[A-Z0-9a-z].*[^.]$/s, `${metric} has a HELP text without a full stop`)
      assert.equal(
        metric.endsWith('_total'),
        field?.role === 'counter',
        `${metric}: counters end in _total, others do not`,
      )
      const unit = /_(bytes|seconds|celsius|ratio|volts|amperes|joules|watts|meters|hertz)(_total)?$/.exec(metric)?.[1]
      assert.equal(field?.unit, unit, `${metric}: its unit is the end of its name`)
    }
  }
}

async function checkLifecycle({ tested }: Tested): Promise<void> {
  const { source } = tested
  await source.close()
  await source.close()
  await source.open()
  await source.open()
  await source.sample()
  const first = tested.take().length
  assert.ok(first > 0)
  await source.close()
  await source.close()
  await source.open()
  await source.sample()
  assert.ok(tested.take().length > 0)
}

async function checkProbe({ given, node, tested }: Tested): Promise<void> {
  await tested.source.open()
  const present = await tested.source.probe()
  assert.equal(present.state, 'present')
  assert.notEqual(present.found, '')
  assert.deepEqual(tested.take(), [], 'a look reports nothing')
  if (given.file === undefined) return
  node.remove(given.file)
  const absent = await tested.source.probe()
  assert.equal(absent.state, 'absent')
  assert.notEqual(absent.reason, '')
  if (fs.existsSync(DENIES)) {
    node.link(given.file, DENIES)
    const denied = await tested.source.probe()
    assert.equal(denied.state, 'denied')
    assert.match(denied.reason, new RegExp(given.file))
  }
  assert.deepEqual(tested.failures, [])
}

async function checkRecords({ definition, tested }: Tested): Promise<void> {
  await tested.source.open()
  const before = BigInt(Date.now() - 1000) * 1_000_000n
  await tested.source.sample()
  const taken = tested.take()
  const after = BigInt(Date.now() + 1000) * 1_000_000n
  for (const type of definition.types) {
    assert.ok(
      taken.some((one) => one.type === type),
      `${type.name} is reported`,
    )
  }
  const series = new Set<string>()
  for (const { type, record } of taken) {
    const time = record.time as bigint
    assert.ok(time > before && time < after, `${type.name} bears the time of the sample`)
    if (type === absenceType) continue
    assert.ok(definition.types.includes(type), `${type.name} is declared`)
    checkRecord(tested, type, record)
    const key = `${type.name}{${keyOf(type, record)}}`
    assert.ok(!series.has(key), `${key} is reported once a sample`)
    series.add(key)
  }
  assert.deepEqual(tested.failures, [])
}

function checkRecord({ absent }: TestedSource, type: RecordType, record: ReadRecord): void {
  const key = keyOf(type, record)
  for (const { name, field } of type.layout.slots) {
    const place = `${type.name}{${key}}.${name}`
    if (field.role === 'label') assert.notEqual(record[name], '', `${place} is empty`)
    if (record[name] === undefined) {
      const said = [key, ''].some((labels) => absent.has(`${type.name}{${labels}}.${name}`))
      assert.ok(said, `${place} is absent and nothing says why`)
    } else if (typeof record[name] === 'number') {
      assert.ok(Number.isFinite(record[name]), `${place} is ${record[name]}`)
    }
  }
}

async function checkNothing({ node, tested }: Tested): Promise<void> {
  for (const file of node.files()) node.remove(file)
  await tested.source.open()
  assert.equal((await tested.source.probe()).state, 'absent')
  await assert.rejects(async () => tested.source.sample(), SondeError)
  assert.deepEqual(dataOf(tested.take()), [])
}

/** Something that happens to a file. */
interface Damage {
  readonly name: string
  readonly skip?: string | undefined
  readonly strike: (node: TestNode, file: string) => void
  /** Whether a kept descriptor sees the repair; where not, the source is opened again. */
  readonly inPlace: boolean
}

const unless = (file: string) => (fs.existsSync(file) ? undefined : `${file} is not there`)
const DAMAGES: readonly Damage[] = [
  { name: 'an empty file', inPlace: true, strike: (node, file) => node.write(file, '') },
  {
    name: 'a file of garbage',
    inPlace: true,
    strike: (node, file) => node.write(file, 'x1 \0\xff: --\n-\n\n: x y z\n'),
  },
  { name: 'a number too large', inPlace: true, strike: (node, file) => node.write(file, `${'9'.repeat(400)}\n`) },
  { name: 'a file of 2 MiB', inPlace: true, strike: (node, file) => node.write(file, 'cpu0 1 2\n'.repeat(233_017)) },
  { name: 'a file that vanishes', inPlace: true, strike: (node, file) => node.remove(file) },
  { name: 'a folder in place of a file', inPlace: false, strike: (node, file) => node.makeFolder(file) },
  {
    name: 'a file that the driver refuses',
    inPlace: false,
    skip: unless(REFUSES),
    strike: (node, file) => node.link(file, REFUSES),
  },
  {
    name: 'a file that is not permitted',
    inPlace: false,
    skip: unless(DENIES),
    strike: (node, file) => node.link(file, DENIES),
  },
]

/** Strikes each file of the tree in turn: the source says so in one of three ways, and is as before once the file is. */
async function checkDamage({ definition, given, node, tested }: Tested, damage: Damage): Promise<void> {
  const sound = await settle(tested)
  const soundAbsent = [...tested.absent].sort()
  const tells = async () => {
    const fresh = new TestedSource(definition, node.paths, given.options)
    const thrown = await trySample(fresh)
    for (const { type, record } of dataOf(fresh.take())) checkRecord(fresh, type, record)
    await fresh.source.close()
    return thrown !== '' || fresh.failures.length > 0 || String([...fresh.absent].sort()) !== String(soundAbsent)
  }
  assert.ok(!(await tells()), 'tells nothing of a sound tree')
  for (const file of node.files()) {
    const text = node.read(file)
    damage.strike(node, file)
    assert.ok(await tells(), `${file}: nothing says that it cannot be read`)
    await trySample(tested)
    node.write(file, text)
    if (!damage.inPlace) {
      await tested.source.close()
      await tested.source.open()
    }
    assert.deepEqual(await settle(tested), sound, `${file}: the records are as before`)
    assert.deepEqual([...tested.absent].sort(), soundAbsent, `${file}: what is absent is as before`)
  }
}

async function checkAbort({ given, node, tested }: Tested): Promise<void> {
  await tested.source.open()
  const running = trySample(tested)
  await tested.source.close()
  await running
  await tested.source.close()
  assert.deepEqual(node.openDescriptors(), [])
  await tested.source.open()
  if (given.file !== undefined) node.remove(given.file)
  await trySample(tested)
  await tested.source.close()
  assert.deepEqual(node.openDescriptors(), [])
}

async function checkDescriptors({ node, tested }: Tested): Promise<void> {
  const texts = node.files().map((file) => [file, node.read(file)] as const)
  for (let round = 0; round < 5; round++) {
    await tested.source.open()
    await settle(tested)
    const most = node.openDescriptors().length
    for (const [file] of texts) node.remove(file)
    await trySample(tested)
    for (const [file, text] of texts) node.write(file, text)
    await settle(tested)
    assert.ok(node.openDescriptors().length <= most, 'as many as before the files were replaced')
    await tested.source.close()
    assert.deepEqual(node.openDescriptors(), [])
  }
}

async function checkCounter({ given, node, tested }: Tested): Promise<void> {
  const { counter } = given
  assert.ok(counter)
  for (const value of [2n ** 32n - 1n, 3n, 2n ** 53n + 1n, 2n ** 64n - 1n, 0n]) {
    counter.write(node, value)
    const records = await tested.sampleOf(counter.type)
    const record = records.find(
      (one) => keyOf(counter.type, one as ReadRecord) === seriesKey(counter.labels),
    ) as ReadRecord
    assert.equal(record?.[counter.field], value)
  }
  assert.deepEqual(tested.failures, [])
}

async function checkSeries({ given, node, tested }: Tested): Promise<void> {
  const { series } = given
  assert.ok(series)
  const texts = node.files().map((file) => [file, node.read(file)] as const)
  const there = (taken: readonly Taken[]) =>
    taken.some(({ type, record }) => type === series.type && keyOf(type, record) === seriesKey(series.labels))
  for (let round = 0; round < 2; round++) {
    await tested.source.sample()
    assert.ok(there(tested.take()))
    series.leave(node)
    await tested.source.sample()
    const taken = tested.take()
    assert.ok(!there(taken))
    assert.ok(TestedSource.absences(taken, series.labels).includes(': gone'))
    await tested.source.sample()
    assert.deepEqual(TestedSource.absences(tested.take(), series.labels), [], 'said once')
    for (const [file, text] of texts) node.write(file, text)
  }
}

async function checkDuration({ tested }: Tested): Promise<void> {
  const durationsMs: number[] = []
  for (let i = 0; i < 300; i++) {
    const start = performance.now()
    await tested.source.sample()
    durationsMs.push(performance.now() - start)
    tested.take()
  }
  const medianMs = durationsMs.sort((a, b) => a - b)[150] ?? Number.NaN
  assert.ok(medianMs < INLINE_LIMIT_MS, `${medianMs} ms`)
}

/** Samples until everything was read; the records of the last sample without their times. */
async function settle(tested: TestedSource): Promise<string[]> {
  for (let i = 0; i < SETTLE_SWEEPS; i++) {
    tested.take()
    await tested.source.sample()
  }
  return dataOf(tested.take())
    .map(({ type, record: { time: _, ...values } }) => `${type.name} ${Object.entries(values).join(' ')}`)
    .sort()
}

/** Samples; what was thrown, which must be one of Sonde's own errors. */
async function trySample(tested: TestedSource): Promise<string> {
  try {
    await tested.source.sample()
    return ''
  } catch (error) {
    assert.ok(error instanceof SondeError, messageOf(error))
    return messageOf(error)
  }
}

function dataOf(taken: readonly Taken[]): Taken[] {
  return taken.filter(({ type }) => type !== absenceType)
}

function keyOf(type: RecordType, record: ReadRecord): string {
  return seriesKey(Object.fromEntries(type.labels.map(({ name }) => [name, String(record[name])])))
}
