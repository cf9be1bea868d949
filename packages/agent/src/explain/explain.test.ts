import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstBroken } from '../sources/chains/chain.ts'
import { ReadRefusal } from '../sources/chains/chain-context.ts'
import { host } from '../sources/host/host.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import { rdma } from '../sources/rdma/rdma.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import type { TestNode } from '../sources/test-node.ts'
import type { AgentFacts } from './agent-facts.ts'
import {
  ADAPTER,
  ask,
  brokenLinkFor,
  DEFINITIONS,
  deviceFacts,
  PORT_FOLDER,
  removeRdma,
  testConfig,
  testNode,
} from './test-chains.ts'

test('a sound node has whole chains, in the order from configuration to traffic', async (t) => {
  const node = testNode(t)
  for (const name of ['mlx5_3', 'nic-mlx5_3-1']) {
    const [rdmaChain] = await ask(node, name)
    assert.equal(rdmaChain?.source, 'rdma')
    assert.equal(rdmaChain?.device, 'mlx5_3/1')
    assert.deepEqual(
      rdmaChain?.links.map(({ name: link, state }) => `${link} ${state}`),
      [
        'configuration ok',
        'file ok',
        'driver ok',
        'permission ok',
        'counters ok',
        'cost ok',
        'link ok',
        'traffic ok',
        'agent unknown',
      ],
    )
    assert.equal(rdmaChain?.links.find(({ name }) => name === 'driver')?.answer, 'mlx5_core')
    assert.equal(rdmaChain?.links.find(({ name }) => name === 'traffic')?.answer, '8.00 kB received, 4.00 kB sent')
  }
})

test('an interface is asked for by name or id, and every source that reads it answers', async (t) => {
  const node = testNode(t)
  assert.deepEqual(
    (await ask(node, 'eth3')).map(({ source }) => source),
    ['netdev', 'rdma'],
  )
  assert.deepEqual(
    (await ask(node, 'net-eth3')).map(({ source }) => source),
    ['netdev'],
  )
  assert.deepEqual(
    (await ask(node, '9a:00.0')).map(({ source, device }) => `${source} ${device}`),
    ['pci 0000:9a:00.0'],
  )
})

test('without a name every source is explained, broken sources first', async (t) => {
  const node = testNode(t)
  removeRdma(node)
  const chains = await ask(node, '')
  assert.equal(chains[0]?.source, 'rdma')
  assert.deepEqual(chains.map(({ source }) => source).sort(), ['host', 'netdev', 'pci', 'rdma'])
})

test('a missing root is the broken link, not the file below it', async (t) => {
  const node = testNode(t)
  node.remove('sys')
  const link = await brokenLinkFor(node, 'rdma')
  assert.equal(link.name, 'file')
  assert.equal(link.tried, node.paths.sysfs)
  assert.match(link.fix ?? '', /--path\.sysfs/)
  assert.equal((await brokenLinkFor(node, 'netdev')).tried, node.paths.sysfs)
})

test('without RDMA devices it names the module that is missing', async (t) => {
  const node = testNode(t)
  removeRdma(node)
  assert.equal((await brokenLinkFor(node, 'rdma')).fix, 'sudo modprobe mlx5_ib')
  node.unlink(`${ADAPTER}/driver`)
  assert.equal((await brokenLinkFor(node, 'rdma')).fix, 'sudo modprobe mlx5_core mlx5_ib')
  assert.equal((await brokenLinkFor(node, '0000:9a:00.0')).fix, 'sudo modprobe mlx5_core')
  node.write(`${ADAPTER}/vendor`, '0x8086\n')
  assert.match((await brokenLinkFor(node, 'rdma')).answer, /no module of RDMA is loaded/)
  node.write('sys/module/ib_core/refcnt', '1\n')
  assert.match((await brokenLinkFor(node, 'rdma')).answer, /ib_core is loaded/)
})

test('a port that is down says whether it is switched off, unplugged, or without a subnet manager', async (t) => {
  const node = testNode(t)
  node.write(`${PORT_FOLDER}/state`, '1: DOWN\n')
  node.write(`${PORT_FOLDER}/phys_state`, '3: Disabled\n')
  assert.equal((await brokenLinkFor(node, 'mlx5_3')).fix, 'sudo ip link set eth3 up')
  node.write(`${PORT_FOLDER}/phys_state`, '2: Polling\n')
  const link = await brokenLinkFor(node, 'mlx5_3')
  assert.deepEqual([link.name, link.answer], ['link', '1: DOWN, 2: Polling'])
  assert.match(link.fix ?? '', /cable/)
  node.write(`${PORT_FOLDER}/state`, '2: INIT\n')
  node.write(`${PORT_FOLDER}/link_layer`, 'InfiniBand\n')
  assert.match((await brokenLinkFor(node, 'mlx5_3')).fix ?? '', /opensm/)
})

test('a file that is not permitted names the permission that fixes it', async (t) => {
  const refused = { port_xmit_data: new ReadRefusal('denied', 'EACCES') }
  const link = await brokenLinkFor(testNode(t), 'mlx5_3', { refused })
  assert.equal(link.name, 'permission')
  assert.match(link.fix ?? '', /^sudo chmod a\+r .*counters\/port_xmit_data/)
})

test('counters that the driver refuses, or has no numbers for, are not supported', async (t) => {
  const node = testNode(t)
  const refused = { port_xmit_data: new ReadRefusal('unsupported', 'EINVAL') }
  assert.equal((await brokenLinkFor(node, 'mlx5_3', { refused })).name, 'counters')
  node.write(`${PORT_FOLDER}/counters/port_xmit_data`, 'N/A (no PMA)\n')
  const link = await brokenLinkFor(node, 'mlx5_3')
  assert.deepEqual([link.name, link.answer], ['counters', 'N/A (no PMA)'])
})

test('a driver that does not answer is a broken link, not a walk without end', async (t) => {
  const refused = { port_xmit_data: new ReadRefusal('failed', 'late') }
  const link = await brokenLinkFor(testNode(t), 'mlx5_3', { refused })
  assert.equal(link.answer, 'no answer within 2 s')
})

test('an optional counter says how to turn it on, and a counter that the driver does not have says so', async (t) => {
  const node = testNode(t)
  const [sound] = await ask(node, 'rdma_hw_packet_seq_err_total')
  assert.equal(sound?.links.find(({ name }) => name === 'counters')?.answer, '7')
  const optional = await brokenLinkFor(node, 'rdma_hw_cc_rx_ce_pkts_total')
  assert.equal(optional.fix, 'sudo rdma statistic set link mlx5_3/1 optional-counters cc_rx_ce_pkts')
  assert.match((await brokenLinkFor(node, 'rdma_hw_rp_cnp_handled_total')).fix ?? '', /update driver and firmware/)
  assert.equal(firstBroken((await ask(node, 'rdma_port_xmit_data_bytes_total'))[0]?.links ?? []), undefined)
})

test('an interface that is switched off, unplugged or silent says which', async (t) => {
  const node = testNode(t)
  node.write('sys/class/net/eth3/operstate', 'down\n')
  const off = { 'eth3/carrier': new ReadRefusal('unsupported', 'EINVAL') }
  assert.equal((await brokenLinkFor(node, 'net-eth3', { refused: off })).fix, 'sudo ip link set eth3 up')
  node.write('sys/class/net/eth3/carrier', '0\n')
  assert.match((await brokenLinkFor(node, 'net-eth3')).fix ?? '', /cable/)
  node.write('sys/class/net/eth3/operstate', 'up\n')
  node.write('sys/class/net/eth3/carrier', '1\n')
  node.write('proc/net/dev', 'a\nb\n  eth3: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n')
  assert.equal((await brokenLinkFor(node, 'net-eth3')).name, 'traffic')
  node.write('proc/net/dev', 'a\nb\n  eth4: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n')
  assert.match((await brokenLinkFor(node, 'net-eth3')).fix ?? '', /network namespace/)
})

test('a device that fell off the bus says so', async (t) => {
  const node = testNode(t)
  node.write(`${ADAPTER}/current_link_speed`, 'Unknown\n')
  node.write(`${ADAPTER}/current_link_width`, '63\n')
  const link = await brokenLinkFor(node, 'pci-0000:9a:00.0')
  assert.match(link.answer, /fell off the bus/)
  assert.match(link.fix ?? '', /rescan/)
})

test('errors that the firmware keeps are broken for a metric of errors alone', async (t) => {
  const node = testNode(t)
  assert.equal((await brokenLinkFor(node, 'pci_aer_errors_total')).name, 'counters')
  assert.equal(firstBroken((await ask(node, 'pci'))[0]?.links ?? []), undefined)
})

test('a source or device that the configuration leaves out breaks the link of the configuration', async (t) => {
  const node = testNode(t)
  const without = await brokenLinkFor(node, 'mlx5_3', { configured: [testConfig(netdev)] })
  assert.deepEqual([without.name, without.answer], ['configuration', 'left out, or enabled: false'])
  const configured = [testConfig(rdma, { devices: ['!mlx5_3'] })]
  assert.match((await brokenLinkFor(node, 'mlx5_3', { configured })).fix ?? '', /option devices of rdma/)
})

test('one working port of two keeps the source whole, and the other port is reported', async (t) => {
  const node = testNode(t)
  for (const file of node.files().filter((path) => path.startsWith(PORT_FOLDER)))
    node.write(file.replace('mlx5_3', 'mlx5_2'), node.read(file))
  node.write('sys/class/infiniband/mlx5_2/ports/1/state', '1: DOWN\n')
  const [chain] = await ask(node, 'rdma')
  const link = chain?.links.find(({ name }) => name === 'link')
  assert.equal(link?.state, 'ok')
  assert.equal(link?.answer, '4: ACTIVE (1 of 2 ok); mlx5_2/1: 1: DOWN, 5: LinkUp')
  assert.equal((await brokenLinkFor(node, 'mlx5_2')).name, 'link')
})

test('what a running agent knows is part of the chain', async (t) => {
  const node = testNode(t)
  const timeMs = Date.now()
  const labels = { rdma_device: 'mlx5_3', port: '1' }
  const factsOf = (state: 'reading' | 'stuck', value: string | null): AgentFacts => ({
    source: async (name) => ({
      name,
      state,
      reason: state === 'stuck' ? 'sample did not come back' : '',
      lastSampleMs: timeMs,
    }),
    series: async () => [{ metric: 'm', labels, value, timeMs, absent: value === null ? 'the driver refuses' : '' }],
    types: async () => [],
    devices: async () => [],
  })
  const stuck = await brokenLinkFor(node, 'rdma', { facts: factsOf('stuck', '1') })
  assert.deepEqual([stuck.name, stuck.answer], ['agent', 'stuck: sample did not come back'])
  const facts = factsOf('reading', null)
  const absent = await brokenLinkFor(node, 'rdma_hw_packet_seq_err_total', { facts })
  assert.deepEqual([absent.name, absent.answer], ['value', 'absent: the driver refuses'])
  const [device] = await ask(node, 'mlx5_3', { facts })
  assert.match(device?.links.at(-1)?.answer ?? '', /^0 of 5 values, newest .* ago; absent: m: the driver refuses$/)
})

test('a reading source says if some of its reads fail', async (t) => {
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', lastSampleMs: Date.now(), errors: 16 }),
    series: async () => [],
    types: async () => [],
    devices: async () => [],
  }
  const [chain] = await ask(testNode(t), 'rdma', { facts })
  const answer = chain?.links.find(({ name }) => name === 'agent')?.answer ?? ''
  assert.match(answer, /^reading, last sample .* ago; 16 reads failed since the start: see \/sources\/rdma there$/)
})

test('a series as /metrics shows it is walked on its device alone', async (t) => {
  const node = testNode(t)
  for (const file of node.files().filter((path) => path.startsWith(PORT_FOLDER)))
    node.write(file.replace('mlx5_3', 'mlx5_2'), node.read(file))
  node.write('sys/class/infiniband/mlx5_2/ports/1/state', '1: DOWN\n')
  const seriesOf = (device: string) => `rdma_hw_packet_seq_err_total{rdma_device="${device}",port="1"}`
  const [sound] = await ask(node, seriesOf('mlx5_3'))
  assert.deepEqual([sound?.device, firstBroken(sound?.links ?? [])], ['mlx5_3/1', undefined])
  assert.equal((await brokenLinkFor(node, seriesOf('mlx5_2'))).name, 'link')
  assert.match((await brokenLinkFor(node, seriesOf('mlx5_9'))).answer, /none is called mlx5_9/)
  const timeMs = Date.now()
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', lastSampleMs: timeMs }),
    series: async () => [{ metric: 'm', labels: { rdma_device: 'mlx5_2', port: '1' }, value: '1', timeMs, absent: '' }],
    types: async () => [],
    devices: async () => [],
  }
  const link = await brokenLinkFor(node, seriesOf('mlx5_3'), { facts })
  assert.equal(link.name, 'value')
  assert.match(link.answer, /^none of its 1 series has these labels; there are rdma_device="mlx5_2",port="1"$/)
  const message = 'http://b:9400 tells of what another exporter of this source tells of, which is not taken: GPU X'
  const disputed: AgentFacts = {
    ...facts,
    source: async (name) => ({
      ...{ name, state: 'reading', reason: '', lastSampleMs: timeMs, found: '2 ports' },
      failures: [{ place: 'http://b:9400', message, lastMs: timeMs }],
    }),
    series: async () => [],
    types: async () => [{ name: 'rdma_port' }],
  }
  const collision = await brokenLinkFor(node, seriesOf('mlx5_3'), { facts: disputed })
  assert.match(
    collision.answer,
    /^rdma, which reads 2 ports, reports rdma_port, and no record of rdma_hw_first; .*: http:\/\/b/,
  )
  assert.equal(collision.fix, 'check http://b:9400')
})

test('devices that are stuck are named with duty and time, and are not looked at again; the others are', async (t) => {
  const node = testNode(t)
  node.write('sys/class/infiniband/mlx5_4/ports/1/state', '4: ACTIVE\n')
  const call = { device: 'mlx5_3', duty: 'read', sinceMs: Date.now() - 42_000, fix: 'raise stuck_ms' }
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', stuck: [call], lastSampleMs: Date.now() }),
    series: async () => [],
    types: async () => [],
    devices: async () => [],
  }
  const [chain] = await ask(node, 'mlx5_3', { facts })
  assert.deepEqual(
    chain?.links.filter(({ answer }) => answer !== 'not reached').map(({ name }) => name),
    ['configuration', 'agent'],
  )
  for (const name of ['mlx5_3', 'rdma']) {
    const link = await brokenLinkFor(node, name, { facts })
    assert.equal(link.name, 'agent', name)
    assert.match(link.answer, /^reading, but stuck: mlx5_3 read, called (4[2-9]|[5-9]\d) s ago$/)
    assert.equal(link.fix, 'raise stuck_ms')
  }
  const [other] = await ask(node, 'mlx5_4', { facts })
  assert.ok(other?.links.every(({ answer }) => !answer.includes('stuck')))
})

test('a source that is stuck is not looked at again: its driver would hang the walk too', async (t) => {
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'stuck', reason: 'hangs', lastSampleMs: 0 }),
    series: async () => [],
    types: async () => [],
    devices: async () => [],
  }
  const [chain] = await ask(testNode(t), 'mlx5_3', { facts })
  assert.ok(chain?.links.every(({ name, state }) => ['configuration', 'agent'].includes(name) || state === 'unknown'))
})

test('devices that only a running agent knows are found by id and name: simulated devices, GPUs by number, devices that left', async (t) => {
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', lastSampleMs: Date.now() }),
    series: async () => [
      { metric: 'm', labels: { rdma_device: 'mlx5_6', simulated: 'true' }, value: '1', timeMs: 1, absent: '' },
    ],
    types: async () => [],
    devices: async () => [
      deviceFacts({ id: 'gpu-0', kind: 'gpu', name: 'GPU 0', address: '0000:9a:00.0' }),
      deviceFacts({ id: 'nic-mlx5_2-1', kind: 'nic', name: 'mlx5_2', address: '0000:44:00.0' }),
      deviceFacts({ id: 'sim-nic-mlx5_6-1', kind: 'nic', name: 'mlx5_6' }),
    ],
  }
  const node = testNode(t)
  const asked = { facts, definitions: [...DEFINITIONS, simulator] }
  for (const name of ['gpu-0', 'GPU 0']) {
    const [chain] = await ask(node, name, asked)
    assert.deepEqual([chain?.of, chain?.source, chain?.device], [name, 'pci', '0000:9a:00.0'])
  }
  const gone = await brokenLinkFor(node, 'nic-mlx5_2-1', asked)
  assert.deepEqual([gone.name, gone.answer], ['file', 'mlx5_2 (0000:44:00.0): it was there a moment ago'])
  for (const name of ['sim-nic-mlx5_6-1', 'mlx5_6']) {
    const [chain] = await ask(node, name, asked)
    assert.deepEqual([chain?.source, chain?.device], ['simulator', 'sim-nic-mlx5_6-1'])
  }
  await assert.rejects(ask(node, 'sim-nic-mlx5_7-1', asked), { code: 'EXP_UNKNOWN', message: /sim-nic-mlx5_6-1/ })
})

test('a simulated series is explained by the simulator alone', async (t) => {
  const chains = await ask(testNode(t), 'rdma_hw_packet_seq_err_total{rdma_device="mlx5_3",simulated="true"}', {
    definitions: [...DEFINITIONS, simulator],
  })
  assert.deepEqual(
    chains.map(({ source }) => source),
    ['simulator'],
  )
})

test('of a metric that is both real and simulated each chain tells the values of its own source', async (t) => {
  const metric = 'rdma_hw_packet_seq_err_total'
  const seriesOf = (device: string, value: string, more: object = {}) => {
    return { metric, labels: { device, port: '1', ...more }, value, timeMs: Date.now(), absent: '' }
  }
  const facts: AgentFacts = {
    source: async (name) => ({ name, state: 'reading', reason: '', lastSampleMs: Date.now() }),
    series: async () => [seriesOf('mlx5_9', '7', { simulated: 'true' }), seriesOf('mlx5_3', '5')],
    types: async () => [],
    devices: async () => [],
  }
  const chains = await ask(testNode(t), metric, { facts, definitions: [...DEFINITIONS, simulator] })
  const answers = chains.map(({ source, links }) => [source, links.at(-1)?.answer.replace(/ [^ ]+ s ago$/, '')])
  assert.deepEqual(answers, [
    ['rdma', '1 series, newest 5'],
    ['simulator', '1 series, newest 7'],
  ])
})

test('names that every object has are unknown names', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString'])
    await assert.rejects(ask(testNode(t), name), { code: 'EXP_UNKNOWN' })
})

test('a metric that the simulator alone has is not fixed by simulating it', async (t) => {
  const definitions = [...DEFINITIONS, simulator]
  const [gpu, ...others] = await ask(testNode(t), 'DCGM_FI_DEV_GPU_UTIL', { definitions, configured: [] })
  assert.equal(others.length, 0)
  const link = firstBroken(gpu?.links ?? [])
  assert.equal(link?.answer, 'no source reads GPUs yet; only the simulator has this metric')
  assert.doesNotMatch(link?.fix ?? '', /data_sources/)
  const chains = await ask(testNode(t), 'rdma_hw_packet_seq_err_total', { definitions, configured: [] })
  assert.deepEqual(
    chains.map(({ source }) => source),
    ['rdma'],
    'what a source of hardware has is asked of that alone',
  )
})

test('an unknown name is refused with the nearest ones', async (t) => {
  const node = testNode(t)
  await assert.rejects(ask(node, 'mlx5_4'), { code: 'EXP_UNKNOWN', message: /nearest: mlx5_3/ })
  await assert.rejects(ask(node, 'packet_seq'), { code: 'EXP_UNKNOWN', message: /rdma_hw_packet_seq_err_total/ })
  await assert.rejects(ask(node, '../../etc/passwd'), { code: 'EXP_UNKNOWN' })
})

test('a pressure file of another kernel is told for its metric, and not for the host', async (t) => {
  const node = testNode(t)
  const [chain] = await ask(node, 'host')
  assert.equal(firstBroken(chain?.links ?? []), undefined)
  const metric = [...(host.types.find(({ name }) => name === 'host_pressure')?.metrics.values() ?? [])][0] ?? ''
  assert.equal((await brokenLinkFor(node, metric)).name, 'file')
})

/** The kernel's files of sensors, memory, throttling and NUMA nodes. The values are made up. */
const HOST_FILES: Readonly<Record<string, string>> = {
  'sys/class/hwmon/hwmon0/name': 'coretemp',
  'sys/class/hwmon/hwmon0/temp1_input': '41000',
  'sys/class/hwmon/hwmon1/name': 'power_meter',
  'sys/class/hwmon/hwmon1/power1_average': '1834000000',
  'sys/class/thermal/thermal_zone0/type': 'x86_pkg_temp',
  'sys/class/thermal/thermal_zone0/temp': '43000',
  'sys/devices/system/edac/mc/mc0/mc_name': 'Skylake Socket#0 IMC#0',
  'sys/devices/system/edac/mc/mc0/ce_count': '12',
  'sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count': '12',
  'sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count': '9',
  'sys/devices/system/cpu/cpu0/cpufreq/scaling_governor': 'performance',
  'sys/devices/system/node/node0/meminfo': 'Node 0 MemTotal: 8 kB',
}

interface HostFault {
  readonly what: string
  readonly metric: string
  readonly strike: (node: TestNode) => void
  readonly link: string
  readonly answer: RegExp
  readonly fix: RegExp
  /** What the host as a whole reports about the fault. Default: nothing. */
  readonly ofHost?: RegExp
}

const HOST_FAULTS: readonly HostFault[] = [
  {
    what: 'no monitor of hardware',
    metric: 'host_temperature_celsius',
    strike: (node) => node.remove('sys/class/hwmon'),
    link: 'file',
    answer: /nothing is there/,
    fix: /modprobe coretemp/,
  },
  {
    what: 'a monitor without a fan',
    metric: 'host_fan_rpm',
    strike: () => undefined,
    link: 'counters',
    answer: /nothing in it has such a file/,
    fix: /BMC/,
  },
  {
    what: 'a power meter that may not be read',
    metric: 'host_power_watts',
    strike: (node) => node.link('sys/class/hwmon/hwmon1/power1_average', '/sys/bus/cpu/drivers_probe'),
    link: 'permission',
    answer: /not permitted/i,
    fix: /chmod a\+r .*power1_average/,
    ofHost: /not permitted.* \(at 1 of \d+: class\/hwmon\)/i,
  },
  {
    what: 'a zone whose driver refuses',
    metric: 'host_thermal_zone_celsius',
    strike: (node) => node.link('sys/class/thermal/thermal_zone0/temp', '/sys/class/net/lo/speed'),
    link: 'counters',
    answer: /the driver refuses/,
    fix: /dmesg/,
  },
  {
    what: 'no EDAC driver',
    metric: 'host_memory_controller_uncorrected_errors_total',
    strike: (node) => {
      node.remove('sys/devices/system/edac/mc/mc0')
      node.write('sys/devices/system/edac/mc/power/control', 'auto')
    },
    link: 'driver',
    answer: /no driver has anything in it/,
    fix: /modprobe skx_edac/,
  },
  {
    what: 'an EDAC driver that knows no modules',
    metric: 'host_memory_module_corrected_errors_total',
    strike: (node) => node.remove('sys/devices/system/edac/mc/mc0/dimm0'),
    link: 'counters',
    answer: /nothing in it has such a file/,
    fix: /does not tell modules apart/,
  },
  {
    what: 'a processor that does not tell its throttling',
    metric: 'host_cpu_package_throttled_seconds_total',
    strike: (node) => node.remove('sys/devices/system/cpu/cpu0/thermal_throttle'),
    link: 'counters',
    answer: /nothing in it has such a file/,
    fix: /Intel processor/,
  },
  {
    what: 'a processor whose clock nobody here chooses',
    metric: 'host_cpu_package_frequency_limit_hertz',
    strike: (node) => node.remove('sys/devices/system/cpu/cpu0/cpufreq'),
    link: 'counters',
    answer: /nothing in it has such a file/,
    fix: /cpufreq/,
  },
  {
    what: 'a kernel without NUMA',
    metric: 'host_numa_free_bytes',
    strike: (node) => node.remove('sys/devices/system/node'),
    link: 'file',
    answer: /nothing is there/,
    fix: /CONFIG_NUMA/,
  },
]

for (const { what, metric, strike, link, answer, fix, ofHost } of HOST_FAULTS) {
  test(`${what} breaks ${metric}, ${ofHost ? 'and the host too' : 'but not the host'}`, async (t) => {
    const node = testNode(t)
    for (const [path, text] of Object.entries(HOST_FILES)) node.write(path, `${text}\n`)
    strike(node)
    const found = await brokenLinkFor(node, metric)
    assert.equal(found.name, link)
    assert.match(found.answer, answer)
    assert.match(found.fix ?? '', fix)
    const [whole] = await ask(node, 'host')
    if (ofHost === undefined) assert.equal(firstBroken(whole?.links ?? []), undefined)
    else assert.match(firstBroken(whole?.links ?? [])?.answer ?? '', ofHost)
  })
}

test('the clock, systemd and the log of the kernel have chains of their own', async (t) => {
  const node = testNode(t)
  node.write('dev/kmsg', '6,1,1,-;hello\n')
  for (const name of ['host_kernel_messages_total', 'host_clock_synchronised', 'dmesg', 'clock']) {
    const [chain] = await ask(node, name)
    assert.equal(firstBroken(chain?.links ?? []), undefined, name)
  }
  const denied = await brokenLinkFor(node, 'host_kernel_messages_total', {
    refused: { '/kmsg': new ReadRefusal('denied', 'EPERM') },
  })
  assert.deepEqual([denied.name, denied.fix?.split(',')[0]], ['permission', 'give Sonde CAP_SYSLOG'])
  node.write('proc/1/comm', 'tini\n')
  const file = await brokenLinkFor(node, 'host_failed_unit_failed')
  assert.deepEqual([file.name, file.answer], ['file', 'the first process is tini, not systemd'])
  node.write('proc/1/comm', 'systemd\n')
  const [chain] = await ask(node, 'host_systemd_failed_units')
  assert.equal(firstBroken(chain?.links ?? []), undefined)
})

test('sensors and memory errors are listed under the names of their drivers', async (t) => {
  const node = testNode(t)
  for (const [path, text] of Object.entries(HOST_FILES)) node.write(path, `${text}\n`)
  const answersOf = async (of: string) => {
    const [chain] = await ask(node, of)
    assert.equal(firstBroken(chain?.links ?? []), undefined)
    return chain?.links.filter(({ name }) => name === 'driver' || name === 'counters').map(({ answer }) => answer)
  }
  assert.deepEqual(await answersOf('edac'), ['Skylake Socket#0 IMC#0', '12; 2 such files'])
  assert.deepEqual(await answersOf('host_power_watts'), ['coretemp, power_meter', '1834'])
})
