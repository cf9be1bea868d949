import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { type Batch, type ReadRecord, type RecordType, readRecords, viewsOf } from '@sonde/sdk'
import * as v from 'valibot'
import { needs } from '../../../../../test/debian.ts'
import { type DoubleDevice, EthtoolDouble } from '../../../../../test/doubles/ethtool-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { Host } from '../../hosting/host.ts'
import { SourceStatus } from '../../hosting/source-status.ts'
import { testSource } from '../conformance.ts'
import type { SourceDefinition } from '../source.ts'
import { type ReportedRecord, TestedSource, TestNode } from '../test-node.ts'
import { ethtoolOf } from './ethtool.ts'
import { ethtoolDriverType, ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from './type.ts'

const NEEDS = needs('cc')
/** A machine that is busy otherwise must not look like a slow driver. */
const PATIENT = { stuck_ms: 60_000 }
const MLX5_STATS = fs
  .readFileSync(new URL('fixtures/mlx5-statistics.txt', import.meta.url), 'utf8')
  .split('\n')
  .slice(1, -1)
  .map((line) => [line.trim().split(': ')[0] ?? '', BigInt(line.split(': ')[1] ?? '')] as const)

const MLX5: DoubleDevice = {
  stats: MLX5_STATS,
  driver: ['mlx5_core', '6.18.44', '28.41.1000', '0000:9a:00.0'],
  link: 1,
  // Bits 85 to 89 are the modes of 400 Gbit/s over four lanes.
  settings: {
    speedMbit: 400_000,
    duplex: 1,
    port: 5,
    autonegotiation: 1,
    masks: [
      [0, 0, 0x03e0_0000, 0],
      [0, 0, 0x03e0_0000, 0],
      [0, 0, 0x0020_0000, 0],
    ],
  },
}
const VETH: DoubleDevice = { stats: [['peer_ifindex', 7]], driver: ['veth', '1.0', '', ''], link: 1 }

const replaced = (name: string, value: number | bigint): DoubleDevice => ({
  ...MLX5,
  stats: MLX5_STATS.map(([known, now]) => [known, known === name ? value : now] as const),
})

/** Interfaces as sysfs shows them: each with a device behind it, or none. */
function link(node: TestNode, names: readonly string[], behind: 'device' | 'nothing' = 'device'): void {
  for (const name of names) {
    const folder = join(node.root, 'sys/class/net', name)
    fs.mkdirSync(behind === 'device' ? join(folder, 'device') : folder, { recursive: true })
    fs.writeFileSync(join(folder, 'ifindex'), '2\n')
  }
}

const unlink = (node: TestNode, name: string) => fs.rmSync(join(node.root, 'sys/class/net', name), { recursive: true })

function bringUp(t: TestContext, devices: Readonly<Record<string, DoubleDevice>>, options: object = {}) {
  const node = new TestNode(t)
  link(node, Object.keys(devices))
  const double = new EthtoolDouble(t)
  double.play(devices)
  const tested = new TestedSource(ethtoolOf(double.library), node.paths, { ...PATIENT, ...options })
  t.after(() => tested.source.close())
  return { node, double, tested }
}

const suiteDouble = new EthtoolDouble({ after })
suiteDouble.play({ eth10: MLX5 })
const withInterface: SourceDefinition = {
  ...ethtoolOf(),
  async load() {
    const loaded = await ethtoolOf(suiteDouble.library).load()
    return {
      ...loaded,
      create(options, context) {
        fs.mkdirSync(join(context.paths.sysfs, 'class/net/eth10/device'), { recursive: true })
        return loaded.create(options, context)
      },
    }
  },
}

testSource(withInterface, {
  ...NEEDS,
  options: PATIENT,
  counter: {
    type: ethtoolPortType,
    field: 'rx_phy_bytes_total',
    labels: { device: 'eth10' },
    write: (_, value) => suiteDouble.play({ eth10: replaced('rx_bytes_phy', value) }),
  },
})

test('the statistics of an mlx5 port go to port, priorities and lanes with their units', NEEDS, async (t) => {
  const { tested } = bringUp(t, { eth10: MLX5 })
  await tested.source.sample()
  const taken = tested.take()
  const of = (type: unknown) => taken.filter((one) => one.type === type).map(({ record }) => record)
  const [port] = of(ethtoolPortType)
  assert.equal(port?.rx_phy_bytes_total, 2n ** 53n + 12345n)
  assert.equal(port?.tx_phy_bytes_total, 2n ** 64n - 1n)
  assert.equal(port?.outbound_pci_stalled_rd_ratio, 0.03)
  assert.equal(port?.outbound_pci_stalled_wr_ratio, 0.41)
  const absent = Object.keys(ethtoolPortType.fields).filter((field) => port?.[field] === undefined)
  assert.deepEqual(absent, [], 'each field of the type is filled')
  const priorities = of(ethtoolPriorityType)
  assert.deepEqual(
    priorities.map(({ priority }) => priority),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
  assert.equal(priorities[3]?.rx_pause_seconds_total, 2.5)
  assert.ok(Math.abs(Number(priorities[3]?.tx_pause_seconds_total) - 17e-6) < 1e-12)
  assert.equal(priorities[4]?.rx_pause_total, undefined)
  assert.ok(TestedSource.absences(taken, { device: 'eth10', priority: '4' }).includes('rx_pause_total: unsupported'))
  assert.deepEqual(
    of(ethtoolLaneType).map(({ lane, rx_err_phy_total }) => [lane, rx_err_phy_total]),
    [0, 1, 2, 3].map((lane) => [lane, MLX5_STATS.find(([name]) => name === `rx_err_lane_${lane}_phy`)?.[1]]),
  )
  assert.deepEqual(tested.failures, [])
})

test('no statistic is lost: each is a field, or a series under its own name, or that of a queue', NEEDS, async (t) => {
  const { tested } = bringUp(t, { eth10: MLX5 }, { queues: true })
  await tested.source.sample()
  const taken = tested.take()
  const values = taken
    .filter(({ type }) => type !== ethtoolLinkType)
    .flatMap(({ type, record }) => [...type.metrics.keys()].filter((name) => record[name] !== undefined))
  assert.equal(values.length, MLX5_STATS.length)
  const names = (await tested.sampleOf(ethtoolDriverType)).map(({ counter }) => counter)
  assert.ok(names.includes('rx0_packets') && names.includes('rx_64_bytes_phy') && names.includes('ptp_tx2_packets'))
})

test('queues are left out by default, and what the limit leaves out is counted', NEEDS, async (t) => {
  const { tested } = bringUp(t, { eth10: MLX5 })
  const driver = await tested.sampleOf(ethtoolDriverType)
  assert.deepEqual(
    driver.filter(({ counter }) => /\d_/.test(counter) && !/_bytes_phy$/.test(counter)),
    [],
  )
  const limited = bringUp(t, { eth10: MLX5 }, { driver_counters: 10 }).tested
  assert.equal((await limited.sampleOf(ethtoolDriverType)).length, 10)
  assert.equal(limited.dropped.get('driver_counters'), driver.length - 10)
})

test('the link and the driver in our units', NEEDS, async (t) => {
  const { tested } = bringUp(t, { eth10: MLX5, eth11: VETH })
  const [{ time: _, ...eth10 }, eth11] = (await tested.sampleOf(ethtoolLinkType)) as [Record<string, unknown>, object]
  assert.deepEqual(eth10, {
    device: 'eth10',
    responsive: 1,
    detected: 1,
    speed_bytes_per_second: 50_000_000_000n,
    full_duplex: 1,
    autonegotiation: 1,
    lanes: 4,
    port_kind: 'direct_attach',
    driver: 'mlx5_core',
    driver_version: '6.18.44',
    firmware: '28.41.1000',
    address: '0000:9a:00.0',
  })
  assert.equal((eth11 as { firmware?: string }).firmware, undefined)
  assert.equal(tested.absent.get('ethtool_link{device="eth11"}.firmware'), 'unsupported')
})

test('names of another driver are taken as they are, whatever mlx5 means by them', NEEDS, async (t) => {
  const stats = [
    ['rx_bytes_phy', 1],
    ['tx bytes', 2],
    ['tx bytes', 3],
    ['', 4],
    ['größe', 5],
  ] as const
  const { tested } = bringUp(t, { eth0: { ...VETH, stats } })
  const driver = await tested.sampleOf(ethtoolDriverType)
  assert.deepEqual(
    driver.map(({ counter, statistic }) => [counter, statistic]),
    [
      ['rx_bytes_phy', 1n],
      ['tx bytes', 2n],
      ['gr\\xc3\\xb6\\xc3\\x9fe', 5n],
    ],
  )
})

test('statistics that a reload of the driver takes away are gone, and new ones come', NEEDS, async (t) => {
  const { double, tested } = bringUp(t, { eth10: MLX5 })
  await tested.source.sample()
  tested.take()
  const stats = [...MLX5_STATS.filter(([name]) => !/prio3_pause|lane_3/.test(name)), ['rx_prio4_pause', 9n] as const]
  double.play({ eth10: { ...MLX5, stats } })
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { device: 'eth10', lane: '3' }), [': gone'])
  assert.ok(TestedSource.absences(taken, { device: 'eth10', priority: '3' }).includes('rx_pause_total: unsupported'))
  const of4 = taken.find(({ type, record }) => type === ethtoolPriorityType && record.priority === 4)
  assert.equal(of4?.record.rx_pause_total, 9n)
})

test('an interface that leaves, and one that is renamed, is gone with all its series', NEEDS, async (t) => {
  const { node, double, tested } = bringUp(t, { eth10: MLX5, eth11: MLX5 })
  await tested.source.sample()
  tested.take()
  unlink(node, 'eth10')
  link(node, ['enp1s0'])
  double.play({ enp1s0: MLX5, eth11: MLX5 })
  await tested.source.sample()
  const taken = tested.take()
  for (const labels of [{ device: 'eth10' }, { device: 'eth10', priority: '0' }, { device: 'eth10', lane: '1' }]) {
    assert.ok(TestedSource.absences(taken, labels).includes(': gone'), JSON.stringify(labels))
  }
  const devices = taken.filter(({ type }) => type === ethtoolPortType).map(({ record }) => record.device)
  assert.deepEqual(devices.sort(), ['enp1s0', 'eth11'])
  assert.deepEqual(tested.failures, [])
})

test(
  'an interface that leaves in the middle of a sweep is gone and harms no other, and may come back',
  NEEDS,
  async (t) => {
    const { double, tested } = bringUp(t, { eth10: MLX5, eth11: MLX5 })
    await tested.source.sample()
    tested.take()
    const devicesOf = async () => (await tested.sampleOf(ethtoolPortType)).map(({ device }) => device)
    for (const call of ['glink', 'gstats']) {
      double.play({ eth10: { ...MLX5, faults: [`errno ${call} 19`] }, eth11: MLX5 })
      await tested.source.sample()
      const taken = tested.take()
      assert.deepEqual(TestedSource.absences(taken, { device: 'eth10', lane: '0' }), [': gone'])
      assert.deepEqual(TestedSource.absences(taken, { device: 'eth10' }), [': gone', ': gone'])
      assert.deepEqual(await devicesOf(), ['eth11'])
      double.play({ eth10: MLX5, eth11: MLX5 })
      assert.deepEqual(await devicesOf(), ['eth10', 'eth11'])
    }
    assert.deepEqual(tested.failures, [])
  },
)

test('the last interface that leaves is gone, and the sample says that nothing is left', NEEDS, async (t) => {
  const { node, tested } = bringUp(t, { eth10: MLX5 })
  await tested.source.sample()
  tested.take()
  unlink(node, 'eth10')
  await assert.rejects(async () => tested.source.sample(), {
    code: 'SRC_READ',
    message: /no longer has a requested interface/,
  })
  const taken = tested.take()
  for (const labels of [{ device: 'eth10' }, { device: 'eth10', lane: '1' }]) {
    assert.ok(TestedSource.absences(taken, labels).includes(': gone'))
  }
  assert.equal((await tested.source.probe()).state, 'absent')
})

test('interfaces of another network namespace are said to be that', NEEDS, async (t) => {
  const { double, tested } = bringUp(t, { eth10: MLX5 })
  double.play({})
  await assert.rejects(async () => tested.source.sample(), { code: 'SRC_READ', message: /network namespace/ })
})

test('a refusal is absent with its reason; what was there before is gone, and comes back', NEEDS, async (t) => {
  const { double, tested } = bringUp(t, { eth10: MLX5 })
  await tested.source.sample()
  tested.take()
  const answers = [
    [95, 'unsupported', 0],
    [1, 'denied', 0],
    [5, 'failed', 1],
  ] as const
  for (const [number, code, failures] of answers) {
    double.play({ eth10: { ...MLX5, faults: [`errno gstats ${number}`] } })
    tested.failures.length = 0
    assert.equal((await tested.sampleOf(ethtoolPortType)).length, 0)
    assert.equal(tested.absent.get('ethtool_port{device="eth10"}.'), code)
    assert.equal(tested.failures.length, failures)
    double.play({ eth10: MLX5 })
    assert.equal((await tested.sampleOf(ethtoolPortType)).length, 1)
    assert.equal(tested.absent.get('ethtool_port{device="eth10"}.'), undefined)
  }
})

test('only interfaces with hardware behind them are read, unless others are asked for', NEEDS, async (t) => {
  const { node, double, tested } = bringUp(t, { eth10: MLX5, eth11: VETH })
  link(node, ['veth1'], 'nothing')
  for (const [name, bus] of Object.entries({ eth10: 'pci', eth11: 'virtio' }))
    fs.symlinkSync(`../../../../bus/${bus}`, join(node.root, 'sys/class/net', name, 'device/subsystem'))
  fs.writeFileSync(join(node.root, 'sys/class/net/bonding_masters'), '\n')
  double.play({ eth10: MLX5, eth11: VETH, veth1: VETH })
  const devicesOf = async (one: TestedSource) => (await one.sampleOf(ethtoolLinkType)).map(({ device }) => device)
  assert.deepEqual(await devicesOf(tested), ['eth10'])
  const all = new TestedSource(ethtoolOf(double.library), node.paths, { ...PATIENT, virtual: true })
  t.after(() => all.source.close())
  assert.deepEqual(await devicesOf(all), ['eth10', 'eth11', 'veth1'])
  const none = new TestedSource(ethtoolOf(double.library), node.paths, { devices: ['veth*'] })
  t.after(() => none.source.close())
  assert.deepEqual((await none.source.probe()).state, 'absent')
})

/** The source in a host of this process, and the records that it has reported so far. */
function host(t: TestContext, names: readonly string[], options: object) {
  const node = new TestNode(t)
  link(node, names)
  const double = new EthtoolDouble(t)
  const definition = ethtoolOf(double.library)
  const taken: ReportedRecord[] = []
  const status = new SourceStatus()
  const config = {
    ...{ module: '', name: 'ethtool', type: 'ethtool', intervalMs: 50, paths: node.paths },
    ...{ options: v.parse(definition.options, options) as object, floodBytes: 1 << 20, callLimitMs: 60_000 },
  }
  const accept = ({ type, count, bytes, symbols }: Batch) => {
    for (const record of readRecords(type, viewsOf(bytes), count, symbols))
      taken.push({ type, record: record as ReadRecord })
  }
  let isBlocked = false
  const hosts = new Host({ openLimit: 4, onBlocked: () => (isBlocked = true) })
  t.after(() => hosts.stop(50))
  const start = () => hosts.start({ config, definition, status, accept }, 0)
  const devicesOf = (type: RecordType) =>
    taken.filter((one) => one.type === type).map(({ record }) => String(record.device))
  const linkOf = (device: string) =>
    taken.findLast(({ type, record }) => type === ethtoolLinkType && record.device === device)?.record
  return { double, start, status, taken, devicesOf, linkOf, isBlocked: () => isBlocked }
}

test('with more interfaces than an interval has time for, each has its turn', NEEDS, async (t) => {
  const slow: DoubleDevice = { ...VETH, faults: ['delay gstats 20'] }
  const names = Array.from({ length: 30 }, (_, index) => `eth${index}`)
  const { double, start, devicesOf, status } = host(t, names, PATIENT)
  double.play(Object.fromEntries(names.map((name) => [name, slow])))
  start()
  const counts = () => names.map((name) => devicesOf(ethtoolLinkType).filter((device) => device === name).length)
  await until('all are read twice', () => counts().every((count) => count >= 2))
  assert.ok(Math.max(...counts()) - Math.min(...counts()) <= 1, `${counts()}`)
  assert.ok(status.stats.overruns > 0, 'what was left out is counted')
})

test('a driver that hangs is stuck and loses its series, the others go on, and it comes back', NEEDS, async (t) => {
  const { double, start, status, taken, devicesOf, linkOf } = host(t, ['eth10', 'eth11'], { stuck_ms: 1000 })
  double.play({ eth10: MLX5, eth11: MLX5 })
  start()
  await until('both are read', () => linkOf('eth10')?.responsive === 1 && linkOf('eth11')?.responsive === 1)
  double.play({ eth10: { ...MLX5, faults: ['hang gstats'] }, eth11: MLX5 })
  const others = () => devicesOf(ethtoolPortType).filter((device) => device === 'eth11').length
  const before = others()
  await until('stuck', () => linkOf('eth10')?.responsive === 0)
  assert.ok(others() > before + 1, 'the other was read meanwhile')
  assert.deepEqual(
    status.stuck.map(({ device }) => device),
    ['eth10'],
  )
  assert.equal(status.state, 'reading')
  assert.equal(linkOf('eth10')?.detected, undefined)
  assert.ok(TestedSource.absences(taken, { device: 'eth10', priority: '3' }).includes(': gone'))
  const refused = taken.findLast(({ record }) => record.type === 'ethtool_port' && record.field === '')?.record
  assert.equal(refused?.code, 'failed')
  assert.equal(status.stats.errors, 1, 'counted once, not at every tick')
  double.play({ eth10: MLX5, eth11: MLX5 })
  await until('back', () => linkOf('eth10')?.responsive === 1)
  assert.equal(linkOf('eth10')?.detected, 1)
  assert.equal(status.stuck.length, 0)
})

test('where every driver hangs the source is stuck, and its host says that nothing else is left', NEEDS, async (t) => {
  const { double, start, status, isBlocked } = host(t, ['eth10'], { stuck_ms: 100 })
  double.play({ eth10: { ...MLX5, faults: ['hang glink'] } })
  start()
  await until('stuck', () => status.state === 'stuck')
  assert.match(status.reason, /calls of eth10 have not come back for 100 ms/)
  assert.ok(isBlocked())
})
