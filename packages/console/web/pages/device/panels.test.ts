import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/client.ts'
import { queryKey } from '../../api/frame.ts'
import { testGpu, testNic } from '../../devices/test-devices.ts'
import { PAUSE_SHARE, PER_SECOND } from '../../format/quantity.ts'
import { testColumns } from '../test-columns.ts'
import { numberFact } from './facts.ts'
import type { DevicePanel } from './panel.ts'
import { panelQueries, queryOf } from './panel-queries.ts'
import { devicePanels } from './panels.ts'

const NIC = testNic(3)
const LOSS = { metric: 'rdma_hw_packet_seq_err_total', function: 'rate', label: 'lost' } as const
const PAUSED = {
  metric: 'ethtool_priority_rx_pause_seconds_total',
  function: 'rate',
  label: 'priority',
  each: 'priority',
} as const
const panel = (more: Partial<DevicePanel> = {}): DevicePanel => ({
  id: 'loss',
  title: 'Loss',
  quantity: PER_SECOND,
  lines: [LOSS],
  without: 'Nobody counts it.',
  ...more,
})

function show(panels: readonly DevicePanel[], answers: Parameters<typeof testColumns>[0], absent = '') {
  const latest = [{ metric: LOSS.metric, labels: NIC.labels, value: absent ? null : '1', timeMs: 0, absent }]
  const knownMetrics = new Set([LOSS.metric, PAUSED.metric])
  return devicePanels(NIC, panels, testColumns(answers), { latest, knownMetrics, marks: [], goneWords: '' })
}

test('a panel asks for each of its lines once, by the labels of the family', () => {
  assert.deepEqual(panelQueries(NIC, [panel(), panel({ lines: [LOSS, PAUSED] })]), [
    { metric: LOSS.metric, function: 'rate', matchers: [{ label: 'rdma_device', op: '=', value: 'mlx5_3' }] },
    { metric: PAUSED.metric, function: 'rate', matchers: [{ label: 'device', op: '=', value: 'eth13' }] },
  ])
  const gpu = queryOf(testGpu(3), { metric: 'DCGM_FI_DEV_GPU_TEMP', function: 'last' })
  assert.deepEqual(gpu?.matchers, [{ label: 'gpu', op: '=', value: '3' }])
  assert.equal(queryOf(testGpu(3), { metric: LOSS.metric, function: 'rate' }), undefined)
})

test('a label whose values are lines makes one member each; a simulated twin of the same name is left out', () => {
  const query = queryOf(NIC, PAUSED)!
  const series = ['0', '3'].map((priority) => ({ labels: { device: 'eth13', priority }, values: [1] }))
  const twin = { labels: { device: 'eth13', priority: '5', simulated: 'true' }, values: [9] }
  const [shown] = show([panel({ lines: [PAUSED] })], [{ query, series: [...series, twin] }])
  assert.deepEqual(
    shown?.spec.members.map(({ label }) => label),
    ['priority 0', 'priority 3'],
  )
  assert.deepEqual(shown?.spec.noun, ['priority', 'priorities'])
})

test('a line is named by the short word for the value of its label, or by a value without a word', () => {
  const line = { ...PAUSED, label: '{}', words: { '3': 'RDMA' } }
  const series = ['3', '4'].map((priority) => ({ labels: { device: 'eth13', priority }, values: [1] }))
  const [shown] = show([panel({ lines: [line] })], [{ query: queryOf(NIC, PAUSED)!, series }])
  assert.deepEqual(shown?.spec.members.map(({ label }) => label).sort(), ['4', 'RDMA'])
})

test('a share of time ends at all of it, whatever a counter that is read late seems to gain', () => {
  const series = [{ labels: { device: 'eth13', priority: '3' }, values: [1.0126, Number.NaN, 0.4] }]
  const [shown] = show([panel({ lines: [PAUSED], quantity: PAUSE_SHARE })], [{ query: queryOf(NIC, PAUSED)!, series }])
  assert.deepEqual([...shown!.spec.members[0]!.values], [1, Number.NaN, 0.4])
  assert.equal(numberFact('Paused', PAUSE_SHARE, 1.0126).value, '1000')
  assert.equal(numberFact('Lost', PER_SECOND, 1.5).value, '1.5')
})

test('what cannot be had says why: nobody reports it, or its source says why it is absent', () => {
  const unknown = panel({ lines: [{ ...LOSS, metric: 'rdma_hw_new_total' }] })
  assert.equal(show([unknown], [])[0]?.absent, 'Nobody counts it.')
  const answered = [{ query: queryOf(NIC, LOSS)!, series: [] }]
  assert.equal(show([panel()], answered, 'The driver has no such file.')[0]?.absent, 'The driver has no such file.')
  assert.equal(show([panel({ lines: [] })], [])[0]?.absent, 'Nobody counts it.')
})

test('of a device that left the panel says when and why, and its history is still drawn', () => {
  const context = { latest: [], knownMetrics: new Set([LOSS.metric]), marks: [], goneWords: 'Gone 14:03:11. It left.' }
  const query = queryOf(NIC, LOSS)!
  const [empty] = devicePanels(NIC, [panel()], testColumns([{ query, series: [] }]), context)
  assert.equal(empty?.absent, 'Gone 14:03:11. It left. No sample of it is in this window.')
  const [lineless] = devicePanels(NIC, [panel({ lines: [] })], testColumns([]), context)
  assert.equal(lineless?.absent, 'Nobody counts it.')
  const history = testColumns([{ query, series: [{ labels: NIC.labels, values: [1, 2] }] }])
  const [drawn] = devicePanels(NIC, [panel()], history, context)
  assert.deepEqual([drawn?.absent, drawn?.spec.members.length], [undefined, 1])
})

test('a question that has no answer yet is awaited, and not called a gap', () => {
  const [awaited] = show([panel()], [])
  assert.deepEqual([awaited?.absent, awaited?.spec.isAwaited], ['', true])
  const query = queryOf(NIC, LOSS)!
  const [answered] = show([panel()], [{ query, series: [] }])
  assert.equal(answered?.spec.isAwaited, false)
})

test('before the server has said what the device has, no panel has a reason', () => {
  const context = { latest: undefined, knownMetrics: new Set([LOSS.metric]), marks: [], goneWords: '' }
  const answer = testColumns([{ query: queryOf(NIC, LOSS)!, series: [] }])
  const [awaited] = devicePanels(NIC, [panel()], answer, context)
  assert.deepEqual([awaited?.absent, awaited?.spec.isAwaited], ['', true])
  const [said] = devicePanels(NIC, [panel()], answer, { ...context, latest: [] })
  assert.equal(said?.absent, 'Nobody counts it.')
})

test('a question that the server refused is no hardware that is absent', () => {
  const query = queryOf(NIC, LOSS)!
  const answer = testColumns([])
  const error = new ApiError('QRY_COST_LIMIT', 422, 'That is too much.')
  const refused = {
    ...answer,
    isAnswered: () => true,
    snapshot: { ...answer.snapshot, queryErrors: new Map([[queryKey(query), error]]) },
  }
  const context = { latest: [], knownMetrics: new Set([LOSS.metric]), marks: [], goneWords: '' }
  const [shown] = devicePanels(NIC, [panel()], refused, context)
  assert.equal(shown?.absent, 'The server does not tell it: That is too much.')
})

test('lanes of numbered things are all there: those without a value are empty, and listed with the reason', () => {
  const priorities = panel({ scale: 'lanes', lines: [{ ...PAUSED, label: 'p{}' }] })
  const query = queryOf(NIC, PAUSED)!
  const latest = ['0', '3'].map((priority) => ({
    metric: PAUSED.metric,
    labels: { device: 'eth13', priority },
    value: null,
    timeMs: 0,
    absent: priority === '0' ? 'flow control is off' : '',
  }))
  const answer = testColumns([{ query, series: [{ labels: { device: 'eth13', priority: '3' }, values: [1] }] }])
  const [shown] = devicePanels(NIC, [priorities], answer, {
    latest,
    knownMetrics: new Set([PAUSED.metric]),
    marks: [],
    goneWords: '',
  })
  assert.deepEqual(
    shown?.spec.members.map(({ label, values }) => `${label} ${values.at(-1)}`),
    ['p0 NaN', 'p3 1'],
  )
  assert.deepEqual(shown?.missing, [{ name: 'p0', reason: 'flow control is off' }])
})

const WAITS = { metric: 'doca_waits_seconds', function: 'rate', label: 'waits' } as const
const NOTES = ['Bins are absent before noon.']
const BINS_META = { role: 'bucket', unit: 'seconds', notes: NOTES } as const
const binsOf = (edges: readonly number[], values: readonly number[]) =>
  [...edges, null].map((upTo, i) => ({ labels: NIC.labels, bin: { above: edges[i - 1] ?? null, upTo }, values }))

test('a histogram is a strip, one of other edges another, and what is left out is told once', () => {
  const query = queryOf(NIC, WAITS)!
  const series = [...binsOf([0.001, 0.002], [1, Number.NaN]), ...binsOf([0.01], [Number.NaN, 1])]
  const charts = show([panel({ scale: 'heat', lines: [WAITS] })], [{ query, meta: BINS_META, series }])
  assert.deepEqual(
    charts.map(({ spec }) => spec.members.map(({ label }) => label.replaceAll('\u00a0', ' '))),
    [
      ['up to 1 ms', '1 ms to 2 ms', 'over 2 ms'],
      ['up to 10 ms', 'over 10 ms'],
    ],
  )
  assert.equal(new Set(charts.map(({ spec }) => spec.id)).size, 2)
  assert.deepEqual(
    charts.map(({ missing }) => missing),
    [undefined, [{ name: 'bins', reason: NOTES[0] }]],
  )
})

test('a strip without any bin says why the history has none', () => {
  const answer = testColumns([{ query: queryOf(NIC, WAITS)!, meta: BINS_META, series: [] }])
  const latest = [{ metric: WAITS.metric, labels: NIC.labels, value: '1', timeMs: 0, absent: '' }]
  const context = { latest, knownMetrics: new Set([WAITS.metric]), marks: [], goneWords: '' }
  const [shown] = devicePanels(NIC, [panel({ scale: 'heat', lines: [WAITS] })], answer, context)
  assert.equal(shown?.absent, NOTES[0])
})

test('lines with one name are one quantity: the first origin with data is drawn', () => {
  const other = { ...LOSS, metric: PAUSED.metric }
  const both = panel({ lines: [LOSS, other] })
  const answer = (line: typeof LOSS | typeof other, value: number) => ({
    query: queryOf(NIC, line)!,
    series: [{ labels: line === LOSS ? NIC.labels : { device: 'eth13' }, values: [value] }],
  })
  const drawn = (...answers: ReturnType<typeof answer>[]) =>
    show([both], answers)[0]?.spec.members.map(({ values }) => values.at(-1))
  assert.deepEqual(drawn(answer(LOSS, 1), answer(other, 2)), [1])
  assert.deepEqual(drawn({ query: queryOf(NIC, LOSS)!, series: [] }, answer(other, 2)), [2])
})

test('a value is divided by another of the same time, and a divisor of 0 gives none', () => {
  const mean = panel({ lines: [{ ...LOSS, per: { metric: 'rdma_hw_reads_total', function: 'rate' } }] })
  const reads = queryOf(NIC, { metric: 'rdma_hw_reads_total', function: 'rate' })!
  assert.ok(panelQueries(NIC, [mean]).some(({ metric }) => metric === reads.metric))
  const [shown] = show(
    [mean],
    [
      { query: queryOf(NIC, LOSS)!, series: [{ labels: NIC.labels, values: [6, 6, 6] }] },
      { query: reads, series: [{ labels: NIC.labels, values: [2, 0, 3] }] },
    ],
  )
  assert.deepEqual([...(shown?.spec.members[0]?.values ?? [])], [3, Number.NaN, 2])
})

test('lines of unlike units have a chart each, named by the labels that tell them apart', () => {
  const line = { ...PAUSED, label: '', each: ['device', 'priority'] } as const
  const query = queryOf(NIC, line)!
  const series = ['0', '3'].map((priority) => ({ labels: { device: 'eth13', priority }, values: [1] }))
  const charts = show([panel({ lines: [line], isApart: true })], [{ query, series }])
  assert.deepEqual(
    charts.map(({ spec }) => [spec.title, spec.members.length]),
    [
      ['Loss priority 0', 1],
      ['Loss priority 3', 1],
    ],
  )
})

test('a chart that nobody can draw is listed with its reason, drawn or not what replaces it', () => {
  const replaces = { title: 'Average RTT', reason: 'Nothing measures it.' }
  const drawn = show(
    [panel({ replaces })],
    [{ query: queryOf(NIC, LOSS)!, series: [{ labels: NIC.labels, values: [1] }] }],
  )
  const absent = show([panel({ replaces })], [{ query: queryOf(NIC, LOSS)!, series: [] }], 'no such file')
  assert.deepEqual([drawn[0]?.replaces, absent[0]?.replaces], [replaces, replaces])
})
