import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedSource, ListedType, MetricQuery } from '@sonde/sdk/api'
import { sampleUnit } from '../../format/quantity.ts'
import { testColumns } from '../test-columns.ts'
import { describeQuery, type ExplorerLane, explorerLanes } from './explorer-lanes.ts'
import { csvOf, curlCommand, type ExportTable, exportFileName, jsonOf } from './export.ts'
import { sourcesOf } from './provenance.ts'
import { statisticsOf } from './series-statistics.ts'

const GAP = Number.NaN
const RX: MetricQuery = { metric: 'netdev_rx_bytes_total', function: 'rate' }
const TX: MetricQuery = { metric: 'netdev_tx_bytes_total', function: 'rate' }
const IDLE: MetricQuery = { metric: 'host_cpu_seconds_total', function: 'rate' }

const ANSWER = testColumns([
  { query: RX, meta: { unit: 'bytes' }, series: [{ labels: { device: 'eth0' }, values: [1, GAP, 3] }] },
  { query: TX, meta: { unit: 'bytes' }, series: [{ labels: { device: 'eth0' }, values: [4, 5, 6] }] },
  { query: IDLE, meta: { unit: 'seconds' }, series: [{ labels: { cpu: '0' }, values: [1, 1, 1] }] },
])

test('signals of one unit share a lane, and are named by what tells them apart', () => {
  const lanes = explorerLanes([RX, IDLE, TX], ANSWER)
  assert.deepEqual(
    lanes.map(({ spec, series }) => [spec.title, series.map(({ member }) => member.label)]),
    [
      ['2 signals', ['rx bytes eth0', 'tx bytes eth0']],
      ['host_cpu_seconds_total', ['cpu 0']],
    ],
  )
})

test('series are named by the shortest labels that tell them apart, and stay lit by all of them', () => {
  const power: MetricQuery = { metric: 'DCGM_FI_DEV_POWER_USAGE', function: 'last' }
  const series = [0, 1].map((gpu) => ({ labels: { gpu: `${gpu}`, UUID: `GPU-${gpu}f-${gpu}` }, values: [1] }))
  const [lane] = explorerLanes([power], testColumns([{ query: power, series }]))
  assert.deepEqual(
    lane?.series.map(({ member, more }) => [member.label, more, member.key]),
    [
      ['gpu 0', 'GPU-0f-0', 'gpu 0 GPU-0f-0'],
      ['gpu 1', 'GPU-1f-1', 'gpu 1 GPU-1f-1'],
    ],
  )
})

test('one signal asked for twice is told apart by its function', () => {
  const largest: MetricQuery = { ...RX, function: 'increase' }
  const answer = testColumns([
    { query: RX, meta: { unit: '' }, series: [{ labels: {}, values: [1] }] },
    { query: { ...RX, metric: 'b_total' }, meta: { unit: '' }, series: [{ labels: {}, values: [1] }] },
    { query: largest, meta: { unit: '' }, series: [{ labels: {}, values: [1] }] },
  ])
  const titles = explorerLanes([RX, largest, { ...RX, metric: 'b_total' }], answer).map(({ spec }) =>
    spec.members.map(({ label }) => label),
  )
  assert.deepEqual(titles, [['netdev rx bytes', 'b'], ['rx bytes']])
})

test('the unit in a heading is that of the samples: of a rate a second, of a gauge its own, of a plain count none', () => {
  const asked = { metric: 'a', unit: 'watts', role: 'gauge', function: 'last' } as const
  assert.equal(sampleUnit(asked), 'watts')
  assert.equal(sampleUnit({ ...asked, unit: '', function: 'rate' }), '/s')
  assert.equal(sampleUnit({ ...asked, unit: '' }), '')
  assert.equal(sampleUnit({ ...asked, unit: 'bytes_per_second' }), 'bytes/s')
})

test('more series than colours are a herd, fewer are told apart one by one', () => {
  const series = (count: number) => Array.from({ length: count }, (_, i) => ({ labels: { gpu: `${i}` }, values: [1] }))
  const isAlike = (count: number) =>
    explorerLanes([RX], testColumns([{ query: RX, series: series(count) }]))[0]?.spec.isAlike
  assert.deepEqual([isAlike(8), isAlike(9)], [false, true])
})

test('what is too much for one set of colours has a lane a signal, world and kind of labels: only like members are a herd', () => {
  const many = (count: number, labels: Record<string, string> = {}) =>
    Array.from({ length: count }, (_, i) => ({ labels: { device: `eth${i}`, ...labels }, values: [1] }))
  const port: MetricQuery = { metric: 'rdma_port_xmit_data_bytes_total', function: 'rate' }
  const meta = { unit: 'bytes' }
  const lanes = explorerLanes(
    [RX, port],
    testColumns([
      { query: RX, meta, series: [...many(9), ...many(10, { simulated: 'true' }), ...many(1, { queue: '0' })] },
      { query: port, meta, series: many(3, { port: '1' }) },
    ]),
  )
  assert.deepEqual(
    lanes.map(({ spec }) => [spec.title, spec.members.length, spec.isAlike, spec.isSimulated]),
    [
      [`${RX.metric}: rate · real`, 9, true, false],
      [`${RX.metric}: rate · simulated`, 10, true, true],
      [`${RX.metric}: rate · real, by device and queue`, 1, false, false],
      [port.metric, 3, false, false],
    ],
  )
  assert.equal(new Set(lanes.map(({ spec }) => spec.id)).size, 4)
  const few = [
    { query: RX, meta, series: many(2) },
    { query: port, meta, series: many(3, { port: '1' }) },
  ]
  assert.deepEqual(
    explorerLanes([RX, port], testColumns(few)).map(({ spec }) => [spec.title, spec.isAlike]),
    [['2 signals', false]],
  )
})

test('a question is said in words', () => {
  assert.equal(describeQuery(RX), 'rate')
  const query: MetricQuery = {
    ...RX,
    aggregate: 'avg',
    by: ['device'],
    matchers: [{ label: 'device', op: '!=', value: 'lo' }],
  }
  assert.equal(describeQuery(query), 'rate, mean by device, where device != lo')
  assert.equal(describeQuery({ ...RX, by: [] }), 'rate, sum of all')
})

test('statistics leave gaps out and count them', () => {
  const values = Float64Array.of(GAP, 4, GAP, GAP, 2, 9, GAP)
  assert.deepEqual(statisticsOf(values, 0, 6), {
    last: 9,
    min: 2,
    mean: 5,
    max: 9,
    p95: 9,
    sampleCount: 3,
    gapCount: 1,
    lastPosition: 5,
  })
  assert.equal(statisticsOf(values, 0, 0).sampleCount, 0)
  const hundred = Float64Array.from({ length: 100 }, (_, i) => (i * 37) % 100)
  assert.equal(statisticsOf(hundred, 0, 99).p95, 94)
  assert.equal(hundred[1], 37)
})

test('the CSV has full precision, quoted names and empty cells for gaps', () => {
  const lanes = explorerLanes([RX, TX], ANSWER)
  const rows = csvOf(sheetOf(lanes[0]!)).trimEnd().split('\r\n')
  assert.equal(
    rows[0],
    'time,"rate netdev_rx_bytes_total{device=""eth0""} [bytes/s]","rate netdev_tx_bytes_total{device=""eth0""} [bytes/s]"',
  )
  assert.equal(rows[2], '1970-01-01T00:16:39.000Z,,5')
  assert.equal(rows.length, 4)
})

test('the command for curl survives quotes in a condition', () => {
  const query: MetricQuery = { ...RX, matchers: [{ label: 'device', op: '=', value: "it's" }] }
  const command = curlCommand('http://127.0.0.1:9394', [query], { fromMs: 0.4, toMs: 1_000 }, 1_000)
  assert.match(command, /^curl -s 'http:\/\/127\.0\.0\.1:9394\/api\/v1\/query' -H /)
  assert.ok(command.includes(String.raw`"value":"it'\''s"`))
})

test('the command for curl runs nothing that a link has in the name of a node', (t) => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'location')
  t.after(() => before === undefined || Object.defineProperty(globalThis, 'location', before))
  Object.defineProperty(globalThis, 'location', { value: { pathname: "/nodes/a';$(id);/explore" }, configurable: true })
  const command = curlCommand('http://127.0.0.1:9394', [RX], { fromMs: 0, toMs: 1_000 }, 1_000)
  assert.ok(
    command.startsWith(String.raw`curl -s 'http://127.0.0.1:9394/api/v1/nodes/a'\'';$(id);/query' -H `),
    command,
  )
})

test('JSON has the columns as the API gives them, and null for a gap', () => {
  const answer = JSON.parse(jsonOf({ ...sheetOf(explorerLanes([RX, TX], ANSWER)[0]!), from: 1 }))
  assert.deepEqual(answer, {
    node: 'hgx-a17',
    stepMs: 1_000,
    times: [999_000, 1_000_000],
    series: [
      {
        metric: 'netdev_rx_bytes_total',
        function: 'rate',
        unit: 'bytes',
        labels: { device: 'eth0' },
        simulated: false,
        values: [null, 3],
      },
      {
        metric: 'netdev_tx_bytes_total',
        function: 'rate',
        unit: 'bytes',
        labels: { device: 'eth0' },
        simulated: false,
        values: [5, 6],
      },
    ],
  })
})

test('what is simulated says so in exports and file names, and is named as its like', () => {
  const answer = testColumns([{ query: RX, series: [{ labels: { device: 'eth10', simulated: 'true' }, values: [1] }] }])
  const lane = explorerLanes([RX], answer)[0]!
  assert.equal(lane.series[0]?.member.label, 'eth10')
  assert.equal(lane.spec.isSimulated, true)
  assert.match(csvOf(sheetOf(lane)), /^time,.*simulated=""true""} \[\/s\] \(simulated\)"/)
  assert.equal(exportFileName(['2 signals'], true, 'png'), 'sonde-2-signals-simulated.png')
})

test('a sum on a node that simulates may hold what is simulated; one series of its own does not', () => {
  const sum: MetricQuery = { ...RX, by: [] }
  const answer = testColumns([
    { query: RX, series: [{ labels: { device: 'eth0' }, values: [1] }] },
    { query: sum, series: [{ labels: {}, values: [1] }] },
  ])
  const marks = explorerLanes([RX, sum], answer, { simulated: true })[0]?.series.map(({ isSimulated }) => isSimulated)
  assert.deepEqual(marks, [false, true])
})

test('a series comes from the sources that report its type; a simulated one from the simulator', () => {
  const types = [{ name: 'netdev', fields: [{ metric: RX.metric }] }] as unknown as ListedType[]
  const sources = [
    { name: 'netdev', type: 'netdev', types: ['netdev'] },
    { name: 'simulated node', type: 'simulator', types: ['netdev', 'nvml'] },
    { name: 'host', type: 'host', types: ['host'] },
  ] as unknown as ListedSource[]
  assert.deepEqual(sourcesOf(RX.metric, { device: 'eth0' }, types, sources), ['netdev'])
  assert.deepEqual(sourcesOf(RX.metric, { simulated: 'true' }, types, sources), ['simulated node'])
  const simulated = sources.filter(({ name }) => name !== 'netdev')
  assert.deepEqual(sourcesOf(RX.metric, { device: 'eth0' }, types, simulated), ['simulated node'], 'a sum of them')
  assert.deepEqual(sourcesOf('app_requests_total', {}, types, sources), [])
})

/** Selects all samples of a lane. */
function sheetOf({ times, series }: ExplorerLane): ExportTable {
  return { node: 'hgx-a17', stepMs: 1_000, times, series, from: 0, to: times.length - 1 }
}
