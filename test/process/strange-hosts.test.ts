import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LatestSeries } from '@sonde/sdk/internal'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { ask, metricLinesOf } from '../ask.ts'
import { runSonde, type SondeProcess, startSonde, until } from '../sonde-process.ts'

// Trees and bodies that people reported to other collectors, in one node and one agent: what reaches /metrics of them.

const LIMIT_MS = 30_000
/** A file that the kernel refuses to read with EINVAL. */
const REFUSES = '/sys/class/net/lo/speed'
const HEAD = 'Inter-|   Receive |  Transmit\n face |bytes |bytes\n'

type Files = Readonly<Record<string, string | number>>

function put(node: TestNode, folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    if (text === REFUSES) node.link(`${folder}/${name}`, REFUSES)
    else node.write(`${folder}/${name}`, `${text}\n`)
  }
}

/** CPUs whose iowait and idle step back, as on kernels without ticks. */
function putStat(node: TestNode, times: { iowait: number; idle?: number; contextSwitches: number }): void {
  const { iowait, idle, contextSwitches } = times
  const cpus = [`cpu0 2000 0 1000 40000 ${iowait} 0 25 0 0 0`]
  // A CPU that is offline has no line.
  if (idle !== undefined) cpus.push(`cpu1 2000 0 1000 ${idle} 200 0 25 0 0 0`)
  node.write('proc/stat', `${cpus.join('\n')}\nctxt ${contextSwitches}\nbtime 1790000000\n`)
}

/** Disks of Xen, and partitions that no rule of names knows. */
function putDisks(node: TestNode): void {
  const lines: string[] = []
  const add = (device: string, reads: number) => lines.push(` 252 0 ${device} ${reads} 0 8000 10 0 0 0 0 0 10 20`)
  for (const [device, reads] of [['xvda1', 5000] as const, ['xvda2', 70] as const]) {
    add(device, reads)
    node.write(`sys/block/${device}/size`, '1\n')
  }
  for (const [disk, part] of ['nbd0 nbd0p1', 'zd0 zd0p1', 'cciss/c0d0 cciss/c0d0p1', 'dasda dasda1'].map((one) =>
    one.split(' '),
  )) {
    add(disk as string, 100)
    add(part as string, 100)
    const [name, partName] = [disk, part].map((one) => one?.replace('/', '!'))
    node.write(`sys/block/${name}/size`, '1\n')
    node.write(`sys/class/block/${name}/size`, '1\n')
    node.write(`sys/class/block/${partName}/partition`, '1\n')
  }
  node.write('proc/diskstats', `${lines.join('\n')}\n`)
}

/** Monitors: two of one device, an old one at its device, limits that nobody set, values at the ends of registers. */
function putMonitors(node: TestNode): void {
  const monitor = (number: number, device: string, files: Files) => {
    const folder = `sys/class/hwmon/hwmon${number}`
    node.link(`${folder}/device`, `../../../devices/${device}`)
    put(node, folder, files)
  }
  monitor(9, 'phy0', { name: 'mt7996', temp1_input: 30_000 })
  monitor(10, 'phy0', { name: 'mt7996', temp1_input: 31_000 })
  monitor(11, 'meter.0', { name: 'power_meter', power1_average: '4294967295000' })
  monitor(12, 'nvme0', {
    ...{ name: 'nvme', temp1_label: 'Composite', temp1_input: 41_850, temp1_max: 65_261_850, temp1_crit: 0 },
    ...{ temp2_label: 'Sensor 1', temp2_input: 36_850, temp2_max: -273_150, temp2_crit: 0 },
  })
  put(node, 'sys/devices/ACPI000D:00', { name: 'power_meter', power1_average: 1_834_000_000, power1_cap: 0 })
  monitor(13, 'ACPI000D:00', {})
  put(node, 'sys/class/thermal/thermal_zone0', { type: 'x86_pkg_temp', temp: 61_500 })
  put(node, 'sys/class/thermal/thermal_zone1', { type: 'iwlwifi_1', temp: REFUSES })
  const trip = { trip_point_0_type: 'critical', trip_point_0_temp: -274_000 }
  put(node, 'sys/class/thermal/thermal_zone2', { type: 'acpitz', temp: 20_000, ...trip })
}

/** arm64 without PPTT, memory controllers of two layouts, nodes without memory, pressure of old and new kernels. */
function putSystem(node: TestNode): void {
  for (const cpu of [0, 1]) {
    const folder = `sys/devices/system/cpu/cpu${cpu}`
    const lists = { core_siblings_list: '0-1', thread_siblings_list: cpu }
    put(node, `${folder}/topology`, { physical_package_id: -1, ...lists })
    put(node, `${folder}/cpufreq`, { scaling_max_freq: 3_000_000, cpuinfo_max_freq: 3_000_000 })
  }
  const edac = 'sys/devices/system/edac/mc'
  put(node, `${edac}/mc0`, { ce_count: 3, ue_count: 0 })
  put(node, `${edac}/mc0/dimm0`, { dimm_ce_count: 2, dimm_ue_count: 0 })
  put(node, `${edac}/mc1`, { ce_count: -1, ue_count: 0 })
  put(node, `${edac}/mc1/csrow0`, { ce_count: 9, ue_count: 1 })
  const memory = (number: number, kib: number) =>
    `Node ${number} MemTotal: ${kib} kB\nNode ${number} MemFree: ${kib} kB`
  for (const [number, kib] of [500_000, 0].entries())
    put(node, `sys/devices/system/node/node${number}`, { meminfo: memory(number, kib), numastat: 'numa_hit 10' })
  node.write('proc/pressure/cpu', 'some avg10=0.00 avg60=0.00 avg300=0.00 total=14036781\n')
  const softnet = (processed: string) => `${processed} 00000000 00000001 ${'00000000 '.repeat(8).trim()}\n`
  node.write('proc/net/softnet_stat', `${softnet('0000272d')}${softnet('000034d9')}`)
  node.write('proc/pressure/irq', 'full avg10=0.00 avg60=0.00 avg300=0.00 total=8494\n')
}

/** Interfaces with odd names and numbers, and speeds that mean none. */
function putInterfaces(node: TestNode): void {
  const line = (name: string, bytes: string, more = ' 0'.repeat(14)) => `${name}:${bytes} 1${more}\n`
  const lines = [line('ibr10:30', '7'), line('💩0', '57750104'), line('eth0@if7', '18446744073709551615')]
  node.write('proc/net/dev', `${HEAD}${lines.join('')}${line('eth9', '100')}${line('eth9', '50')}${line('eth8', '-1')}`)
  for (const [name, speed] of [['eth0@if7', 65_535] as const, ['ibr10:30', -1] as const, ['eth9', 100_000] as const])
    put(node, `sys/class/net/${name}`, { operstate: 'up', mtu: 1500, carrier: 1, carrier_changes: 2, speed })
}

/** RDMA devices of other drivers than mlx5. */
function putRdma(node: TestNode): void {
  const port = (device: string, files: Files, folders: Readonly<Record<string, Files>>) => {
    const folder = `sys/class/infiniband/${device}`
    put(node, folder, { node_guid: '0001:0002:0003:0004' })
    put(node, `${folder}/ports/1`, { state: '4: ACTIVE', phys_state: '5: LinkUp', link_layer: 'Unspecified', ...files })
    for (const [name, counters] of Object.entries(folders)) put(node, `${folder}/ports/1/${name}`, counters)
  }
  const efa = { tx_bytes: 9_111_222_333, rx_bytes: 8_111_222_333, tx_pkts: 900, rx_pkts: 800, lifespan: 10 }
  port('rdmap16s27', { rate: '200 Gb/sec (4X HDR)' }, { hw_counters: efa })
  put(node, 'sys/class/infiniband/rdmap16s27/device', { uevent: 'DRIVER=efa' })
  port('efa_1', { rate: '200 Gb/sec (4X HDR)' }, { hw_counters: efa })
  put(node, 'sys/class/infiniband/efa_1/device', { uevent: 'DRIVER=efa' })
  put(node, 'sys/class/infiniband/efa_1/device/net/ens32', { dev_port: 0 })
  put(node, 'sys/class/net/ens32', { carrier: 0 })
  const received = { port_xmit_data: 77, port_rcv_discards: 4 }
  port('hfi1_0', { rate: '100 Gb/sec (4X EDR)' }, { counters: received, hw_counters: { 'TxPktVL,0': 9 } })
  port(
    'mlx4_0',
    { rate: '40 Gb/sec (4X FDR10)' },
    { counters: { port_rcv_data: 'N/A (no PMA)', link_downed: REFUSES } },
  )
  port('irdma0', { rate: '100 Gb/sec (4X EDR)' }, { hw_counters: { ip4InOctets: 77 } })
}

const gpuLabels = (gpu: number) =>
  `gpu="${gpu}",UUID="GPU-aaaa000${gpu}",device="nvidia${gpu}",modelName="NVIDIA H100",Hostname="node-a",namespace="ml",pod="job-${gpu}",container="main"`
const VALUES: Readonly<Record<string, readonly (number | string)[]>> = {
  DCGM_FI_DEV_GPU_UTIL: [4_294_967_295, 187, 12_288, 99],
  DCGM_FI_DEV_MEMORY_TEMP: [0, 0, 0, 61],
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: ['140737488355328.000000', 3.712345, -0.5, 1.000217],
  DCGM_FI_PROF_SM_ACTIVE: [0.5, 3.7, -0.5, 0.9],
  DCGM_FI_PROF_PCIE_TX_BYTES: ['9223372036854775792', '9.223372036854776e+18', 20e9, 50e9],
  DCGM_FI_DEV_PCIE_MAX_LINK_GEN: [4, 4, 4, 4],
  DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH: [16, 16, 16, 16],
  DCGM_FI_DEV_POWER_USAGE: ['4294967.295000', 67.894, -1, 1200],
  DCGM_FI_DEV_GPU_TEMP: [511, 41, 40, 42],
}

/** What a dcgm-exporter over broken GPUs answers. */
const BODY = Object.entries(VALUES)
  .flatMap(([name, values]) => values.map((value, gpu) => `${name}{${gpuLabels(gpu)}} ${value}\n`))
  .join('')

async function serve(t: TestContext, body: string): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
}

/** The reason why a series has no value now. */
async function reasonOf(
  sonde: SondeProcess,
  metric: string,
  labels: Readonly<Record<string, string>>,
): Promise<string> {
  const { series } = await ask<{ series: LatestSeries[] }>(sonde, `/api/v1/series?metric=${metric}`)
  const found = series.filter((one) => Object.entries(labels).every(([name, value]) => one.labels[name] === value))
  return found.map(({ absent }) => absent).join(' | ')
}

test('hosts and exporters that others stumbled over: values that are right, and reasons for those that cannot be', async (t) => {
  const node = new TestNode(t)
  putStat(node, { iowait: 5000, idle: 40_000, contextSwitches: 90_000 })
  for (const write of [putDisks, putMonitors, putSystem, putInterfaces, putRdma]) write(node)
  const address = await serve(t, BODY)
  const config = join(node.root, 'sonde.yaml')
  const own = ['host', 'netdev', 'rdma'].map((type) => ({ type, interval_ms: 100 }))
  const exporter = { type: 'dcgm_exporter', interval_ms: 1000, collect_interval_ms: 60_000, addresses: [address] }
  // Values of an exporter are on the page of metrics only if it is asked to show them.
  writeFileSync(config, JSON.stringify({ data_sources: [...own, { ...exporter, export: true }] }))
  const roots = ['--path.procfs', node.paths.procfs, '--path.sysfs', node.paths.sysfs]
  const sonde = await startSonde(['agent', '--config', config, '--log-level', 'error', ...roots])
  t.after(() => sonde.stop())
  const lines = await until('everything was read', LIMIT_MS, async () => {
    const page = await metricLinesOf(sonde)
    const isRead = page.has('host_power_watts{chip="ACPI000D:00",chip_name="power_meter",sensor="power1"} 1834')
    return isRead && page.has('host_memory_controller_corrected_errors_total{controller="0"} 3') && page
  })
  const has = (...wanted: readonly string[]) => {
    for (const line of wanted) assert.ok(lines.has(line), line)
  }
  const lacks = (...wanted: readonly string[]) => {
    const found = [...lines].filter((line) => wanted.some((start) => line.startsWith(start)))
    assert.deepEqual(found, [])
  }
  // Disks.
  for (const [disk, reads] of Object.entries({
    xvda1: 5000,
    xvda2: 70,
    nbd0: 100,
    zd0: 100,
    'cciss/c0d0': 100,
    dasda: 100,
  }))
    has(`host_disk_reads_total{disk="${disk}"} ${reads}`)
  for (const part of ['nbd0p1', 'zd0p1', 'cciss/c0d0p1', 'dasda1']) lacks(`host_disk_reads_total{disk="${part}"}`)
  // Monitors and zones.
  const phy = (chip: string) => `host_temperature_celsius{chip="phy0",chip_name="${chip}",sensor="temp1"}`
  has(`${phy('mt7996')} 30`, `${phy('mt7996 2')} 31`, 'host_thermal_zone_celsius{zone="0",kind="x86_pkg_temp"} 61.5')
  has('host_temperature_celsius{chip="nvme0",chip_name="nvme",sensor="Composite"} 41.85')
  lacks('host_temperature_limit_celsius', 'host_temperature_critical_celsius', 'host_power_cap_watts')
  lacks(
    'host_power_watts{chip="meter.0"',
    'host_thermal_zone_critical_celsius',
    'sonde_loss_records_total{component="host"',
  )
  const nvme = { chip: 'nvme0', sensor: 'Sensor 1' }
  assert.match(
    await reasonOf(sonde, 'host_temperature_critical_celsius', nvme),
    /^0 °C was reported, .*nobody has set it$/,
  )
  assert.match(await reasonOf(sonde, 'host_thermal_zone_critical_celsius', { zone: '2' }), /^-274 °C was reported/)
  // The system.
  has('host_cpu_package_frequency_max_hertz{package="0"} 3000000000')
  has('host_memory_module_corrected_errors_total{controller="1",module="csrow0"} 9')
  lacks('host_memory_controller_corrected_errors_total{controller="1"}')
  has('host_numa_total_bytes{numa_node="0"} 512000000', 'host_numa_total_bytes{numa_node="1"} 0')
  has('host_pressure_waiting_seconds_total{resource="cpu"} 14.036781')
  has('host_softnet_processed_total{cpu="0"} 10029', 'host_softnet_processed_total{cpu="1"} 13529')
  // Interfaces.
  const received = (device: string) => `netdev_rx_bytes_total{device="${device}"}`
  has(`${received('ibr10:30')} 7`, `${received('💩0')} 57750104`, `${received('eth0@if7')} 18446744073709551615`)
  has(`${received('eth9')} 100`, 'netdev_speed_bytes_per_second{device="eth9"} 12500000000')
  lacks(received('eth8'), 'netdev_speed_bytes_per_second{device="eth0@if7"}')
  assert.match(
    await reasonOf(sonde, 'netdev_speed_bytes_per_second', { device: 'eth0@if7' }),
    /^8191875000 bytes\/s was reported, which means/,
  )
  // RDMA.
  has('rdma_port_xmit_data_bytes_total{rdma_device="rdmap16s27",port="1"} 9111222333')
  has('rdma_port_rcv_data_bytes_total{rdma_device="rdmap16s27",port="1"} 8111222333')
  has('rdma_port_xmit_packets_total{rdma_device="rdmap16s27",port="1"} 900')
  has('rdma_port_state{rdma_device="efa_1",port="1"} 1', 'rdma_port_state{rdma_device="hfi1_0",port="1"} 4')
  has('rdma_port_xmit_data_bytes_total{rdma_device="hfi1_0",port="1"} 308')
  has('rdma_port_rcv_discards_total{rdma_device="hfi1_0",port="1"} 4')
  has('rdma_driver_statistic{rdma_device="hfi1_0",port="1",counter="TxPktVL,0"} 9')
  has('rdma_driver_statistic{rdma_device="irdma0",port="1",counter="ip4InOctets"} 77')
  lacks('rdma_port_state{rdma_device="rdmap16s27"')
  assert.match(await reasonOf(sonde, 'rdma_port_rcv_data_bytes_total', { rdma_device: 'mlx4_0' }), /N\/A/)
  await checkExporter(sonde)
  await checkExplained(sonde, roots, config)
  await checkSteps(sonde, node)
})

/** GPU 3 alone is sound. */
async function checkExporter(sonde: SondeProcess): Promise<void> {
  const seriesOf = async (metric: string, gpu: number) => {
    const { series } = await ask<{ series: LatestSeries[] }>(sonde, `/api/v1/series?metric=${metric}`)
    return series.find(({ labels }) => labels.UUID === `GPU-aaaa000${gpu}` || labels.pod === `job-${gpu}`)
  }
  await until('pods', LIMIT_MS, async () => (await seriesOf('pod_gpu_power_watts', 3))?.value === '1200')
  const told = async (metric: string) => Promise.all([0, 1, 2, 3].map((gpu) => seriesOf(metric, gpu)))
  const kept = async (metric: string) => (await told(metric)).map((one) => one?.value ?? null)
  assert.deepEqual(await kept('DCGM_FI_DEV_GPU_UTIL'), [null, null, null, '99'])
  assert.deepEqual(await kept('DCGM_FI_DEV_MEMORY_TEMP'), [null, null, null, '61'])
  assert.deepEqual(await kept('DCGM_FI_PROF_GR_ENGINE_ACTIVE'), [null, null, null, '1.000217'])
  assert.deepEqual(await kept('DCGM_FI_DEV_POWER_USAGE'), [null, '67.894', null, '1200'])
  assert.deepEqual(await kept('DCGM_FI_DEV_GPU_TEMP'), [null, '41', '40', '42'])
  // More than PCIe 4.0 with 16 lanes carries.
  assert.deepEqual(await kept('DCGM_FI_PROF_PCIE_TX_BYTES'), [null, null, '20000000000', null])
  for (const metric of ['pod_gpu_util_ratio', 'pod_gpu_sm_active_ratio'])
    assert.equal((await seriesOf(metric, 1))?.value ?? null, null, metric)
  const [, util] = await told('DCGM_FI_DEV_GPU_UTIL')
  assert.equal(util?.absent, '187 % was reported, which is impossible: a percentage is at most 100 %')
  const [power] = await told('DCGM_FI_DEV_POWER_USAGE')
  assert.match(power?.absent ?? '', /^4294967.295 W was reported, which is impossible: the power of a GPU/)
}

/** The chain of a value says where it is from, or why there is none. */
async function checkExplained({ address }: SondeProcess, roots: readonly string[], config: string): Promise<void> {
  const explained = async (of: string) => {
    const answer = await fetch(`${address}/api/v1/explain?of=${encodeURIComponent(of)}`)
    return answer.text()
  }
  assert.match(
    await explained('rdma_port_xmit_data_bytes_total{rdma_device="rdmap16s27"}'),
    /hw_counters\/tx_bytes.*9111222333/s,
  )
  assert.match(
    await explained('rdma_port_xmit_data_bytes_total{rdma_device="irdma0"}'),
    /use rdma_driver_statistic of irdma0/,
  )
  assert.match(await explained('host_temperature_critical_celsius'), /0 °C was reported/)
  assert.match(await explained('host_cpu_package_frequency_max_hertz'), /3000000000/)
  const { output } = await runSonde([
    'explain',
    'host_disk_reads_total',
    '--config',
    config,
    ...roots,
    '--listen',
    new URL(address).host,
  ])
  assert.match(output, /✓ counters/)
}

/** Idle and iowait that step back leave counters where they are; a CPU that counts anew shows so. */
async function checkSteps(sonde: SondeProcess, node: TestNode): Promise<void> {
  const timesAt = async (contextSwitches: number) => {
    const lines = await until('the next sweep', LIMIT_MS, async () => {
      const page = await metricLinesOf(sonde)
      return page.has(`host_kernel_context_switches_total ${contextSwitches}`) && page
    })
    const of = (series: string) => [...lines].find((line) => line.startsWith(`${series} `))?.split(' ')[1]
    return [of('host_cpu_seconds_total{cpu="0",mode="iowait"}'), of('host_cpu_seconds_total{cpu="1",mode="idle"}')]
  }
  assert.deepEqual(await timesAt(90_000), ['50', '400'])
  putStat(node, { iowait: 4999, idle: 39_998, contextSwitches: 90_001 })
  assert.deepEqual(await timesAt(90_001), ['50', '400'])
  const form = { fromMs: Date.now() - 60_000, toMs: Date.now() + 1000, stepMs: 100 }
  const queries = [
    { metric: 'host_cpu_seconds_total', function: 'rate', matchers: [{ label: 'mode', op: '=', value: 'iowait' }] },
  ]
  const { results } = await ask<{ results: { series: { resetsMs?: readonly number[] }[] }[] }>(
    ...([sonde, '/api/v1/query', { ...form, queries }] as const),
  )
  assert.deepEqual(
    results.flatMap(({ series }) => series.flatMap(({ resetsMs = [] }) => resetsMs)),
    [],
  )
  putStat(node, { iowait: 5001, idle: 10, contextSwitches: 90_002 })
  assert.deepEqual(await timesAt(90_002), ['50.01', '0.1'])
  putStat(node, { iowait: 5002, contextSwitches: 90_003 })
  assert.deepEqual(await timesAt(90_003), ['50.02', undefined])
  putStat(node, { iowait: 5003, idle: 9, contextSwitches: 90_004 })
  assert.deepEqual(await timesAt(90_004), ['50.03', '0.09'])
}
