import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { absenceType, seriesKey } from '@sonde/sdk/internal'
import { testSource } from '../conformance.ts'
import { Missing } from '../field-absences.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { netdev } from './netdev.ts'
import { parseNetdev, parseSpeed } from './parse.ts'
import { netdevCarrierType, netdevType } from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const VETH = fixture('veth-namespace')
const text = (value: string) => new TextEncoder().encode(value)

function bringUp(t: import('node:test').TestContext, tree = VETH, options: object = {}) {
  const node = new TestNode(t, tree)
  const tested = new TestedSource(netdev, node.paths, options)
  t.after(() => tested.source.close())
  return { node, tested }
}

/** The line of an interface with the same number in each column. */
const line = (device: string, value = 0) => `${device}: ${new Array(16).fill(value).join(' ')}\n`
const HEAD = 'Inter-|   Receive |  Transmit\n face |bytes |bytes\n'

testSource(netdev, {
  tree: VETH,
  file: 'proc/net/dev',
  counter: {
    type: netdevType,
    field: 'rx_bytes_total',
    labels: { device: 'br0' },
    write: (node, value) => node.write('proc/net/dev', node.read('proc/net/dev').replace(/(br0: +)\d+/, `$1${value}`)),
  },
  series: {
    type: netdevType,
    labels: { device: 'p0' },
    leave: (node) => node.write('proc/net/dev', node.read('proc/net/dev').replace(/^ +p0:.*\n/m, '')),
  },
})

test('reads alias lines, numbers up to 2^64 - 1 exactly, and odd names', () => {
  const { records, malformed } = parseNetdev(fs.readFileSync(fixture('net-dev-edges.txt')), 1n)
  assert.equal(malformed, undefined)
  assert.deepEqual(
    records.map(({ device }) => device),
    ['lo', 'eth0:1', 'pipe|x', 'größe0', 'wide15characters_and_more'],
  )
  const [lo, alias, pipe] = records
  assert.deepEqual(Object.values(lo ?? {}).slice(2, 18), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
  assert.equal(alias?.rx_bytes_total, 4294967295)
  assert.equal(pipe?.rx_bytes_total, 9007199254740992)
  assert.equal(pipe?.rx_packets_total, 9007199254740993n)
  assert.equal(pipe?.rx_errors_total, 18446744073709551615n)
  assert.equal(pipe?.tx_bytes_total, 7)
})

test('leaves malformed lines out, says which came first, and keeps the good ones', () => {
  const { records, malformed } = parseNetdev(fs.readFileSync(fixture('net-dev-malformed.txt')), 1n)
  assert.deepEqual(
    records.map(({ device }) => device),
    ['good0'],
  )
  assert.equal(malformed, 'short0: 1 2 3')
})

test('a speed that the driver does not know is a lack, also as a u32', () => {
  assert.equal(parseSpeed(text('400000\n')), 50_000_000_000)
  for (const unknown of ['-1\n', '0\n', '65535\n', '4294967295\n', '4294967296\n'])
    assert.ok(parseSpeed(text(unknown)) instanceof Missing, unknown)
  for (const wrong of ['', 'N/A\n', '10 20\n']) assert.equal(parseSpeed(text(wrong)), undefined, wrong)
})

test('reports every interface of the captured namespace with its attributes', async (t) => {
  const { tested } = bringUp(t)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '8 interfaces' })
  const records = await tested.sampleOf(netdevType)
  assert.equal(records.length, 8)
  const eth0 = records.find(({ device }) => device === 'eth0')
  assert.ok(eth0)
  const { time, ...values } = eth0
  assert.ok(typeof time === 'bigint' && time > 0n)
  assert.deepEqual(values, {
    device: 'eth0',
    rx_bytes_total: 266n,
    rx_packets_total: 3n,
    rx_errors_total: 0n,
    rx_dropped_total: 0n,
    rx_fifo_errors_total: 0n,
    rx_frame_errors_total: 0n,
    rx_compressed_packets_total: 0n,
    rx_multicast_packets_total: 0n,
    tx_bytes_total: 600n,
    tx_packets_total: 8n,
    tx_errors_total: 0n,
    tx_dropped_total: 0n,
    tx_fifo_errors_total: 0n,
    tx_collisions_total: 0n,
    tx_carrier_errors_total: 0n,
    tx_compressed_packets_total: 0n,
    up: 1,
    carrier: 1,
    speed_bytes_per_second: 1_250_000_000n,
    mtu_bytes: 1500,
  })
  const up = Object.fromEntries(records.map((record) => [record.device, record.up]))
  assert.deepEqual(up, { lo: 1, ens3f0np0_long1: 1, eth0: 1, br0: 1, p0: 0, größe0: 0, off0: 0, off1: 0 })
  assert.equal(records.find(({ device }) => device === 'größe0')?.mtu_bytes, 9000)
  assert.deepEqual(tested.failures, [])
})

test('a speed of -1, and one that the kernel refuses, is absent as unsupported and no failure', async (t) => {
  const { node, tested } = bringUp(t, fixture('virtio-guest'))
  // The running kernel's loopback always answers EINVAL here.
  node.link('sys/class/net/lo/speed', '/sys/class/net/lo/speed')
  await tested.source.sample()
  const taken = tested.take()
  for (const { type, record } of taken) assert.ok(type !== netdevType || record.speed_bytes_per_second === undefined)
  assert.deepEqual(TestedSource.absences(taken, { device: 'eth0' }), ['speed_bytes_per_second: unsupported'])
  assert.deepEqual(TestedSource.absences(taken, { device: 'lo' }), ['speed_bytes_per_second: unsupported'])
  const refused = taken.filter(
    ({ type, record }) => type === absenceType && record.series === seriesKey({ device: 'lo' }),
  )
  assert.deepEqual(
    refused.map(({ record }) => record.reason),
    ['the driver has no speed to tell while the link is down or for a virtual device'],
  )
  assert.deepEqual(TestedSource.absences(taken, { device: 'ifb0' }), [
    'carrier: unsupported',
    'speed_bytes_per_second: unsupported',
  ])
  assert.deepEqual(tested.failures, [])
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { device: 'eth0' }), [], 'said once')
})

test('an attribute that may not be read is absent as denied', async (t) => {
  const { node, tested } = bringUp(t)
  // Write-only for root too: sysfs refuses to open an attribute that has nothing to show.
  node.link('sys/class/net/eth0/mtu', '/sys/bus/cpu/drivers_probe')
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { device: 'eth0' }), ['mtu_bytes: denied'])
  assert.deepEqual(tested.failures, [])
})

test('an attribute that is no number is absent as failed, and counted', async (t) => {
  const { node, tested } = bringUp(t, VETH, { devices: ['eth0'] })
  node.write('sys/class/net/eth0/mtu', '99999999999\n')
  node.write('sys/class/net/eth0/carrier_changes', 'many\n')
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { device: 'eth0' }), [
    'carrier_changes_total: failed',
    'mtu_bytes: failed',
  ])
  assert.deepEqual(
    tested.failures.map(({ place }) => place),
    ['carrier_changes', 'mtu'].map((name) => `${node.paths.sysfs}/class/net/eth0/${name}`),
  )
  node.write('sys/class/net/eth0/mtu', '1500\n')
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { device: 'eth0' }), ['mtu_bytes: '], 'said to be back')
})

test('a link that goes down takes its speed along, and brings it back', async (t) => {
  const { node, tested } = bringUp(t)
  const eth0 = async () => {
    await tested.source.sample()
    const records = tested.take().flatMap(({ record }) => (record.device === 'eth0' ? [record] : []))
    return Object.assign({}, ...records)
  }
  assert.equal((await eth0()).up, 1)
  node.write('sys/class/net/eth0/operstate', 'down\n')
  node.write('sys/class/net/eth0/carrier', '0\n')
  node.write('sys/class/net/eth0/carrier_changes', '3\n')
  node.write('sys/class/net/eth0/speed', '-1\n')
  const down = await eth0()
  assert.deepEqual(
    [down.up, down.carrier, down.speed_bytes_per_second, down.carrier_changes_total],
    [0, 0, undefined, 3n],
  )
  node.write('sys/class/net/eth0/operstate', 'up\n')
  node.write('sys/class/net/eth0/carrier', '1\n')
  node.write('sys/class/net/eth0/speed', '100000\n')
  const up = await eth0()
  assert.deepEqual([up.up, up.carrier, up.speed_bytes_per_second], [1, 1, 12_500_000_000n])
})

test('an interface that vanishes is said to be gone, and comes back', async (t) => {
  const { node, tested } = bringUp(t)
  const table = node.read('proc/net/dev')
  assert.equal((await tested.sampleOf(netdevType)).length, 8)
  node.write('proc/net/dev', table.replace(/^ *eth0:.*\n/m, ''))
  await tested.source.sample()
  const taken = tested.take()
  assert.equal(taken.filter(({ type }) => type === netdevType).length, 7)
  assert.deepEqual(TestedSource.absences(taken, { device: 'eth0' }), [': gone', ': gone'])
  node.write('proc/net/dev', table)
  const records = await tested.sampleOf(netdevType)
  assert.equal(records.find(({ device }) => device === 'eth0')?.mtu_bytes, 1500)
})

test('a rename is one interface gone and another there', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.sampleOf(netdevType)
  node.write('proc/net/dev', node.read('proc/net/dev').replace('  eth0:', '  net7:'))
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { device: 'eth0' }), [': gone', ': gone'])
  const net7 = taken.find(({ record }) => record.device === 'net7')
  assert.equal(net7?.record.tx_bytes_total, 600n)
  assert.equal(net7?.record.mtu_bytes, undefined, 'its folder in sysfs is not there')
})

test('two interfaces that swap their names swap their attributes', async (t) => {
  const { node, tested } = bringUp(t, VETH, { devices: ['eth0', 'br0'] })
  node.write('sys/class/net/br0/mtu', '4242\n')
  await tested.sampleOf(netdevType)
  const net = `${node.paths.sysfs}/class/net`
  fs.renameSync(`${net}/eth0`, `${net}/swap`)
  fs.renameSync(`${net}/br0`, `${net}/eth0`)
  fs.renameSync(`${net}/swap`, `${net}/br0`)
  await tested.sampleOf(netdevType)
  const mtu = (await tested.sampleOf(netdevType)).map((record) => `${record.device} ${record.mtu_bytes}`)
  assert.deepEqual(mtu, ['eth0 4242', 'br0 1500'])
})

test('reads only the devices that the patterns name', async (t) => {
  const devices = async (patterns: string[]) => {
    const { tested } = bringUp(t, VETH, { devices: patterns })
    return (await tested.sampleOf(netdevType)).map(({ device }) => device).sort()
  }
  assert.deepEqual(await devices(['e*']), ['ens3f0np0_long1', 'eth0'])
  assert.deepEqual(await devices(['off?', 'lo', '!off1']), ['lo', 'off0'])
  assert.deepEqual(await devices(['!*0*']), ['lo', 'off1'])
  assert.deepEqual(await devices(['br.']), [])
})

test('says what it does not find', async (t) => {
  const { node, tested } = bringUp(t, VETH, { devices: ['ib*'] })
  const none = await tested.source.probe()
  assert.equal(none.state, 'absent')
  node.remove('proc/net')
  assert.equal((await tested.source.probe()).state, 'absent')
  await assert.rejects(tested.source.sample(), { code: 'SRC_READ' })
  node.link('proc/net/dev', '/sys/bus/cpu/drivers_probe')
  assert.equal((await tested.source.probe()).state, 'denied')
})

test('carries 1000 interfaces, each with its attributes after twenty sweeps, and keeps its descriptors bounded', async (t) => {
  const { node, tested } = bringUp(t)
  let table = HEAD
  for (let i = 0; i < 1000; i++) {
    table += line(`veth${i}`, i)
    node.write(`sys/class/net/veth${i}/mtu`, `${1500 + i}\n`)
  }
  node.write('proc/net/dev', table)
  for (let i = 0; i < 19; i++) await tested.sampleOf(netdevType)
  const records = await tested.sampleOf(netdevType)
  assert.equal(records.length, 1000)
  for (const [i, record] of records.entries()) {
    assert.equal(record.rx_bytes_total, BigInt(i))
    assert.equal(record.mtu_bytes, 1500 + i)
  }
})

test('with more interfaces than one sweep reads, changes of carriers are reported of those that were read, and of each in its turn', async (t) => {
  const { node, tested } = bringUp(t)
  const names = Array.from({ length: 120 }, (_, index) => `veth${index}`)
  node.write('proc/net/dev', HEAD + names.map((name) => line(name)).join(''))
  const seen = new Set<unknown>()
  for (let sweep = 1; sweep <= 8; sweep++) {
    for (const name of names) node.write(`sys/class/net/${name}/carrier_changes`, `${sweep}\n`)
    await tested.source.sample()
    const taken = tested.take()
    const read = taken.filter(({ type }) => type === netdevCarrierType).map(({ record }) => record)
    assert.equal(taken.filter(({ type }) => type === netdevType).length, 120)
    assert.ok(read.length === 50 || read.length === 51, `${read.length} were read`)
    for (const { device, carrier_changes_total: changes } of read) {
      assert.equal(changes, BigInt(sweep), `${device} tells what it had before`)
      seen.add(device)
    }
  }
  assert.equal(seen.size, 120)
})

test('a turn over very many interfaces lasts half a minute at most, however far apart sweeps are', async (t) => {
  const { node } = bringUp(t)
  const tested = new TestedSource(netdev, node.paths, {}, 10_000)
  t.after(() => tested.source.close())
  const names = Array.from({ length: 400 }, (_, index) => `veth${index}`)
  node.write('proc/net/dev', HEAD + names.map((name) => line(name)).join(''))
  const seen = new Set<unknown>()
  for (let sweep = 0; sweep < 3; sweep++)
    for (const { device } of await tested.sampleOf(netdevCarrierType)) seen.add(device)
  assert.equal(seen.size, 400)
})

test('an interface that is listed twice is reported once', async (t) => {
  const { node, tested } = bringUp(t)
  node.write('proc/net/dev', HEAD + line('eth0', 1) + line('eth0', 2))
  const records = await tested.sampleOf(netdevType)
  assert.deepEqual(
    records.map(({ rx_bytes_total }) => rx_bytes_total),
    [1n],
  )
  assert.match(tested.failures[0]?.message ?? '', /left out a second line of "eth0"/)
})

test('names with quotes, backslashes, blanks beyond ASCII and bytes that are not UTF-8 are read with their attributes', async (t) => {
  const { node, tested } = bringUp(t)
  const names = ['a"b', 'a\\b', "a'{}=,#", 'a\u2003b', '\x01\x7f', '\ufffd'].map((name) => Buffer.from(name))
  names.push(Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xfe]), Buffer.from([0xc3, 0xb6, 0xc3]))
  const table = names.map((name) => Buffer.concat([name, Buffer.from(line('', 7))]))
  fs.writeFileSync(`${node.root}/proc/net/dev`, Buffer.concat([Buffer.from(HEAD), ...table]))
  for (const [i, name] of names.entries()) {
    const folder = Buffer.concat([Buffer.from(`${node.root}/sys/class/net/`), name])
    fs.mkdirSync(folder)
    fs.writeFileSync(Buffer.concat([folder, Buffer.from('/mtu')]), `${1500 + i}\n`)
  }
  const records = await tested.sampleOf(netdevType)
  assert.deepEqual(
    records.map(({ device, mtu_bytes }) => [device, mtu_bytes]),
    [
      ['a"b', 1500],
      ['a\\b', 1501],
      ["a'{}=,#", 1502],
      ['a\u2003b', 1503],
      ['\x01\x7f', 1504],
      ['\ufffd', 1505],
      ['a\\xff', 1506],
      ['a\\xfe', 1507],
      ['\\xc3\\xb6\\xc3', 1508],
    ],
  )
  assert.deepEqual(tested.failures, [])
})

test('reads this machine', { skip: !fs.existsSync('/proc/net/dev') }, async (t) => {
  const tested = new TestedSource(netdev, { procfs: '/proc', sysfs: '/sys' })
  t.after(() => tested.source.close())
  const records = await tested.sampleOf(netdevType)
  assert.ok(records.some(({ device, mtu_bytes }) => device === 'lo' && (mtu_bytes ?? 0) > 0))
})
