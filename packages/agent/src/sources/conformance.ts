import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Labels, type ReadRecord, type RecordType, SondeError } from '@sonde/sdk'
import { absenceType, seriesKey } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { SourceDefinition, SourcePaths } from './source.ts'
import { checkDamage, DAMAGES, type DamageScope, DENIES } from './test-damage.ts'
import { type ReportedRecord, TestedSource, TestNode } from './test-node.ts'
import { checkRecord, dataOf, recordKey, settle, trySample } from './test-records.ts'

/** Units at the end of names: Prometheus' base units, and units of PCIe and optics. */
const UNITS =
  /_((?:bytes|transfers)_per_second|bytes|seconds|celsius|ratio|volts|amperes|joules|watts|meters|hertz|dbm|db)(_total)?$/

/** Names from DCGM and from the DOCA recipe, and values that may or may not be counters, as only the driver knows. */
const GIVEN = /^(DCGM_FI_|doca_(adp_retx_packets|pci_[rt]x_bytes|diag_link_errors|diag_counter)$|\w+_driver_statistic$)/

/** Properties of a source for the suite. */
export interface SourceCase {
  /**
   * A folder with `proc/` and `sys/` in which the source finds data and reads every file. Omit it if the source reads
   * no files; the cases with damaged files are then skipped.
   */
  readonly tree?: URL
  /** Options of the source. Default: none. */
  readonly options?: object
  /**
   * Options with which the source reads only some of the files, for the cases with damaged files: a large source then
   * samples a small part for each file. Every file belongs to the first that matches. Default: one for all files.
   */
  readonly scopes?: readonly DamageScope[]
  /** Paths that replace those of the tree: of a double, or of this machine. */
  readonly paths?: Partial<SourcePaths>
  /** Types that the source does not report here: they stay in the memory of the host, or need other hardware. */
  readonly unreported?: readonly RecordType[]
  /** The file that the source needs and that `probe` checks. */
  readonly file?: string
  /** Files whose names only the driver knows. The absence of such a file is not reported. */
  readonly nameless?: RegExp
  /** A counter of kind u64, and how the kernel prints a value of it. */
  readonly counter?: {
    readonly type: RecordType
    readonly field: string
    readonly labels: Labels
    readonly write: (node: TestNode, value: bigint) => void
  }
  /** Why the suite cannot run on this machine; false if it can. Default: false. */
  readonly skip?: string | false
  /** A series, and how it leaves. Omit it if series of the source never leave. */
  readonly series?: { readonly type: RecordType; readonly labels: Labels; readonly leave: (node: TestNode) => void }
}

/**
 * Cases that every source must pass. The source's own tests cover only its special behaviour.
 *
 * @example
 * testSource(netdev, { tree: new URL('fixtures/veth-namespace', import.meta.url), file: 'proc/net/dev' })
 */
export function testSource(definition: SourceDefinition, given: SourceCase): void {
  const bringUp = (t: TestContext): Tested => {
    const node = new TestNode(t, ...(given.tree === undefined ? [] : [given.tree]))
    const tested = new TestedSource(definition, { ...node.paths, ...given.paths }, given.options)
    t.after(() => tested.source.close())
    return { definition, given, node, tested }
  }
  describe(`every source: ${definition.name}`, { skip: given.skip ?? false }, () => {
    test('its registry row is sound', () => checkDefinition(definition))
    test('closes twice, and before it was sampled, and reads again', (t) => checkLifecycle(bringUp(t)))
    test('says present, absent, denied and failed', (t) => checkProbe(bringUp(t)))
    test('reports every type with sound records, and a reason for every value that is absent', (t) =>
      checkRecords(bringUp(t)))
    if (given.tree !== undefined) {
      test('throws and reports nothing where there is nothing', (t) => checkNothing(bringUp(t)))
      for (const damage of DAMAGES) {
        const options = damage.skip === undefined ? {} : { skip: damage.skip }
        test(`${damage.name}: tells, and recovers`, options, async (t) => {
          stopClock(t)
          await checkDamage(definition, bringUp(t), damage)
        })
      }
    }
    test('is closed in the middle of a sample', (t) => checkAbort(bringUp(t)))
    test('keeps no descriptor', (t) => checkDescriptors(bringUp(t)))
    if (given.counter) test('passes wraps and resets of a counter on as they are', (t) => checkCounter(bringUp(t)))
    if (given.series) test('a series leaves and comes back', (t) => checkSeries(bringUp(t)))
  })
}

/**
 * On a busy machine a read may take long, and a source rests after slow reads. Set by hand, because a mock remembers
 * each of a million calls.
 */
function stopClock(t: TestContext): void {
  const { now } = performance
  performance.now = () => 0
  t.after(() => {
    performance.now = now
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
      // Names defined by others stay unchanged.
      if (GIVEN.test(metric)) continue
      assert.equal(
        metric.endsWith('_total'),
        field?.role === 'counter',
        `${metric}: counters end in _total, others do not`,
      )
      const unit = UNITS.exec(metric)?.[1]
      assert.equal(field?.unit, unit, `${metric}: its unit is the end of its name`)
    }
  }
}

async function checkLifecycle({ tested }: Tested): Promise<void> {
  const { source } = tested
  await source.close()
  await source.close()
  await source.sample()
  const first = tested.take().length
  assert.ok(first > 0)
  await source.close()
  await source.close()
  await source.sample()
  assert.ok(tested.take().length > 0)
}

async function checkProbe({ given, node, tested }: Tested): Promise<void> {
  const present = await tested.source.probe()
  assert.equal(present.state, 'present')
  assert.notEqual(present.found, '')
  assert.deepEqual(tested.take(), [], 'a look reports nothing')
  if (given.file === undefined) return
  node.unlink(given.file)
  const absent = await tested.source.probe()
  assert.equal(absent.state, 'absent')
  assert.notEqual(absent.reason, '')
  if (fs.existsSync(DENIES)) {
    node.link(given.file, DENIES)
    const denied = await tested.source.probe()
    assert.equal(denied.state, 'denied')
    assert.match(denied.reason, new RegExp(given.file))
  }
  // The link behaves as if no descriptor were left: it is unknown whether the file exists.
  node.link(given.file, join(node.root, given.file))
  const failed = await tested.source.probe()
  assert.equal(failed.state, 'failed')
  assert.match(failed.reason, /ELOOP/)
  assert.deepEqual(tested.failures, [])
}

async function checkRecords({ definition, given, tested }: Tested): Promise<void> {
  const before = BigInt(Date.now() - 1000) * 1_000_000n
  await tested.source.sample()
  const taken = tested.take()
  const after = BigInt(Date.now() + 1000) * 1_000_000n
  for (const type of definition.types.filter((one) => given.unreported?.includes(one) !== true)) {
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
    const key = `${type.name}{${recordKey(type, record)}}`
    assert.ok(!series.has(key), `${key} is reported once a sample`)
    series.add(key)
  }
  assert.deepEqual(tested.failures, [])
}

async function checkNothing({ node, tested }: Tested): Promise<void> {
  for (const file of node.files()) node.remove(file)
  assert.equal((await tested.source.probe()).state, 'absent')
  await assert.rejects(async () => tested.source.sample(), SondeError)
  assert.deepEqual(dataOf(tested.take()), [])
}

async function checkAbort({ given, node, tested }: Tested): Promise<void> {
  const running = trySample(tested)
  await tested.source.close()
  await running
  await tested.source.close()
  assert.deepEqual(node.openDescriptors(), [])
  if (given.file !== undefined) node.remove(given.file)
  await trySample(tested)
  await tested.source.close()
  assert.deepEqual(node.openDescriptors(), [])
}

async function checkDescriptors({ node, tested }: Tested): Promise<void> {
  const texts = node.files().map((file) => [file, node.read(file)] as const)
  for (let round = 0; round < 5; round++) {
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
      (record) => recordKey(counter.type, record as ReadRecord) === seriesKey(counter.labels),
    ) as ReadRecord
    assert.equal(record?.[counter.field], value)
  }
  assert.deepEqual(tested.failures, [])
}

async function checkSeries({ given, node, tested }: Tested): Promise<void> {
  const { series } = given
  assert.ok(series)
  const texts = node.files().map((file) => [file, node.read(file)] as const)
  const there = (taken: readonly ReportedRecord[]) =>
    taken.some(({ type, record }) => type === series.type && recordKey(type, record) === seriesKey(series.labels))
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
