import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleAlgorithm, type DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { counterLabels, isGauge } from './counter-names.ts'
import { docaTelemetryPcc } from './doca-telemetry-pcc.ts'
import { docaPccCounterType, docaPccType, docaPccValueType } from './type.ts'

const NEEDS = needs('cc')
const SECOND_NS = 1_000_000_000n

const ALGORITHM: DoubleAlgorithm = {
  slot: 3,
  id: 0xcc01,
  version: [1, 4],
  description: 'zero-touch RoCE with round trips',
  counters: [
    ['ecn_marks', 2 ** 32 - 10, 20],
    ['rtt_ns', 5000, 0],
  ],
}

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: { algorithms: [ALGORITHM] } })

testSource(docaTelemetryPcc, { ...NEEDS, paths: { doca_library: suite?.folder ?? '' } })

/** Reads a device of a double whose clock stands still at its start. */
function bringUp(t: TestContext, device: DoubleDevice = { algorithms: [ALGORITHM] }) {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: device })
  double.setElapsed(0n)
  const tested = new TestedSource(docaTelemetryPcc, { ...new TestNode(t).paths, doca_library: double.folder })
  t.after(() => tested.source.close())
  const counts = async () =>
    (await tested.sampleOf(docaPccCounterType)).map(({ slot, counter, events_total }) => [slot, counter, events_total])
  return { double, tested, counts }
}

test('an algorithm names its counters; a count is widened, and a round trip is no count', NEEDS, async (t) => {
  const { tested, counts, double } = bringUp(t)
  const [{ time: _, ...algorithm } = assert.fail('no algorithm')] = await tested.sampleOf(docaPccType)
  assert.deepEqual(algorithm, {
    rdma_device: 'mlx5_0',
    slot: 3,
    algorithm: 'zero-touch RoCE with round trips',
    algorithm_id: 0xcc01,
    version_major: 1,
    version_minor: 4,
    enabled: 1,
    counters_enabled: 1,
  })
  assert.deepEqual(await counts(), [[3, 'ecn_marks', BigInt(2 ** 32 - 10)]])
  double.setElapsed(SECOND_NS)
  assert.deepEqual(await counts(), [[3, 'ecn_marks', BigInt(2 ** 32 + 10)]])
  const values = await tested.sampleOf(docaPccValueType)
  assert.deepEqual(
    values.map(({ counter, value }) => [counter, value]),
    [['rtt_ns', 5000]],
  )
})

test('another algorithm in the slot starts other series at once', NEEDS, async (t) => {
  const { double, counts } = bringUp(t)
  await counts()
  double.play({ mlx5_0: { algorithms: [{ ...ALGORITHM, version: [2, 0], counters: [['cnp', 7, 0]] }] } })
  assert.deepEqual(await counts(), [[3, 'cnp', 7n]])
})

test('a counter with another name is another series, at the next reading of the names', NEEDS, async (t) => {
  const { double, counts, tested } = bringUp(t, { algorithms: [{ slot: 0, counters: [['ecn', 5, 0]] }] })
  assert.deepEqual(await counts(), [[0, 'ecn', 5n]])
  double.play({ mlx5_0: { algorithms: [{ slot: 0, counters: [['cnp', 6, 0]] }] } })
  const laterMs = performance.now() + 11_000
  t.mock.method(performance, 'now', () => laterMs)
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(
    taken.filter(({ type }) => type === docaPccCounterType).map(({ record }) => [record.counter, record.events_total]),
    [['cnp', 6n]],
  )
  assert.ok(taken.some(({ record }) => record.code === 'gone' && String(record.series).includes('counter="ecn"')))
})

test('another algorithm with as many counters is noticed by a count that falls', NEEDS, async (t) => {
  const { double, counts } = bringUp(t, { algorithms: [{ slot: 0, counters: [['ecn', 5, 0]] }] })
  await counts()
  double.play({ mlx5_0: { algorithms: [{ slot: 0, counters: [['cnp', 4, 0]] }] } })
  assert.deepEqual(await counts(), [[0, 'cnp', 4n]])
})

test('a count that passes 32 bits has its own name still', NEEDS, async (t) => {
  const { double, counts } = bringUp(t, { algorithms: [{ slot: 0, counters: [['ecn', 2 ** 32 - 1, 2]] }] })
  await counts()
  double.setElapsed(SECOND_NS)
  assert.deepEqual(await counts(), [[0, 'ecn', BigInt(2 ** 32 + 1)]])
})

test('another version of an algorithm is noticed within five seconds', NEEDS, async (t) => {
  const { double, counts } = bringUp(t, { algorithms: [{ slot: 0, version: [1, 0], counters: [['ecn', 5, 0]] }] })
  await counts()
  double.play({ mlx5_0: { algorithms: [{ slot: 0, version: [1, 1], counters: [['cnp', 6, 0]] }] } })
  const laterMs = performance.now() + 5000
  t.mock.method(performance, 'now', () => laterMs)
  assert.deepEqual(await counts(), [[0, 'cnp', 6n]])
})

test('an algorithm that is disabled while it counts is told at once, and counts again at once', NEEDS, async (t) => {
  const { double, counts, tested } = bringUp(t)
  await counts()
  double.play({ mlx5_0: { algorithms: [{ ...ALGORITHM, enabled: [false, true] }] } })
  await tested.source.sample()
  const taken = tested.take()
  assert.ok(taken.some(({ record }) => record.reason === 'the algorithm is disabled'))
  assert.ok(!taken.some(({ type }) => type === docaPccCounterType))
  double.play({ mlx5_0: { algorithms: [ALGORITHM] } })
  assert.equal((await counts()).length, 1)
})

for (const [what, enabled, reason] of [
  ['an algorithm', [false, true], 'the algorithm is disabled'],
  ['the counters of an algorithm', [true, false], 'the counters of the algorithm are disabled'],
] as const) {
  test(`${what} that is disabled has no counts, with the reason`, NEEDS, async (t) => {
    const { tested, counts, double } = bringUp(t, { algorithms: [{ ...ALGORITHM, enabled }] })
    await tested.source.sample()
    const taken = tested.take()
    assert.ok(taken.some(({ record }) => record.reason === reason))
    assert.deepEqual(
      taken.filter(({ type }) => type === docaPccCounterType),
      [],
    )
    double.play({ mlx5_0: { algorithms: [ALGORITHM] } })
    assert.equal((await counts()).length, 1)
  })
}

test('a counter without a value is absent with the reason, and costs no further calls', NEEDS, async (t) => {
  const { double, tested, counts } = bringUp(t)
  const absent = 'doca_pcc_value{rdma_device="mlx5_0",slot="3",counter="rtt_ns"}.'
  await counts()
  const openingCalls = double.total('calls')
  double.play({ mlx5_0: { algorithms: [ALGORITHM] } }, ['claim doca_telemetry_pcc_get_counters 1'])
  assert.equal((await counts()).length, 1)
  assert.equal(tested.absent.get(absent), 'unsupported')
  const before = double.total('calls')
  assert.equal((await counts()).length, 1)
  assert.ok(double.total('calls') - before < openingCalls / 4, 'the names are not read again')
  double.play({ mlx5_0: { algorithms: [ALGORITHM] } })
  assert.equal((await tested.sampleOf(docaPccValueType)).length, 1)
  assert.equal(tested.absent.get(absent), undefined)
})

test('without an algorithm the device says so, and a later one is found', NEEDS, async (t) => {
  const { tested, counts, double } = bringUp(t, {})
  await tested.source.sample()
  tested.take()
  assert.equal(tested.absent.get('doca_pcc{rdma_device="mlx5_0"}.'), 'unsupported')
  double.play({ mlx5_0: { algorithms: [ALGORITHM] } })
  const laterMs = performance.now() + 11_000
  t.mock.method(performance, 'now', () => laterMs)
  assert.equal((await counts()).length, 1)
})

test('an algorithm that is unloaded leaves', NEEDS, async (t) => {
  const { tested, counts, double } = bringUp(t)
  await counts()
  double.play({ mlx5_0: {} })
  assert.deepEqual(await counts(), [])
  assert.deepEqual(tested.failures, [])
})

test('limits of a device that cannot be are not believed', NEEDS, async (t) => {
  for (const name of ['max_algo_slots', 'max_algo_info_len', 'max_counter_info_len', 'max_num_counters']) {
    const { double, tested } = bringUp(t)
    double.play({ mlx5_0: {} }, [`claim doca_telemetry_pcc_cap_get_${name} 100000`])
    await assert.rejects(tested.source.sample(), new RegExp(`${name} answers TOO_BIG`))
  }
})

test('a device without it is told which devices have it', NEEDS, async (t) => {
  const { tested } = bringUp(t, { facts: { pcc: 0 } })
  await tested.source.sample()
  await assert.rejects(tested.source.sample(), /NOT_SUPPORTED, programmable congestion control needs a BlueField-3/)
})

test('names that are empty, equal or long are labels of their own', () => {
  const labels = counterLabels(['', 'ecn', 'ecn', 'ecn_2', 'x'.repeat(200), ''])
  assert.equal(new Set(labels).size, labels.length)
  assert.ok(labels.every((label) => label !== '' && label.length <= 140))
  assert.deepEqual(labels.slice(0, 3), ['counter_0', 'ecn', 'ecn_2'])
})

test('a name shows whether its value is a count', () => {
  for (const name of ['rtt', 'avg_rtt_ns', 'Current Rate', 'min-latency']) assert.ok(isGauge(name), name)
  for (const name of ['rtt_requests', 'rate_events', 'ecn_marks', 'generated', 'separate'])
    assert.ok(!isGauge(name), name)
})
