import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '@sonde/sdk/api'
import type { TileWords } from '../components/tile.tsx'
import { type DeviceColumns, silentCountOf } from './device-columns.ts'
import { deviceSentence, goneWords } from './device-sentence.ts'
import { placeWords, tileWordsOf, worstByDevice } from './hint-words.ts'
import { type NodeSummary, nodeSentence } from './node-sentence.ts'
import { testGpu, testNic } from './test-devices.ts'
import { NOW_MS, testHint, testMoment, testSeen } from './test-hints.ts'
import { gpuTile, nicTile, type TileContext } from './tile-words.ts'

const of = (...values: number[]): Float64Array => Float64Array.from(values)
const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')

const LOSS = testHint()

const GPU: DeviceColumns = { sm: of(0.66, 0.668), power: of(508), temperature: of(61), utilisation: of(99) }
const NIC: DeviceColumns = { sent: of(29e9), received: of(28e9), sequenceErrors: of(0), state: of(4, 4) }

function context(more: Partial<TileContext> = {}): TileContext {
  return { stepMs: 1_000, isNow: true, zone: 'utc', sentTop: 50e9, isJudged: true, ...more }
}

/** A tile in one line. */
function line({ name, tone, word, value, unit, what, facts }: TileWords): string {
  return spaced(
    `${name} | ${tone} ${word} | ${[value, unit, what].filter(Boolean).join(' ')} | ${facts.map(({ text }) => text).join(', ')}`,
  )
}

test('a GPU tells SM active, power and temperature; a NIC what it sends, receives, and that it counts no errors', () => {
  assert.equal(line(gpuTile(testGpu(3), GPU, context())), 'GPU 3 | ok In range | 66.4 % SM | 508 W, 61 °C')
  assert.equal(line(nicTile(testNic(3), NIC, context())), 'NIC 3 | ok In range | 232 Gb/s sent | 224 in, no errors')
})

test('without SM active the tile speaks of power, and says what utilisation is', () => {
  const { sm: _sm, ...columns } = GPU
  const tile = gpuTile(testGpu(3), columns, context())
  assert.equal(line(tile), 'GPU 3 | ok In range | 508 W | 99.0 % busy, 61 °C')
  assert.match(tile.facts[0]?.title ?? '', /a kernel was running/)
  assert.equal(tile.spark?.top, 700)
})

test('a tile tells the mean of ten seconds, in a unit that holds both directions', () => {
  const sm = new Float64Array(300).fill(0.9)
  sm.set([0.1, 0.3], 298)
  assert.equal(gpuTile(testGpu(0), { sm }, context()).value, '76.0')
  const storage = nicTile(testNic(0), { sent: of(40e6), received: of(350e6) }, context())
  assert.equal(line(storage), 'NIC 0 | ok In range | 0.32 Gb/s sent | 2.80 in, –')
})

test('a hint that stands takes the place of the least telling fact, and its signal that of the sparkline', () => {
  const fired = { metric: 'rdma_hw_packet_seq_err_total', values: of(0, 2_400) }
  const tile = nicTile(testNic(3), NIC, context({ hint: LOSS, fired }))
  assert.equal(line(tile), 'NIC 3 | critical losing packets | 232 Gb/s sent | losing packets, 224 in')
  assert.equal(tile.spark?.values, fired.values)
  assert.ok(tile.spark?.isLit)
})

test('what fired is drawn on the scale of its kind, so that a link that was slow all along is low', () => {
  const device = testNic(6, { limits: { pcie_bytes_per_s: 63e9 } })
  const topOf = (metric: string, ...values: number[]): number | undefined =>
    nicTile(device, NIC, context({ hint: LOSS, fired: { metric, values: of(...values) } })).spark?.top
  assert.equal(topOf('pci_device_current_link_bandwidth_bytes_per_second', 15.8e9, 15.8e9), 63e9)
  assert.equal(topOf('ethtool_priority_tx_pause_seconds_total', 0.45, 0.45), 1)
  assert.equal(topOf('rdma_hw_packet_seq_err_total', 402, 402), 500)
})

test('a hint that forms is told without an alarm', () => {
  const tile = nicTile(testNic(3), NIC, context({ hint: { ...LOSS, stage: 'forming' } }))
  assert.equal(tile.tone, 'info')
  assert.equal(tile.word, 'losing packets')
  assert.equal(tile.spark?.values, NIC.sent)
})

test('a device that left says when; one without samples shows no number', () => {
  const gone = testGpu(3, { state: 'gone', goneMs: Date.UTC(2026, 8, 21, 14, 3, 11) })
  assert.equal(line(gpuTile(gone, GPU, context())), 'GPU 3 | warning Gone 14:03:11 | – | Gone 14:03:11')
  assert.equal(gpuTile(gone, GPU, context({ hint: LOSS })).tone, 'critical')
  assert.equal(line(gpuTile(testGpu(3), {}, context())), 'GPU 3 | absent No sample | – | No sample')
})

test('the page of a device that left says when and why, under a hint that stands too', () => {
  const goneMs = Date.UTC(2026, 8, 21, 14, 3, 11)
  const gone = testGpu(3, { state: 'gone', goneMs, goneReason: 'the GPU has fallen off the bus' })
  assert.equal(goneWords(gone, 'utc'), 'Gone 14:03:11. The GPU has fallen off the bus.')
  assert.equal(goneWords(testGpu(3), 'utc'), '')
  const now = testMoment({ nowMs: goneMs + 5_000 })
  assert.match(deviceSentence(gone, testSeen(), now).facts, /^The GPU has fallen off the bus\. Its history is kept\.$/)
  assert.match(deviceSentence(gone, testSeen([{ ...LOSS, device: gone.id }]), now).facts, /Gone 14:03:11\./)
})

test('a device that an open incident affected a moment ago keeps its sentence, although the hint names it no more', () => {
  const cause = testHint({ title: 'NIC 3 is losing packets', affected: [] })
  const incident = { hints: [cause] } as unknown as Incident
  const said = (affectedBy: readonly Incident[]) =>
    deviceSentence(testGpu(5), testSeen([cause]), testMoment(), { affectedBy }).sentence
  assert.equal(said([incident]), 'NIC 3 is losing packets; it shows on GPU 5 too')
  assert.equal(said([]), 'GPU 5 is in range.')
})

test('the page of a device that gives no sample does not say that it is in range', () => {
  const silent = { isSilent: true }
  const said = (seen: ReturnType<typeof testSeen>) => deviceSentence(testGpu(3), seen, testMoment(), silent).sentence
  assert.equal(said(testSeen()), 'GPU 3 gives no sample.')
  assert.match(said(testSeen([{ ...LOSS, device: testGpu(3).id }])), /is losing packets/)
  const past = testMoment({ tense: 'past' })
  assert.equal(deviceSentence(testGpu(3), testSeen(), past, silent).sentence, 'GPU 3 gave no sample.')
})

test('a port that fell is critical, one that never was up is not', () => {
  assert.equal(nicTile(testNic(0), { ...NIC, state: of(4, 1) }, context()).tone, 'critical')
  assert.equal(
    line(nicTile(testNic(0), { ...NIC, state: of(1, 1) }, context())),
    'NIC 0 | absent Down | 232 Gb/s sent | Down',
  )
})

test('the words of a hint are short, and leave out the name of its tile', () => {
  assert.equal(tileWordsOf(LOSS, 'NIC 3'), 'losing packets')
  const unknown = { rule: 'new_rule', title: 'GPU 3 is on fire' }
  assert.equal(tileWordsOf(unknown, 'GPU 3'), 'on fire')
  assert.equal(tileWordsOf(unknown, 'GPU 4'), 'GPU 3 is on fire')
  assert.equal(worstByDevice([LOSS, { ...LOSS, id: 'other' }]).get(LOSS.device), LOSS)
})

function sentence(more: Partial<NodeSummary> = {}) {
  const { tone, sentence, facts } = nodeSentence({
    devices: [testGpu(0), testGpu(1), testNic(0), testNic(1)],
    hints: [],
    isKnown: true,
    unknown: '',
    ruleCount: 18,
    lastEndedMs: undefined,
    power: 4_100,
    sent: 232.5e9,
    moment: testMoment(),
    ...more,
  })
  return { tone, sentence: spaced(sentence), facts: spaced(facts) }
}

test('a hint about a device that is not listed any more names it, and is not of the node', () => {
  const words = (device: string) => placeWords({ device })
  assert.deepEqual(
    [words('node'), words('sim-node'), words('node@gpu-node-a')],
    ['the node', 'the node', 'the node gpu-node-a'],
  )
  assert.equal(words('gpu-0@gpu-node-a'), 'gpu-0@gpu-node-a')
  const ofOther = testHint({ device: 'node@gpu-node-a', affected: ['gpu-0@gpu-node-a'] })
  assert.equal(worstByDevice([ofOther]).get('gpu-0@gpu-node-a'), ofOther)
})

test('all is well: one quiet sentence', () => {
  assert.deepEqual(sentence(), {
    tone: 'calm',
    sentence: 'All 4 devices are in range.',
    facts: 'None of 18 rules holds. 4.10 kW drawn in all. 1.86 Tb/s sent in all.',
  })
  assert.match(sentence({ lastEndedMs: NOW_MS - 2_520_000 }).facts, /The last hint ended 42 min ago\.$/)
  assert.match(sentence({ blindCount: 5 }).facts, /^None of 13 rules holds\. 5 more have no signal here\. /)
})

test('no device is said to be in range that gives no sample', () => {
  assert.deepEqual(sentence({ silentCount: 3 }), {
    tone: 'info',
    sentence: '3 devices give no sample, 1 is in range.',
    facts: 'None of 18 rules holds. 4.10 kW drawn in all. 1.86 Tb/s sent in all.',
  })
  assert.equal(sentence({ silentCount: 4 }).sentence, 'No device gives a sample.')
  const moment = testMoment({ tense: 'past' })
  assert.equal(sentence({ silentCount: 1, moment }).sentence, '1 device gave no sample, 3 were in range.')
  assert.equal(sentence({ silentCount: 1, isKnown: false }).sentence, '1 device gives no sample, 3 are read.')
  const values = (...last: number[]) => ({ power: Float64Array.of(...last, ...Array(10).fill(Number.NaN)) })
  const columns = new Map([
    ['gpu-0', { power: Float64Array.of(1) }],
    ['gpu-1', values(1)],
  ])
  assert.equal(
    silentCountOf([testGpu(0), testGpu(1), testGpu(2), testGpu(3, { state: 'gone' })], columns, context()),
    2,
  )
})

test('what holds on other devices of the node is told where these are in range', () => {
  const gpus = { devices: [testGpu(0), testGpu(1)], noun: ['GPU', 'GPUs'] } as const
  assert.deepEqual(sentence({ ...gpus, elsewhere: [LOSS, LOSS], sent: Number.NaN }), {
    tone: 'calm',
    sentence: 'Both GPUs are in range.',
    facts:
      'No hint is about a GPU. Elsewhere: NIC 3 is losing packets, for 2 min 5 s, and 1 more. 4.10 kW drawn in all.',
  })
})

test('what is of the past is not said of now', () => {
  const moment = testMoment({ tense: 'past' })
  assert.deepEqual(
    [sentence({ moment }).sentence, sentence({ moment }).facts.split('. ')[0]],
    ['All 4 devices were in range.', 'None of 18 rules held'],
  )
  assert.equal(sentence({ hints: [LOSS], moment }).sentence, 'Last known: NIC 3 is losing packets, for 2 min 5 s')
  assert.equal(deviceSentence(testGpu(3), testSeen(), moment).sentence, 'GPU 3 was in range.')
})

test('the worst hint comes with its numbers, and the others are counted', () => {
  const affected = ['gpu-0', 'gpu-1', 'nic-mlx5_0-1', 'nic-mlx5_1-1']
  assert.deepEqual(sentence({ hints: [{ ...LOSS, affected }, LOSS, LOSS] }), {
    tone: 'critical',
    sentence: 'NIC 3 is losing packets, for 2 min 5 s',
    facts:
      'mlx5_3 counts 2.4 k sequence errors/s, its siblings 0, limit 100/s. It shows on 2 GPUs and 2 NICs too. And 2 more.',
  })
  assert.match(
    sentence({ hints: [{ ...LOSS, affected: ['gpu-1', 'nic-mlx5_0-1'] }] }).facts,
    /It shows on GPU 1 and NIC 0 too\.$/,
  )
})

test('a hint that forms says that it is not sure yet', () => {
  const { tone, facts } = sentence({ hints: [{ ...LOSS, stage: 'forming' }] })
  assert.equal(tone, 'info')
  assert.match(facts, /Not sure yet: it must hold for 3 s\.$/)
})

test('nothing is said to be in range before rules have spoken, or where a device is gone', () => {
  assert.equal(sentence({ isKnown: false }).sentence, '4 devices are read.')
  const devices = [testGpu(0, { state: 'gone' }), testGpu(1)]
  assert.deepEqual([sentence({ devices }).tone, sentence({ devices }).sentence], ['warning', 'GPU 0 is gone'])
})

test('tiles of a window that is over have its mean and its extremes', () => {
  const columns: DeviceColumns = { ...GPU, sm: of(0.1, 0.9, 0.8), temperature: of(88, 61, 60) }
  const past = context({ isNow: false })
  assert.equal(line(gpuTile(testGpu(3), columns, past)), 'GPU 3 | ok In range | 60.0 % SM | 10 – 90, ≤ 88 °C')
  const lost = { ...NIC, sequenceErrors: of(400, 0, 0), state: of(4, 1, 4) }
  assert.match(line(nicTile(testNic(3), lost, past)), /^NIC 3 \| critical Down for 1 s/)
  const errors = { ...NIC, sent: of(29e9, 31e9), sequenceErrors: of(400, 0, 0) }
  assert.match(line(nicTile(testNic(3), errors, past)), /232 – 248, ≤ 400\/s errors$/)
})
