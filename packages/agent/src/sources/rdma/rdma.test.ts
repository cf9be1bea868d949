import assert from 'node:assert/strict'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { RecordOf, RecordType } from '@sonde/sdk'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { testSource } from '../conformance.ts'
import { mockClock, ratesOf } from '../test-clock.ts'
import { DENIES } from '../test-damage.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { parseCounter, parseRate, parseState, parseUevent } from './parse.ts'
import { rdma } from './rdma.ts'
import { rdmaDriverType, rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const MLX5_4 = 'sys/class/infiniband/mlx5_4/ports/1'

testSource(rdma, {
  tree: fixture('small'),
  options: { sweep_limit_ms: 1000 },
  nameless: /bnxt_re1.*hw_counters\/(?!lifespan)/,
  counter: {
    type: rdmaPortCountersType,
    field: 'xmit_packets_total',
    labels: { rdma_device: 'mlx5_4', port: '1' },
    write: (node, value) => node.write(`${MLX5_4}/counters/port_xmit_packets`, `${value}\n`),
  },
  series: {
    type: rdmaPortType,
    labels: { rdma_device: 'bnxt_re1', port: '1' },
    leave: (node) => node.remove('sys/class/infiniband/bnxt_re1'),
  },
})

const text = (value: string) => new TextEncoder().encode(value)
/** All records of a port, of every type of the source. */
type Port = RecordOf<typeof rdmaPortType> & Partial<RecordOf<typeof rdmaPortCountersType>>

function bringUp(t: TestContext, options: object = {}) {
  const node = new TestNode(t, fixture('node'))
  const tested = new TestedSource(rdma, node.paths, { sweep_limit_ms: 1000, ...options })
  t.after(() => tested.source.close())
  return { node, tested }
}

/** The values of a port in these records. Most tests have one device with one port. */
function portOf(records: readonly Port[], device: string, port = 1): Port {
  const found = records.find((record) => record.rdma_device === device && record.port === port)
  assert.ok(found, `${device} port ${port} is reported`)
  return found
}

async function samplePorts(tested: TestedSource): Promise<Port[]> {
  await tested.source.sample()
  const taken = tested.take()
  const of = (wanted: RecordType) => taken.filter(({ type }) => type === wanted).map(({ record }) => record)
  const counters = Map.groupBy(of(rdmaPortCountersType), ({ rdma_device, port }) => `${rdma_device}/${port}`)
  return of(rdmaPortType).map((port) => {
    const { time: _, ...found } = counters.get(`${port.rdma_device}/${port.port}`)?.[0] ?? {}
    return { ...port, ...found } as Port
  })
}

async function samplePort(tested: TestedSource, device: string, port = 1): Promise<Port> {
  return portOf(await samplePorts(tested), device, port)
}

const file = (device: string, path: string, port = 1) => `sys/class/infiniband/${device}/ports/${port}/${path}`

test('rate, state and uevent: lines of kernels are parsed, anything else is refused', () => {
  const rate = (value: string) => Object.values(parseRate(text(value)) ?? {})
  assert.deepEqual(rate('400 Gb/sec (4X NDR)\n'), [50_000_000_000, 4, 'NDR'])
  assert.deepEqual(rate('2.5 Gb/sec (1X SDR)\n'), [312_500_000, 1, 'SDR'])
  assert.deepEqual(rate('40 Gb/sec (4X FDR10)\n'), [5_000_000_000, 4, 'FDR10'])
  assert.deepEqual(rate('800 Gb/sec (8X)\n'), [100_000_000_000, 8, ''])
  for (const wrong of ['', '400', 'Gb/sec (4X NDR)', '-1 Gb/sec (4X NDR)', '400 Gb/sec (4X NDR) x']) {
    assert.equal(parseRate(text(wrong)), undefined, wrong)
  }
  assert.equal(parseState(text('4: ACTIVE\n')), 4)
  assert.equal(parseState(text('5: ACTIVE_DEFER')), 5)
  for (const wrong of ['', 'ACTIVE', '4', '-4: ACTIVE', '4: ACTIVE\n4: ACTIVE\n'])
    assert.equal(parseState(text(wrong)), undefined, wrong)
  assert.deepEqual(parseUevent(text('DRIVER=mlx5_core\nPCI_ID=15B3:1021\nPCI_SLOT_NAME=0000:1a:00.0\n')), {
    driver: 'mlx5_core',
    address: '0000:1a:00.0',
  })
  assert.equal(parseUevent(text('MAJOR=1\n')), undefined)
})

test('data counters count words of four bytes, exactly up to the end of u64', () => {
  assert.equal(parseCounter(text('3\n'), 4), 12)
  assert.equal(parseCounter(text('9007199254740993\n'), 4), 36028797018963972n)
  assert.equal(parseCounter(text('4611686018427387903\n'), 4), 18446744073709551612n)
  assert.equal(parseCounter(text('4611686018427387904\n'), 4), 'huge')
  assert.equal(parseCounter(text('N/A (no PMA)\n'), 4), 'not_available')
  assert.equal(parseCounter(text('-1\n'), 1), 'negative')
})

test('reports identity and link of each port', async (t) => {
  const { tested } = bringUp(t)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '8 ports' })
  const ports = await samplePorts(tested)
  const { time: _, turn_age_seconds, ...ndr } = portOf(ports, 'mlx5_0')
  assert.deepEqual(Object.fromEntries(Object.entries(ndr).filter(([name]) => !name.endsWith('_total'))), {
    rdma_device: 'mlx5_0',
    port: 1,
    link_layer: 'InfiniBand',
    netdevs: 'ib0',
    address: '0000:1a:00.0',
    driver: 'mlx5_core',
    firmware: '28.42.1000',
    model: 'MT4129',
    board: 'MT_0000000838',
    node_guid: 'a088:c203:0054:2f10',
    state: 4,
    phys_state: 5,
    rate_bytes_per_second: 50_000_000_000n,
    width_lanes: 4,
    signalling: 'NDR',
    saturated_counters: 2,
    saturated: 'link_downed excessive_buffer_overrun_errors',
  })
  assert.equal(turn_age_seconds, 0)
  assert.equal(ndr.xmit_data_bytes_total, 57641830211904n * 4n)
  assert.equal(portOf(ports, 'mlx5_3').netdevs, 'eth13 eth13.100', 'RoCE: by its GIDs')
  assert.deepEqual(
    [1, 2].map((port) => portOf(ports, 'mlx4_0', port).netdevs),
    ['ib8', 'ib9'],
    'by the number of the port',
  )
  assert.deepEqual(
    [1, 2].map((port) => portOf(ports, 'mlx4_0', port).state),
    [4, 1],
  )
  assert.equal(portOf(ports, 'rxe0').address, undefined)
  assert.deepEqual(tested.failures, [])
})

test('a counter at its maximum is reported, and named as stuck', async (t) => {
  const { node, tested } = bringUp(t)
  const ports = await samplePorts(tested)
  assert.equal(portOf(ports, 'mlx5_0').link_downed_total, 255n)
  assert.equal(portOf(ports, 'mlx5_0').excessive_buffer_overrun_errors_total, 15n)
  const old = portOf(ports, 'mlx4_0')
  assert.equal(old.saturated, 'port_xmit_data symbol_error')
  assert.equal(old.xmit_data_bytes_total, 0xffffffffn * 4n)
  node.write(file('mlx5_0', 'counters/link_downed'), '300\n')
  const wider = await samplePort(tested, 'mlx5_0')
  assert.deepEqual([wider.link_downed_total, wider.saturated_counters], [300n, 1], 'this one is wider, and not stuck')
  assert.deepEqual(tested.failures, [])
})

test('the counters of a function without performance counters are absent, and are read less and less often', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  const taken = tested.take()
  assert.ok(
    TestedSource.absences(taken, { rdma_device: 'mlx5_11', port: '1' }).includes('rcv_errors_total: unsupported'),
  )
  assert.deepEqual(tested.failures, [])
  for (let i = 0; i < 10; i++) await tested.source.sample()
  node.write(file('mlx5_11', 'counters/port_rcv_errors'), '4\n')
  let sweeps = 0
  while ((await samplePort(tested, 'mlx5_11')).rcv_errors_total !== 4n) assert.ok(++sweeps < 20, 'is read again')
  assert.ok(sweeps > 0, 'is skipped for some sweeps')
  node.write(file('mlx5_11', 'counters/port_rcv_errors'), '5\n')
  assert.equal((await samplePort(tested, 'mlx5_11')).rcv_errors_total, 5n, 'is read in every sweep again')
})

test('a file that the driver refuses is unsupported, and a file with a sign has failed', async (t) => {
  const { node, tested } = bringUp(t)
  node.link(file('mlx5_3', 'counters/port_rcv_errors'), '/sys/class/net/lo/speed')
  node.write(file('mlx5_3', 'counters/symbol_error'), '-1\n')
  node.write(file('mlx5_3', 'counters/port_xmit_data'), '4611686018427387904\n')
  await tested.source.sample()
  const absent = TestedSource.absences(tested.take(), { rdma_device: 'mlx5_3', port: '1' })
  for (const said of ['rcv_errors_total: unsupported', 'symbol_error_total: failed', 'xmit_data_bytes_total: failed']) {
    assert.ok(absent.includes(said), said)
  }
  const places = tested.failures.map(({ place }) => place.slice(place.lastIndexOf('/') + 1))
  assert.deepEqual([...new Set(places)].sort(), ['port_xmit_data', 'symbol_error'], 'a refusal is no failure')
})

test('counters of queues continue over a wrap of 32 bits; counters of congestion are passed on unchanged', async (t) => {
  const { node, tested } = bringUp(t)
  const path = file('mlx5_3', 'hw_counters/')
  node.write(`${path}lifespan`, '0\n')
  const both = async (value: number) => {
    node.write(`${path}rx_write_requests`, `${value}\n`)
    node.write(`${path}rp_cnp_handled`, `${value}\n`)
    await tested.source.sample()
    const taken = tested.take().filter(({ record }) => record.rdma_device === 'mlx5_3')
    const of = (wanted: RecordType) => taken.find(({ type }) => type === wanted)?.record
    return [of(rdmaHwType)?.rx_write_requests_total, of(rdmaHwFirstType)?.rp_cnp_handled_total]
  }
  assert.deepEqual(await both(4_294_967_295), [4_294_967_295n, 4_294_967_295n])
  assert.deepEqual(await both(10), [4_294_967_306n, 10n])
  assert.deepEqual(await both(3), [3n, 3n], 'the driver was loaded again')
  assert.deepEqual(await both(3_000_000_000), [3_000_000_000n, 3_000_000_000n])
  assert.deepEqual(await both(5), [5n, 5n], 'a restart, because the last value was far from the end of 32 bits')
  assert.deepEqual(await both(2 ** 32 + 3), [4_294_967_299n, 4_294_967_299n], 'a jump by 2^32 is a value of the driver')
})

test('counters outside of the names of mlx5 are series of their own, also those of a whole device', async (t) => {
  const { tested } = bringUp(t)
  await tested.source.sample()
  const taken = tested.take()
  const names = (type: RecordType) =>
    taken
      .filter((one) => one.type === type)
      .map(({ record }) => `${record.rdma_device}/${record.port} ${record.counter ?? ''}`)
  assert.deepEqual(names(rdmaDriverType).sort(), [
    ...['active_qps', 'rx_bytes', 'rx_pkts', 'rx_roce_discards', 'seq_err_naks_rcvd', 'tx_bytes', 'tx_pkts'].map(
      (name) => `bnxt_re0/1 ${name}`,
    ),
    ...['ip4InOctets', 'iwRdmaWrites', 'tcpRetransSegs'].map((name) => `irdma0/0 ${name}`),
    ...['out_of_seq_request', 'rcvd_pkts', 'sent_pkts'].map((name) => `rxe0/1 ${name}`),
  ])
  assert.deepEqual(names(rdmaHwType).sort(), ['mlx5_0/1 ', 'mlx5_11/1 ', 'mlx5_3/1 ', 'rxe0/1 '])
  assert.deepEqual(
    TestedSource.absences(taken, { rdma_device: 'mlx5_0', port: '0' }),
    [],
    'most devices have none as a whole',
  )
})

test('a driver with very many counters of its own adds 64 for each port, and the others are counted as dropped', async (t) => {
  const { node, tested } = bringUp(t)
  for (let i = 100; i < 200; i++) node.write(file('bnxt_re0', `hw_counters/x${i}`), '1\n')
  const records = await tested.sampleOf(rdmaDriverType)
  assert.equal(records.filter(({ rdma_device }) => rdma_device === 'bnxt_re0').length, 64)
  assert.deepEqual([...tested.dropped], [['driver_counter_limit', 43]])
})

test('within the lifespan of hardware counters nothing is read and reported again', async (t) => {
  const { node, tested } = bringUp(t, { devices: ['mlx5_3'] })
  node.write(file('mlx5_3', 'hw_counters/lifespan'), '10000\n')
  const [first] = await tested.sampleOf(rdmaHwType)
  assert.equal(first?.lifespan_seconds, 10)
  node.write(file('mlx5_3', 'hw_counters/packet_seq_err'), '99\n')
  await tested.source.sample()
  assert.deepEqual(
    tested.take().map(({ type }) => type.name),
    ['rdma_port', 'rdma_port_counters'],
  )
  node.write(file('mlx5_3', 'hw_counters/lifespan'), '0\n')
  await tested.source.sample()
  await tested.source.sample()
  const last = tested.take().findLast(({ type }) => type === rdmaHwFirstType)
  assert.equal(last?.record.packet_seq_err_total, 99n)
})

test('a driver that is loaded again starts again, with its new counters', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  const device = 'sys/class/infiniband/mlx5_3'
  const texts = node
    .files()
    .filter((path) => path.startsWith(device))
    .map((path) => [path, node.read(path)] as const)
  node.remove(device)
  for (const [path, content] of texts) if (!path.endsWith('np_cnp_sent')) node.write(path, content)
  node.write(file('mlx5_3', 'counters/port_xmit_packets'), '1\n')
  node.write(file('mlx5_3', 'hw_counters/rx_write_requests'), '2\n')
  node.write(file('mlx5_3', 'hw_counters/lifespan'), '0\n')
  await tested.source.sample()
  const taken = tested.take()
  const of = (type: RecordType) => taken.find((one) => one.type === type && one.record.rdma_device === 'mlx5_3')?.record
  assert.equal(of(rdmaPortCountersType)?.xmit_packets_total, 1n)
  await tested.source.sample()
  const again = tested.take()
  const hw = again.findLast(({ type, record }) => type === rdmaHwType && record.rdma_device === 'mlx5_3')?.record
  assert.equal(hw?.rx_write_requests_total, 2n, 'no wrap is made of a restart')
  const absent = TestedSource.absences([...taken, ...again], { rdma_device: 'mlx5_3', port: '1' })
  assert.ok(absent.includes('np_cnp_sent_total: unsupported'))
})

test('a renamed device is gone under its old name, and its counters continue under the new name', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  const place = (name: string) => `${node.root}/sys/class/infiniband/${name}`
  fs.renameSync(place('mlx5_3'), place('roce_rail3'))
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { rdma_device: 'mlx5_3', port: '1' }), Array(4).fill(': gone'))
  const renamed = taken.find(({ type, record }) => type === rdmaPortCountersType && record.rdma_device === 'roce_rail3')
  assert.equal(renamed?.record.xmit_packets_total, 38812345678n)
})

test('two devices that swap their names are distinguished, although descriptors are kept', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  const place = (name: string) => `${node.root}/sys/class/infiniband/${name}`
  fs.renameSync(place('mlx5_3'), place('swapping'))
  fs.renameSync(place('mlx5_0'), place('mlx5_3'))
  fs.renameSync(place('swapping'), place('mlx5_0'))
  let swapped: Port[] = []
  for (let i = 0; i < 8; i++) swapped = await samplePorts(tested)
  assert.equal(portOf(swapped, 'mlx5_0').address, '0000:4b:00.0')
  assert.equal(portOf(swapped, 'mlx5_0').xmit_packets_total, 38812345678n)
  assert.equal(portOf(swapped, 'mlx5_3').xmit_packets_total, 80212345678n)
})

test('a port that disappears from its device is gone, and the others stay', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  node.remove('sys/class/infiniband/mlx4_0/ports/2')
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { rdma_device: 'mlx4_0', port: '2' }).slice(-2), [': gone', ': gone'])
  assert.ok(
    taken.some(({ type, record }) => type === rdmaPortType && record.rdma_device === 'mlx4_0' && record.port === 1),
  )
  assert.deepEqual(tested.failures, [])
})

test('a device that leaves in the middle of a sweep takes no other with it', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  const read = fs.readSync
  let reads = 0
  t.mock.method(fs, 'readSync', (...given: Parameters<typeof fs.readSync>) => {
    if (++reads === 12) node.remove('sys/class/infiniband/mlx5_3')
    return read(...given)
  })
  await tested.source.sample()
  t.mock.restoreAll()
  await tested.source.sample()
  const taken = tested.take()
  assert.ok(TestedSource.absences(taken, { rdma_device: 'mlx5_3', port: '1' }).includes(': gone'))
  assert.equal(taken.filter(({ type }) => type === rdmaPortType).length, 14)
  assert.deepEqual(tested.failures, [])
})

test('if time is short, each sweep reads traffic and state of every port, and the rest in turns', async (t) => {
  const { node, tested } = bringUp(t, { sweep_limit_ms: 0 })
  for (let i = 0; i < 8; i++) await tested.source.sample()
  tested.take()
  for (const device of ['mlx5_0', 'mlx5_3']) {
    node.write(file(device, 'counters/port_xmit_data'), '1\n')
    node.write(file(device, 'counters/port_rcv_errors'), '1\n')
    node.write(file(device, 'state'), '1: DOWN\n')
  }
  const ports = await samplePorts(tested)
  for (const device of ['mlx5_0', 'mlx5_3']) {
    const { xmit_data_bytes_total, state } = portOf(ports, device)
    assert.deepEqual([xmit_data_bytes_total, state], [4n, 1])
  }
  const turned = ports.filter((port) => 'rcv_errors_total' in port)
  assert.ok(turned.length <= 1, 'one port has its turn, and what was not read is not reported')
  assert.ok(
    ports.some(({ turn_age_seconds }) => turn_age_seconds > 0),
    'the others say how long ago theirs was',
  )
  const errors = new Map<string, unknown>()
  for (let i = 0; i < 8; i++)
    for (const port of await samplePorts(tested))
      if ('rcv_errors_total' in port) errors.set(`${port.rdma_device}/${port.port}`, port.rcv_errors_total)
  assert.deepEqual([errors.get('mlx5_0/1'), errors.get('mlx5_3/1')], [1n, 1n])
})

test('with more than 80 ports, each sweep reads the traffic of every port, and every second sweep its state and first counters', async (t) => {
  const { node, tested } = bringUp(t, { devices: ['mlx5_1??'] })
  const devices = Array.from({ length: 90 }, (_, index) => `mlx5_${100 + index}`)
  const write = (device: string, state: string, value: string) => {
    node.write(file(device, 'state'), state)
    for (const name of ['counters/port_xmit_data', 'hw_counters/packet_seq_err']) node.write(file(device, name), value)
  }
  for (const device of devices) write(device, '4: ACTIVE\n', '0\n')
  for (let i = 0; i < 2; i++) await tested.source.sample()
  tested.take()
  for (const device of devices) write(device, '1: DOWN\n', '1\n')
  const sweeps = []
  for (let i = 0; i < 2; i++) {
    await tested.source.sample()
    const taken = tested.take()
    const of = (wanted: RecordType) => taken.filter(({ type }) => type === wanted).map(({ record }) => record)
    sweeps.push({ ports: of(rdmaPortType), first: of(rdmaHwFirstType) })
  }
  for (const { ports, first } of sweeps) {
    assert.deepEqual([ports.length, first.length], [90, 45])
    assert.ok(ports.every(({ xmit_data_bytes_total: bytes }) => Number(bytes) === 4))
  }
  assert.deepEqual(
    sweeps.map(({ ports }) => ports.filter(({ state }) => state === 1).length),
    [45, 90],
  )
  assert.equal(new Set(sweeps.flatMap(({ first }) => first.map(({ rdma_device }) => rdma_device))).size, 90)
})

test('a counter shows its true rate in any order of turns', async (t) => {
  const random = new Random(SEED)
  const clock = mockClock(t)
  const { node, tested } = bringUp(t, { devices: ['mlx5_*'], sweep_limit_ms: 3 })
  const ports = ['mlx5_0', 'mlx5_3']
  for (const device of ports) node.write(file(device, 'hw_counters/lifespan'), '0\n')
  // Each read takes up to half a millisecond, and the duration varies, so the order of turns varies too.
  let readMs = 0
  const read = fs.readSync
  t.mock.method(fs, 'readSync', (...given: Parameters<typeof fs.readSync>) => {
    clock.advance(random.next() * readMs)
    return read(...given)
  })
  const startMs = clock.nowMs
  const samples = new Map<string, { times: number[]; numbers: number[] }>()
  for (let sweep = 0; sweep < 120; sweep++) {
    clock.advance(1000 - ((clock.nowMs - startMs) % 1000))
    const elapsedS = (clock.nowMs - startMs) / 1000
    for (const device of ports) {
      node.write(file(device, 'counters/port_xmit_packets'), `${Math.floor(1e6 * elapsedS)}\n`)
      node.write(file(device, 'hw_counters/local_ack_timeout_err'), `${Math.floor(60 * elapsedS)}\n`)
    }
    readMs = random.next() ** 2 / 2
    await tested.source.sample()
    for (const { record } of tested.take()) {
      for (const field of ['xmit_packets_total', 'local_ack_timeout_err_total']) {
        if (record[field] === undefined || !ports.includes(String(record.rdma_device))) continue
        const key = `${record.rdma_device} ${field}`
        const { times, numbers } = samples.get(key) ?? { times: [], numbers: [] }
        samples.set(key, { times: [...times, Number(record.time) / 1e6], numbers: [...numbers, Number(record[field])] })
      }
    }
  }
  assert.equal(samples.size, 4)
  for (const [key, { times, numbers }] of samples) {
    assert.ok(times.length > 10 && times.length < 120, `${key} has turns: ${times.length} of 120`)
    const values = ratesOf(times, numbers)
    const rate = key.includes('packets') ? 1e6 : 60
    // A sweep takes less than 50 ms, and a count is rounded down.
    for (const value of values) assert.ok(Math.abs(value - rate) <= rate * 0.05 + 1, `${key} shows ${value}/s`)
  }
})

test('reports the missing or denied path on a node without RDMA', async (t) => {
  const { node, tested } = bringUp(t, { devices: ['mlx9_*'] })
  const none = await tested.source.probe()
  assert.equal(none.state, 'absent')
  assert.match(none.state === 'absent' ? none.reason : '', /no device of .*, which lists 7, is wanted/)
  const denied = '/sys/bus/cpu/drivers_probe'
  const all = new TestedSource(rdma, node.paths)
  if (fs.existsSync(denied)) {
    for (const path of node.files().filter((each) => each.endsWith('/state'))) node.link(path, denied)
    assert.equal((await all.source.probe()).state, 'denied')
  }
  node.remove('sys/class/infiniband')
  const missing = await all.source.probe()
  assert.match(missing.state === 'absent' ? missing.reason : '', /class\/infiniband is not there$/)
})

test('a port whose state may not be read is still found, and its counters are read', {
  skip: !fs.existsSync(DENIES),
}, async (t) => {
  const { node, tested } = bringUp(t)
  const found = await tested.source.probe()
  node.link(file('mlx5_0', 'state'), DENIES)
  assert.deepEqual(await tested.source.probe(), found)
})
