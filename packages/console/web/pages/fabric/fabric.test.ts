import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Labels } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { ChartModeller } from '../../chart/chart-model.ts'
import type { ChartView } from '../../chart/chart-spec.ts'
import { testNic } from '../../devices/test-devices.ts'
import { testHint, testMoment, testSeen } from '../../devices/test-hints.ts'
import { type TestAnswer, testColumns } from '../test-columns.ts'
import { portsHeadline } from './fabric-headline.ts'
import { oddSignals } from './odd-ports.ts'
import { portSections } from './port-charts.ts'
import { columnsWithValues, linkDownCount } from './port-columns.ts'
import { fabricPorts, type PortRow, portRows, siblingGroups } from './port-data.ts'
import { PORT_QUERIES, PORT_SECTIONS, PORT_SIGNALS, type PortColumn } from './port-signals.ts'
import { busWords, lineWords, portState } from './port-state.ts'

const GAP = Number.NaN
const spaced = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ')

/** Ports for a test. Each signal lists the samples of every port in order. */
function rowsOf(
  signals: Partial<Record<PortColumn, readonly (readonly number[])[]>>,
  ports: readonly DeviceInfo[] = Array.from({ length: 8 }, (_, place) => testNic(place)),
): PortRow[] {
  const answers = Object.entries(signals).map(
    ([name, columns]): TestAnswer => ({
      query: PORT_QUERIES[name as PortColumn],
      series: columns.map((values, place) => ({ labels: labelsOf(ports[place]!, name as PortColumn), values })),
    }),
  )
  const answer = testColumns(answers)
  return portRows(ports, Object.keys(signals) as PortColumn[], () => answer)
}

function labelsOf({ labels, series }: DeviceInfo, name: PortColumn): Labels {
  const family = PORT_QUERIES[name].metric.split('_')[0]!
  return family === 'rdma' ? labels : (series?.[family === 'pci' ? 'pci' : 'netdev'] ?? {})
}

/** A view of all of `count` samples, a second apart. */
function viewOf(count: number): ChartView {
  return {
    times: Float64Array.from({ length: count }, (_, i) => i * 1_000),
    firstIndex: 0,
    stepMs: 1_000,
    fromMs: 0,
    toMs: (count - 1) * 1_000,
    isLive: true,
    isKnown: true,
    zone: 'utc',
    mode: 'herd',
    pinned: new Set(),
  }
}

const eight = (usual: readonly number[], third: readonly number[] = usual): (readonly number[])[] =>
  Array.from({ length: 8 }, (_, place) => (place === 3 ? third : usual))

const NOW = { stepMs: 1_000, isNow: true }

test('every signal that is asked has its chart in one section, and the server takes the questions at once', () => {
  const charted = PORT_SECTIONS.flatMap(({ signals }) => signals)
  assert.deepEqual([...charted].sort(), Object.keys(PORT_SIGNALS).sort())
  assert.ok(charted.length >= 20)
  assert.ok(Object.keys(PORT_QUERIES).length <= 64)
})

test('ports stand in the order of their rails, those in none last', () => {
  const storage = testNic(0, { id: 'nic-mlx5_bond_0-1', name: 'mlx5_bond_0', rail: null })
  const ports = fabricPorts([storage, testNic(10), testNic(2)])
  assert.deepEqual(
    ports.map(({ name }) => name),
    ['mlx5_2', 'mlx5_10', 'mlx5_bond_0'],
  )
})

test('each port gets the series of its own adapter, interface and address', () => {
  const rows = rowsOf({ sent: eight([1], [3]), checksumErrors: eight([5], [7]), width: eight([16], [8]) })
  assert.deepEqual(
    [rows[3]!.columns.sent?.[0], rows[3]!.columns.checksumErrors?.[0], rows[3]!.columns.width?.[0]],
    [3, 7, 8],
  )
  assert.equal(rows[4]!.columns.width?.[0], 16)
  assert.equal(rows[4]!.label, 'NIC 4')
})

test('two ports of one rail are told apart by their names', () => {
  const ports = [testNic(0), testNic(1, { rail: 0, labels: { rdma_device: 'mlx5_1', port: '2' } })]
  assert.deepEqual(
    portRows(ports, [], () => testColumns([])).map(({ label }) => label),
    ['NIC 0 mlx5_0/1', 'NIC 0 mlx5_1/2'],
  )
})

test('a real port is not given the samples of a simulated one of the same name', () => {
  const ports = [testNic(0, { simulated: true, labels: { rdma_device: 'mlx5_0', port: '1', simulated: 'true' } })]
  const answer = testColumns([
    { query: PORT_QUERIES.sent, series: [{ labels: { rdma_device: 'mlx5_0', port: '1' }, values: [1] }] },
  ])
  assert.equal(portRows(ports, ['sent'], () => answer)[0]?.columns.sent, undefined)
})

test('the one that stands out in three of five samples is odd, in that signal alone', () => {
  const rows = rowsOf({
    sent: eight([10, 10, 10, 10, 10]),
    sequenceErrors: eight([0, 0, 0, 0, 0], [900, 0, 950, 0, 990]),
  })
  const odd = oddSignals(siblingGroups(rows), NOW)
  assert.deepEqual([...odd], [['nic-mlx5_3-1', new Set(['sequenceErrors'])]])
})

test('the table lights what the chart of the same samples lights, and no noise', () => {
  const noise = Array.from({ length: 8 }, (_, place) => new Array(8).fill(place === 6 ? 0.9e-3 : 0.82e-3))
  const busy = Array.from({ length: 8 }, (_, place) => new Array(8).fill(place === 6 ? 9.42e9 : 9.35e9))
  const late = Array.from({ length: 8 }, (_, place) => new Array(8).fill(place === 6 ? 0.45 : 0.3e-3))
  const rows = rowsOf({ paused: noise, pausing: late, received: busy, lineRate: eight([50e9]) })
  const odd = oddSignals(siblingGroups(rows), NOW)
  assert.deepEqual([...odd], [['nic-mlx5_6-1', new Set(['pausing'])]])
  const charts = portSections(rows, () => testColumns([]), []).flatMap((section) => section.charts)
  for (const { spec } of charts) {
    const { herd } = new ChartModeller().model(spec, viewOf(8))
    const lit = herd!.lit.map((place) => spec.members[place]!.key)
    assert.deepEqual(lit, spec.id === 'pausing' ? ['NIC 6'] : [], spec.title)
  }
})

test('in a window that is over what stood out is lit, however long ago it ended', () => {
  const calm = new Array<number>(30).fill(0)
  const rows = rowsOf({ sequenceErrors: eight([0, 0, ...calm], [900, 950, ...calm]) })
  const WINDOW = { ...NOW, isNow: false }
  assert.equal(oddSignals(siblingGroups(rows), NOW).size, 0)
  assert.deepEqual([...oddSignals(siblingGroups(rows), WINDOW)], [['nic-mlx5_3-1', new Set(['sequenceErrors'])]])
  const [column] = columnsWithValues(rows)
  const { value, low, high } = column!.read(rows[3]!, WINDOW)
  assert.deepEqual([Math.round(value), low, high], [58, 0, 950])
})

test('two samples are no state yet, and a gap of all is none', () => {
  const short = rowsOf({ sequenceErrors: eight([0, 0, 0, 0], [0, 0, 950, 990]) })
  assert.equal(oddSignals(siblingGroups(short), NOW).size, 0)
  const gap = rowsOf({ sequenceErrors: eight([0, 0, 0, GAP], [900, 950, 990, GAP]) })
  assert.equal(oddSignals(siblingGroups(gap), NOW).size, 1)
})

test('three are no herd, and a port in no rail is held against those of its own rate', () => {
  const three = [testNic(0), testNic(1), testNic(2)]
  const few = rowsOf(
    {
      sent: [
        [1, 1, 1],
        [1, 1, 1],
        [9, 9, 9],
      ],
    },
    three,
  )
  assert.equal(oddSignals(siblingGroups(few), NOW).size, 0)
  const ports = [...Array.from({ length: 4 }, (_, place) => testNic(place)), testNic(9, { rail: null })]
  const rows = rowsOf({ sent: ports.map(({ rail }) => (rail === null ? [1, 1, 1] : [9, 9, 9])) }, ports)
  assert.equal(oddSignals(siblingGroups(rows), NOW).size, 0)
})

test('charts are herds of siblings with the line rate as their limit; what no port has has no chart', () => {
  const rows = rowsOf({ sent: eight([1e9]), lineRate: eight([50e9]) })
  const answer = testColumns([])
  const sections = portSections(rows, () => answer, [])
  assert.deepEqual(
    sections.map(({ title, charts }) => [title, charts.map(({ spec }) => spec.title)]),
    [['Traffic', ['Sent']]],
  )
  const { spec } = sections[0]!.charts[0]!
  assert.equal(spec.members.length, 8)
  assert.deepEqual(spec.limits, [{ value: 50e9, label: 'link' }])
})

test('a port says what a rule sees of it, then what its driver says', () => {
  const [row] = rowsOf({ state: [[4]] }, [testNic(0)])
  assert.deepEqual(portState(row!, testSeen(), NOW), { tone: 'ok', word: 'Active' })
  assert.deepEqual(portState(row!, testSeen([HINT]), NOW), { tone: 'critical', word: 'Retransmission storm' })
  const [down] = rowsOf({ state: [[1]] }, [testNic(0)])
  assert.deepEqual(portState(down!, testSeen(), NOW), { tone: 'absent', word: 'Down' })
  assert.deepEqual(portState(down!, testSeen([HINT]), NOW), { tone: 'critical', word: 'Down' })
  const [gone] = rowsOf({ state: [[4]] }, [testNic(0, { state: 'gone' })])
  assert.equal(portState(gone!, testSeen([HINT]), NOW).word, 'Gone')
})

test('links are said as people say them, and what went down is counted over the window', () => {
  const [row] = rowsOf(
    {
      lineRate: [[50e9]],
      lanes: [[4]],
      speed: [[32e9]],
      speedMax: [[32e9]],
      width: [[8]],
      widthMax: [[16]],
      linkDowns: [[1, GAP, 2]],
    },
    [testNic(0)],
  )
  assert.equal(spaced(lineWords(row!, NOW)), '400 Gb/s ×4')
  assert.equal(busWords(row!, NOW), 'Gen5 ×8 of ×16')
  assert.equal(linkDownCount(row!), 3)
  assert.ok(Number.isNaN(linkDownCount({ ...row!, columns: {} })))
})

test('notifications are those that a port handled, which slow it, and the head says so', () => {
  const rows = rowsOf({ notified: eight([100]), slowed: eight([5]) })
  const [cnp, ...more] = columnsWithValues(rows)
  assert.deepEqual([cnp?.key, cnp?.read(rows[0]!, NOW).value, more.length], ['cnp', 5, 0])
  assert.match(cnp?.title ?? '', /handled/)
})

test('the table has no columns for what no port counts', () => {
  const rows = rowsOf({ sent: eight([1]), discards: eight([1]) })
  assert.deepEqual(
    columnsWithValues(rows).map(({ key }) => key),
    ['discards'],
  )
})

const HINT = testHint({ device: 'nic-mlx5_0-1', title: 'NIC 0 is losing packets' })

test('the headline is the worst that a rule sees of a port, or what all carry', () => {
  const rows = rowsOf({ state: eight([4]), sent: eight([1e9]), received: eight([2e9]) })
  const seen = testSeen([HINT, { ...HINT, id: 'other', severity: 'warning' }])
  const trouble = portsHeadline(rows, seen, NOW, testMoment())
  assert.equal(trouble.tone, 'critical')
  assert.equal(spaced(trouble.sentence), 'NIC 0 is losing packets, for 2 min 5 s')
  assert.match(trouble.facts, /limit 100\/s\. And 1 more\.$/)
  const others = testSeen([
    { ...HINT, device: 'gpu-1' },
    { ...HINT, severity: 'notice' },
  ])
  const calm = portsHeadline(rows, others, NOW, testMoment())
  assert.equal(calm.tone, 'calm')
  assert.equal(spaced(calm.sentence), 'All 8 ports are active and in range')
  assert.equal(spaced(calm.facts), '64.0 Gb/s sent and 128 Gb/s received in all.')
  const unjudged = testMoment({ tense: 'past', toMs: 1_000_000 })
  const past = portsHeadline(rows, testSeen([], { isKnown: false }), NOW, unjudged)
  assert.equal(spaced(past.sentence), '8 ports were read')
  assert.match(spaced(past.facts), /^Findings of rules are not known\. All 8 ports were active\. 64\.0 Gb\/s sent/)
})
