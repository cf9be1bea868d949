import assert from 'node:assert/strict'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import { type RecordOf, wallNs } from '@sonde/sdk'
import { absenceType, periodType } from '@sonde/sdk/internal'
import { SourceOutlet } from '../../hosting/source-outlet.ts'
import { testSource } from '../conformance.ts'
import type { SourceContext } from '../source.ts'
import { mockClock, ratesOf } from '../test-clock.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { hostCgroupPressureType, hostCgroupsType } from './cgroup-type.ts'
import { HOST_PARTS } from './config.ts'
import { host } from './host.ts'
import { parseLoadavg, parseMeminfo, parsePressure, parseSoftnet, parseStat } from './parse.ts'
import { parseDiskstats } from './parse-disks.ts'
import { parseVmstat } from './parse-memory.ts'
import { parseProtocols, SNMP_FIELDS } from './parse-network.ts'
import { parseCpuList, parseMillidegrees } from './parse-sysfs.ts'
import { HostReader } from './reader.ts'
import { type FoundSeries, SlowPart } from './slow-part.ts'
import {
  hostClockType,
  hostCpuPackageType,
  hostCpuType,
  hostDiskType,
  hostFailedUnitType,
  hostFanType,
  hostFilesystemType,
  hostKernelLogType,
  hostKernelMessageType,
  hostKernelType,
  hostLoadType,
  hostMachineType,
  hostMemoryControllerType,
  hostMemoryModuleType,
  hostMemoryType,
  hostNumaType,
  hostPowerType,
  hostPressureType,
  hostSoftnetType,
  hostSystemdType,
  hostTemperatureType,
  hostThermalZoneType,
} from './type.ts'

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url)
const read = (name: string) => fs.readFileSync(fixture(name))
const text = (value: string) => new TextEncoder().encode(value)

function bringUp(t: TestContext, options: object = {}, intervalMs = 1000) {
  const node = new TestNode(t, fixture('guest'))
  const tested = new TestedSource(host, node.paths, options, intervalMs)
  t.after(() => tested.source.close())
  return { node, tested }
}

/** A part and the number of records that it has reported. */
function contextOf(t: TestContext): { context: SourceContext; reported: () => number } {
  let count = 0
  const { context, source } = new SourceOutlet({
    ...{ name: 'made', intervalMs: 1000, paths: new TestNode(t, fixture('guest')).paths },
    emit: (batch) => (count += batch.type === absenceType || batch.type === periodType ? 0 : batch.count),
    stats: { failed: { add: () => undefined }, dropped: new Map() },
  })
  return {
    context,
    reported: () => {
      source.flush()
      return count
    },
  }
}

/** Calls to file systems and programs end after the sweep; the log of the kernel is no file to damage. */
const LATER: readonly string[] = ['filesystems', 'clock', 'systemd', 'kernel_log']
const AT_ONCE = HOST_PARTS.filter((part) => !LATER.includes(part))

/** Parts with files of their own in sysfs. The others read procfs, where some files belong to several parts. */
const IN_SYSFS = {
  machine: /^sys\/class\/dmi\//,
  numa: /^sys\/devices\/system\/node\//,
  sensors: /^sys\/class\/hwmon\//,
  thermal_zones: /^sys\/class\/thermal\//,
  memory_errors: /^sys\/devices\/system\/edac\//,
  cpu_packages: /^sys\/devices\/system\/cpu\//,
}

testSource(host, {
  tree: fixture('guest'),
  file: 'proc/stat',
  options: { parts: AT_ONCE },
  unreported: [
    ...[hostFilesystemType, hostClockType, hostSystemdType, hostFailedUnitType],
    ...[hostKernelLogType, hostKernelMessageType, hostCgroupPressureType, hostCgroupsType],
  ],
  scopes: [
    ...Object.entries(IN_SYSFS).map(([part, files]) => ({ files, options: { parts: [part] } })),
    {
      files: /^proc\//,
      options: { parts: AT_ONCE.filter((part) => !(part in IN_SYSFS)) },
    },
  ],
  // Only an input file makes a sensor. Older kernels do not list initiators.
  nameless: /(temp|fan|power)\d_(input|average|label)$|has_generic_initiator$/,
  counter: {
    type: hostKernelType,
    field: 'interrupts_total',
    labels: {},
    write: (node, value) => node.write('proc/stat', node.read('proc/stat').replace(/^intr \d+/m, `intr ${value}`)),
  },
  series: {
    type: hostCpuType,
    labels: { cpu: '1' },
    leave: (node) => node.write('proc/stat', node.read('proc/stat').replace(/^cpu1 .*\n/m, '')),
  },
})

test('stat: keeps big numbers exact, leaves out lines that cannot be read, and reports the first of them', () => {
  const { cpus, kernel, malformed } = parseStat(read('stat-edges.txt'))
  assert.deepEqual(
    cpus.map(({ cpu }) => cpu),
    ['0', '7'],
  )
  assert.deepEqual(Object.values(cpus[0] ?? {}).slice(1), [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1])
  assert.deepEqual(kernel, {
    interrupts_total: 18446744073709551615n,
    context_switches_total: 9007199254740993n,
    processes_running: 1,
    processes_blocked: 0,
  })
  assert.equal(malformed, 'cpu8 1 2 3')
})

test('meminfo: kB are 1024 bytes, counts stay counts, and what does not fit is absent', () => {
  assert.deepEqual(parseMeminfo(read('meminfo-old.txt')), {
    total_bytes: 2059596 * 1024,
    free_bytes: 146784 * 1024,
    buffers_bytes: 100332 * 1024,
    huge_pages: 16,
    huge_page_size_bytes: 2048 * 1024,
  })
  assert.equal(parseMeminfo(text('MemFree: 1 kB\n')), 'has no MemTotal')
})

test('pressure: the total of each line in seconds', () => {
  const both = 'some avg10=1.00 avg60=0.00 avg300=0.00 total=12936894\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n'
  assert.deepEqual(parsePressure(text(both)), { waiting_seconds_total: 12.936894, stalled_seconds_total: 0 })
  assert.deepEqual(parsePressure(read('pressure-irq.txt')), { stalled_seconds_total: 18446744073709.55 })
  assert.equal(parsePressure(text('some total=many\n')), 'has no total')
  assert.equal(parsePressure(text('')), 'has no total')
})

test('softnet_stat: hexadecimal, with the CPU where the kernel prints it', () => {
  assert.deepEqual(parseSoftnet(read('softnet-old.txt')), [
    { cpu: undefined, processed_total: 0x15c73, dropped_total: 1, squeezed_total: 0xa0 },
    { cpu: undefined, processed_total: 0xffffffff, dropped_total: 2, squeezed_total: 0xb0 },
  ])
  const offline = parseSoftnet(read('softnet-offline.txt'))
  assert.ok(Array.isArray(offline))
  assert.deepEqual(
    offline.map(({ cpu }) => cpu),
    ['0', '11'],
  )
  assert.equal(parseSoftnet(text('12 34\n')), 'has a line with too few columns')
  assert.equal(parseSoftnet(text('12 34 xyz\n')), 'holds a column that is not hexadecimal')
  assert.equal(parseSoftnet(text('12 34 1ffffffff\n')), 'holds a column that is not hexadecimal')
  assert.equal(parseSoftnet(text('')), 'is empty')
})

test('loadavg: three numbers, or it says so', () => {
  assert.deepEqual(parseLoadavg(text('0.12 10.05 0.03 1/108 9000\n')), { load1: 0.12, load5: 10.05, load15: 0.03 })
  for (const wrong of ['', '1 2', '1 2 x', '-1 2 3', '1e3 2 3']) {
    assert.equal(parseLoadavg(text(wrong)), 'does not start with three numbers', wrong)
  }
})

test('reports all types of the captured node', async (t) => {
  const { node, tested } = bringUp(t)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '2 CPUs' })
  await tested.source.sample()
  const taken = tested.take()
  const count = (type: unknown) => taken.filter((one) => one.type === type).length
  assert.deepEqual(
    [hostCpuType, hostMemoryType, hostPressureType, hostSoftnetType, hostLoadType, hostKernelType].map(count),
    [2, 1, 3, 2, 1, 1],
  )
  const cpu1 = taken.find(({ type, record }) => type === hostCpuType && record.cpu === '1')?.record
  const ticks = /^cpu1 (.*)$/m.exec(node.read('proc/stat'))?.[1]?.split(' ').map(Number)
  assert.deepEqual(
    Object.values(cpu1 ?? {}).slice(2),
    ticks?.map((value) => value / 100),
  )
  const machine = taken.find(({ type }) => type === hostMachineType)?.record
  assert.deepEqual([machine?.cpus, machine?.product, machine?.firmware_date], [2n, 'SYS-821GE-TNHR', '03/15/2024'])
  const memory = taken.find(({ type }) => type === hostMemoryType)?.record
  const available = /^MemAvailable: +(\d+) kB$/m.exec(node.read('proc/meminfo'))?.[1]
  assert.equal(memory?.available_bytes, BigInt(available ?? 0) * 1024n)
  const { hardware_corrupted_bytes: _, ...printed } = hostMemoryType.fields
  assert.deepEqual(Object.keys(memory ?? {}), Object.keys(printed), 'all that this kernel prints')
  assert.deepEqual(tested.failures, [])
})

test('a pressure that the kernel does not keep is absent, and no failure', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { resource: 'irq' }), [': unsupported'])
  node.write('proc/pressure/irq', fs.readFileSync(fixture('pressure-irq.txt'), 'utf8'))
  // Files that the kernel does not have are searched again in every sixteenth sweep.
  for (let sweep = 0; sweep < 16; sweep++) await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { resource: 'irq' }), [': ', 'waiting_seconds_total: unsupported'])
  const irq = taken.find(({ type, record }) => type === hostPressureType && record.resource === 'irq')
  assert.deepEqual(Object.keys(irq?.record ?? {}), ['time', 'resource', 'stalled_seconds_total'])
  assert.deepEqual(tested.failures, [])
})

test('a kernel that refuses its pressure files says how to turn them on', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['pressure'] })
  // The running kernel answers EINVAL here, a kernel started with psi=0 EOPNOTSUPP. Both mean that the kernel refuses.
  for (const resource of ['cpu', 'memory', 'io']) node.link(`proc/pressure/${resource}`, '/sys/class/net/lo/speed')
  await assert.rejects(tested.source.sample(), { code: 'SRC_READ' })
  const said = tested.take().find(({ type, record }) => type === absenceType && record.series === 'resource="cpu"')
  assert.equal(said?.record.code, 'unsupported')
  assert.match(String(said?.record.reason), /psi=1/)
})

test('a CPU that goes offline is gone from both its types, and comes back', async (t) => {
  const { node, tested } = bringUp(t)
  await tested.source.sample()
  tested.take()
  const stat = node.read('proc/stat')
  const softnet = node.read('proc/net/softnet_stat')
  node.write('proc/stat', stat.replace(/^cpu1 .*\n/m, ''))
  node.write('proc/net/softnet_stat', softnet.replace(/^.*\n/, ''))
  await tested.source.sample()
  let taken = tested.take()
  assert.deepEqual(TestedSource.absences(taken, { cpu: '1' }), [': gone'])
  assert.deepEqual(TestedSource.absences(taken, { cpu: '0' }), [': gone'], 'the line of softnet_stat says which')
  node.write('proc/stat', stat)
  node.write('proc/net/softnet_stat', softnet)
  await tested.source.sample()
  taken = tested.take()
  assert.equal(taken.filter(({ type }) => type === hostCpuType || type === hostSoftnetType).length, 4)
})

test('a line of stat that cannot be read makes no CPU gone', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['cpu'] })
  await tested.sampleOf(hostCpuType)
  const stat = node.read('proc/stat')
  node.write('proc/stat', stat.replace(/^cpu1 .*\n/m, 'cpu1 half\n'))
  for (let i = 0; i < 2; i++) assert.equal((await tested.sampleOf(hostCpuType)).length, 1)
  assert.equal(tested.failures.length, 2)
  node.write('proc/stat', stat)
  await tested.source.sample()
  assert.deepEqual(
    tested.take().map(({ type }) => type),
    [hostCpuType, hostCpuType],
  )
})

test('an old kernel’s softnet_stat takes its CPUs from stat, or is absent where the two disagree', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['softnet'] })
  node.write('proc/net/softnet_stat', fs.readFileSync(fixture('softnet-old.txt'), 'utf8'))
  node.write('proc/stat', node.read('proc/stat').replace('cpu1 ', 'cpu5 '))
  const records = await tested.sampleOf(hostSoftnetType)
  assert.deepEqual(
    records.map(({ cpu, dropped_total }) => [cpu, dropped_total]),
    [
      ['0', 1n],
      ['5', 2n],
    ],
  )
  node.write('proc/stat', node.read('proc/stat').replace(/^cpu5 .*\n/m, ''))
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), {}), [': failed'])
})

test('one file that is not there leaves the others, and says so once', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['memory', 'load'] })
  node.remove('proc/meminfo')
  await tested.source.sample()
  await tested.source.sample()
  const taken = tested.take()
  assert.equal(taken.filter(({ type }) => type === hostLoadType).length, 2)
  assert.deepEqual(TestedSource.absences(taken, {}), [': unsupported'])
  assert.deepEqual(tested.failures, [])
})

test('a field that the kernel does not print is absent as unsupported', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['memory', 'kernel'] })
  node.write('proc/meminfo', node.read('proc/meminfo').replace(/^MemAvailable.*\n/m, ''))
  node.write('proc/stat', node.read('proc/stat').replace(/^intr.*\n/m, ''))
  await tested.source.sample()
  const said = TestedSource.absences(tested.take(), {}).sort()
  const fields = ['available_bytes', 'hardware_corrupted_bytes', 'interrupts_total']
  assert.deepEqual(
    said,
    fields.map((field) => `${field}: unsupported`),
  )
})

test('reads only the parts of the configuration', async (t) => {
  const { tested } = bringUp(t, { parts: ['load'] })
  await tested.source.sample()
  assert.deepEqual(
    tested.take().map(({ type }) => type.name),
    ['host_load'],
  )
  assert.throws(() => bringUp(t, { parts: [] }), /at least one part/)
  assert.throws(() => bringUp(t, { parts: ['disc'] }))
})

test('reads this machine', { skip: !fs.existsSync('/proc/stat') }, async (t) => {
  const tested = new TestedSource(host, { procfs: '/proc', sysfs: '/sys' })
  t.after(() => tested.source.close())
  const [memory] = await tested.sampleOf(hostMemoryType)
  assert.ok(Number(memory?.total_bytes) > 0)
})

test('diskstats: bytes and seconds of whole disks, of old kernels too', () => {
  const vda = '254 0 vda 365057 31653 16904210 1170953 551882 354975 73415904 575685 2 155748 1816816'
  const table = text(`${vda} 319248 540 32891224 44215 107806 25962\n 254 1 vda1 1 2\n`)
  const { disks, malformed } = parseDiskstats(table, (device) => device !== 'vda1')
  assert.equal(malformed, undefined, 'lines of unwanted devices are not parsed')
  assert.deepEqual(disks, [
    {
      disk: 'vda',
      reads_total: 365057,
      reads_merged_total: 31653,
      read_bytes_total: 16904210n * 512n,
      read_seconds_total: 1170.953,
      writes_total: 551882,
      writes_merged_total: 354975,
      written_bytes_total: 73415904n * 512n,
      write_seconds_total: 575.685,
      in_flight: 2,
      io_seconds_total: 155.748,
      waiting_seconds_total: 1816.816,
      discards_total: 319248,
      discarded_bytes_total: 32891224n * 512n,
      flushes_total: 107806,
      flush_seconds_total: 25.962,
    },
  ])
  const old = parseDiskstats(text(`${vda}\n8 0 sda 1 2 three\n`))
  assert.equal(old.disks[0]?.discards_total, undefined)
  assert.equal(old.malformed, '8 0 sda 1 2 three')
})

test('vmstat: adds the stalls of all zones, and leaves out values that the kernel does not print', () => {
  assert.deepEqual(parseVmstat(text('pgfault 12\nallocstall_dma 1\nallocstall_normal 4\noom_kill 2\nnr_free 9\n')), {
    page_faults_total: 12,
    oom_kills_total: 2,
    allocation_stalls_total: 5,
  })
  assert.equal(parseVmstat(text('nr_free_pages 4\n')), 'has none of the counters')
})

test('snmp and netstat: names and numbers in pairs of lines', () => {
  const snmp = 'Tcp: RtoMin CurrEstab RetransSegs\nTcp: 200 7 18446744073709551615\nIp: InDiscards\nIp: -1\n'
  assert.deepEqual(parseProtocols(text(snmp), SNMP_FIELDS), {
    tcp_established: 7,
    tcp_retransmitted_segments_total: 18446744073709551615n,
  })
  assert.equal(
    parseProtocols(text('Tcp: CurrEstab\nUdp: 4\n'), SNMP_FIELDS),
    'holds a line of names without one of numbers',
  )
  assert.equal(parseProtocols(text(''), SNMP_FIELDS), 'has no counter of a protocol')
})

test('lists of CPUs: single ones and ranges, none that no kernel has', () => {
  assert.deepEqual(parseCpuList(text('0-2,7,9-10\n')), [0, 1, 2, 7, 9, 10])
  for (const wrong of ['', '1-', 'x', '0,,1', '-1', '0-99999', '1'.repeat(70_000)])
    assert.equal(parseCpuList(text(wrong)), undefined, wrong.slice(0, 9))
})

test('temperatures: thousandths of a degree, below zero too', () => {
  assert.equal(parseMillidegrees(text('41500\n')), 41.5)
  assert.equal(parseMillidegrees(text('-12000\n')), -12)
  for (const wrong of ['', '41.5', 'N/A', '--1']) assert.equal(parseMillidegrees(text(wrong)), undefined, wrong)
})

test('disks come by their patterns, and leave', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['disks'] })
  assert.deepEqual(
    (await tested.sampleOf(hostDiskType)).map(({ disk }) => disk),
    ['vda'],
    'loop and memory disks are left out by default',
  )
  const { tested: all } = bringUp(t, { parts: ['disks'], disks: [] })
  assert.deepEqual(
    (await all.sampleOf(hostDiskType)).map(({ disk }) => disk),
    ['loop0', 'loop1', 'vda', 'zram0'],
  )
  node.write('proc/diskstats', node.read('proc/diskstats').replace(/^.*vda.*\n/m, ''))
  await tested.source.sample()
  assert.deepEqual(TestedSource.absences(tested.take(), { disk: 'vda' }), [': gone'])
})

test('sensors are named after their device, those of cores are left out, and few are read at once', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['sensors'] })
  node.write('sys/class/hwmon/hwmon0/temp2_input', '99000\n')
  node.write('sys/class/hwmon/hwmon0/temp2_label', 'Core 0\n')
  node.remove('sys/class/hwmon/hwmon2')
  for (let i = 1; i < 8; i++) node.write(`sys/class/hwmon/hwmon2/temp${i}_input`, `${i}000\n`)
  node.write('sys/class/hwmon/hwmon2/name', 'acpitz\n')
  const sensors = (records: readonly RecordOf<typeof hostTemperatureType>[]) =>
    records.map(({ chip, chip_name, sensor, celsius }) => `${chip} ${chip_name} ${sensor} ${celsius}`)
  assert.deepEqual(sensors(await tested.sampleOf(hostTemperatureType)), [
    'coretemp.0 coretemp Package id 0 41',
    '0000:9a:00.0 mlx5 asic 57',
    'hwmon2 acpitz temp1 1',
    'hwmon2 acpitz temp2 2',
  ])
  await tested.source.sample()
  tested.take()
  assert.equal((await tested.sampleOf(hostTemperatureType)).length, 9, 'all have had their turn')
  node.remove('sys/class/hwmon/hwmon2')
  for (let i = 0; i < 16; i++) await tested.source.sample()
  const gone = TestedSource.absences(tested.take(), { chip: 'hwmon2', chip_name: 'acpitz', sensor: 'temp1' })
  assert.equal(gone.at(-1), ': gone')
  const { tested: none, node: bare } = bringUp(t, { parts: ['sensors', 'load'] })
  bare.remove('sys/class/hwmon')
  await none.source.sample()
  none.take()
  assert.deepEqual(
    [...none.absent],
    [
      ['host_temperature{}.', 'unsupported'],
      ['host_fan{}.', 'unsupported'],
      ['host_power{}.', 'unsupported'],
    ],
  )
  assert.deepEqual(none.failures, [])
})

test('fans and power meters come with their limits, and a meter that only averages does too', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['sensors'] })
  await tested.source.sample()
  const taken = tested.take()
  const of = (type: unknown) => taken.filter((one) => one.type === type).map(({ record: { time: _, ...rest } }) => rest)
  const place = { chip: 'ACPI000D:00', chip_name: 'power_meter' }
  assert.deepEqual(of(hostFanType), [
    { ...place, sensor: 'Fan wall 1', rpm: 9600, minimum_rpm: 1200, maximum_rpm: 14400 },
  ])
  assert.deepEqual(of(hostPowerType), [
    { ...place, sensor: 'chassis', watts: 1834, cap_watts: 3000, limit_watts: 3200, critical_watts: 3500 },
  ])
  node.write('sys/class/hwmon/hwmon2/power1_input', '1900000000\n')
  node.write('sys/class/hwmon/hwmon2/power2_input', '250000000\n')
  node.write('sys/class/hwmon/hwmon2/power2_label', 'chassis\n')
  for (let i = 0; i < 20; i++) await tested.source.sample()
  tested.take()
  assert.deepEqual(
    (await tested.sampleOf(hostPowerType)).map(({ sensor, watts }) => `${sensor} ${watts}`),
    ['chassis 1900', 'chassis power2 250'],
    'an input is newer than an average, and two of one name stay apart',
  )
})

test('thermal zones have the limits that the kernel acts at, and no others', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['thermal_zones'] })
  const zone = 'sys/class/thermal/thermal_zone1'
  node.write(`${zone}/type`, 'acpitz\n')
  node.write(`${zone}/temp`, '-5000\n')
  node.write(`${zone}/trip_point_0_type`, 'active\n')
  node.write(`${zone}/trip_point_0_temp`, '50000\n')
  node.write(`${zone}/trip_point_1_type`, 'critical\n')
  node.write(`${zone}/trip_point_1_temp`, '119000\n')
  node.write('sys/class/thermal/cooling_device0/type', 'Processor\n')
  const records = await tested.sampleOf(hostThermalZoneType)
  assert.deepEqual(
    records.map(({ time: _, ...values }) => values),
    [
      {
        zone: '0',
        kind: 'x86_pkg_temp',
        celsius: 43,
        passive_celsius: 85,
        hot_celsius: 95,
        critical_celsius: 105,
      },
      { zone: '1', kind: 'acpitz', celsius: -5, critical_celsius: 119 },
    ],
  )
  assert.equal(tested.absent.get('host_thermal_zone{zone="1",kind="acpitz"}.hot_celsius'), 'unsupported')
  assert.deepEqual(tested.failures, [])
})

test('memory errors are counted by module where the kernel does, by row of chips where not, and never twice', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['memory_errors', 'load'] })
  const edac = 'sys/devices/system/edac/mc'
  node.write(`${edac}/mc0/csrow0/ce_count`, '12\n')
  node.write(`${edac}/mc1/dimm0/dimm_label`, 'of a kernel that counts by row\n')
  await tested.source.sample()
  const taken = tested.take()
  const of = (type: unknown) => taken.filter((one) => one.type === type).map(({ record }) => record)
  assert.deepEqual(
    of(hostMemoryControllerType).map((one) => [
      ...[one.controller, one.name, one.corrected_errors_total, one.uncorrected_errors_total],
      ...[one.corrected_unplaced_total, one.uncorrected_unplaced_total, one.size_bytes],
    ]),
    [
      ['0', 'Skylake Socket#0 IMC#0', 12n, 0n, 2n, 0n, 2n ** 36n],
      ['1', 'Skylake Socket#1 IMC#0', 15n, 1n, 2n, 1n, 2n ** 36n],
    ],
  )
  assert.deepEqual(
    of(hostMemoryModuleType).map((one) => [
      ...[one.controller, one.module, one.corrected_errors_total, one.uncorrected_errors_total],
      ...[one.size_bytes, one.name, one.location, one.kind],
    ]),
    [
      ['0', 'dimm0', 0n, 0n, 2n ** 35n, 'CPU_SrcID#0_MC#0_Chan#0_DIMM#0', 'channel 0 slot 0', 'Registered-DDR4'],
      ['0', 'dimm1', 10n, 0n, 2n ** 35n, 'CPU_SrcID#0_MC#0_Chan#1_DIMM#0', 'channel 1 slot 0', 'Registered-DDR4'],
      ['1', 'csrow0', 13n, 1n, 2n ** 36n, '', undefined, 'Registered-DDR4'],
    ],
  )
  assert.deepEqual(tested.failures, [])
  node.remove('sys/devices/system/edac')
  for (let i = 0; i < 16; i++) await tested.source.sample()
  assert.ok(TestedSource.absences(tested.take(), { controller: '1', module: 'csrow0' }).includes(': gone'))
  assert.equal(tested.absent.get('host_memory_controller{}.'), 'unsupported')
})

test('a counter is reported when it was read, and shows the rate that it has', async (t) => {
  const clock = mockClock(t)
  const { node, tested } = bringUp(t, { parts: ['memory_errors', 'cpu_packages'] })
  const edac = 'sys/devices/system/edac/mc'
  const cpu = 'sys/devices/system/cpu'
  for (let i = 0; i < 24; i++) node.write(`${edac}/mc0/dimm${i}/dimm_ce_count`, '0\n')
  for (const [name, id] of Object.entries({ cpu0: '0', cpu1: '1' })) {
    node.write(`${cpu}/${name}/topology/physical_package_id`, `${id}\n`)
    node.write(`${cpu}/${name}/topology/core_siblings_list`, `${id}\n`)
  }
  const samples = new Map<string, { times: number[]; numbers: number[] }>()
  const startMs = clock.nowMs
  for (let sweep = 0; sweep < 40; sweep++) {
    const time = BigInt(clock.nowMs) * 1_000_000n
    const count = clock.nowMs - startMs
    for (let i = 0; i < 24; i++) node.write(`${edac}/mc0/dimm${i}/dimm_ce_count`, `${count}\n`)
    for (const name of ['cpu0', 'cpu1'])
      node.write(`${cpu}/${name}/thermal_throttle/package_throttle_count`, `${count}\n`)
    await tested.source.sample()
    const taken = tested.take().filter(({ type }) => type === hostMemoryModuleType || type === hostCpuPackageType)
    assert.ok(taken.length <= 8 + 1, 'only series whose turn it is are read')
    for (const { type, record } of taken) {
      if (type === hostMemoryModuleType && record.controller !== '0') continue
      const number = Number(type === hostCpuPackageType ? record.throttles_total : record.corrected_errors_total)
      assert.equal(number, count)
      assert.ok(Math.abs(Number((record.time as bigint) - time)) < 1e6, 'a reported value was read in this sample')
      const key = `${type.name} ${record.package ?? record.module}`
      const { times, numbers } = samples.get(key) ?? { times: [], numbers: [] }
      samples.set(key, { times: [...times, clock.nowMs], numbers: [...numbers, number] })
    }
    clock.advance(1000)
  }
  assert.equal(samples.size, 24 + 2)
  for (const [key, { times, numbers }] of samples) {
    assert.ok(times.length >= 8 && times.length <= 20, `${key} has turns: ${times.length} of 40`)
    for (const rate of ratesOf(times, numbers)) assert.ok(Math.abs(rate - 1000) < 1, `${key} shows ${rate}/s`)
  }
})

test('where samples are far apart more is read at once, so that a turn lasts no minute', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['memory_errors'] }, 10_000)
  for (let i = 0; i < 60; i++) node.write(`sys/devices/system/edac/mc/mc0/dimm${i}/dimm_ce_count`, '0\n')
  const seen = new Set<string>()
  for (let sweep = 0; sweep < 4; sweep++)
    for (const { controller, module } of await tested.sampleOf(hostMemoryModuleType))
      seen.add(`${controller} ${module}`)
  assert.ok(seen.size > 60, `${seen.size} in half a minute`)
})

test('throttling is told by package, each core once, and a core that cannot be read does not make the sum fall', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['cpu_packages', 'load'] })
  const cpu = 'sys/devices/system/cpu'
  // CPU 2 is the second thread of core 0; CPU 3 is in another socket, CPU 4 is offline.
  for (const [name, threads, all] of [
    ['cpu0', '0,2', '0-2'],
    ['cpu2', '0,2', '0-2'],
    ['cpu3', '3', '3'],
  ]) {
    node.write(`${cpu}/${name}/topology/physical_package_id`, name === 'cpu3' ? '1\n' : '0\n')
    node.write(`${cpu}/${name}/topology/core_siblings_list`, `${all}\n`)
    node.write(`${cpu}/${name}/topology/thread_siblings_list`, `${threads}\n`)
    node.write(`${cpu}/${name}/thermal_throttle/core_throttle_count`, '4\n')
  }
  node.write(`${cpu}/cpu4/online`, '0\n')
  const ofPackages = async () =>
    (await tested.sampleOf(hostCpuPackageType)).map((one) => [
      ...[one.package, one.throttles_total, one.throttled_seconds_total, one.core_throttles_total],
      ...[one.core_throttled_seconds_total, one.frequency_limit_hertz, one.frequency_max_hertz, one.governor],
    ])
  const first = ['0', 9n, 2.25, 9n, 0.32, 3.4e9, 3.8e9, 'performance']
  const second = ['1', undefined, undefined, 4n, undefined, undefined, undefined, undefined]
  assert.deepEqual(await ofPackages(), [first], 'one at a sweep')
  assert.deepEqual(await ofPackages(), [second], 'the first has no turn')
  assert.equal(tested.absent.get('host_cpu_package{package="1"}.throttles_total'), 'unsupported')
  node.write(`${cpu}/cpu0/thermal_throttle/core_throttle_count`, 'many\n')
  assert.deepEqual(await ofPackages(), [first])
  assert.equal(tested.failures.length, 1)
  assert.deepEqual(await ofPackages(), [second])
  const { node: virtual, tested: none } = bringUp(t, { parts: ['cpu_packages', 'load'] })
  for (const name of ['cpu0', 'cpu1'])
    for (const folder of ['thermal_throttle', 'cpufreq']) virtual.remove(`${cpu}/${name}/${folder}`)
  await none.source.sample()
  none.take()
  assert.deepEqual([...none.absent], [['host_cpu_package{}.', 'unsupported']])
})

test('a core that goes offline and comes back changes no sum', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['cpu_packages'] })
  const cpu = 'sys/devices/system/cpu'
  const write = (name: string, siblings: string, count: number) => {
    node.write(`${cpu}/${name}/topology/physical_package_id`, '0\n')
    node.write(`${cpu}/${name}/topology/core_siblings_list`, `${siblings}\n`)
    node.write(`${cpu}/${name}/topology/thread_siblings_list`, `${name.slice(3)}\n`)
    node.write(`${cpu}/${name}/thermal_throttle/core_throttle_count`, `${count}\n`)
  }
  const sums = async () => {
    const seen: unknown[] = []
    // The source lists the folders only every few samples.
    for (let sample = 0; sample < 20; sample++)
      for (const one of await tested.sampleOf(hostCpuPackageType)) seen.push(one.core_throttles_total)
    return [...new Set(seen)]
  }
  write('cpu0', '0-1', 1000)
  write('cpu1', '0-1', 1000)
  assert.deepEqual(await sums(), [2000n])
  for (const folder of ['topology', 'thermal_throttle']) node.remove(`${cpu}/cpu1/${folder}`)
  write('cpu0', '0', 1000)
  assert.deepEqual(await sums(), [2000n])
  write('cpu0', '0-1', 1000)
  write('cpu1', '0-1', 1001)
  assert.deepEqual(await sums(), [2000n, 2001n])
})

test('a slow series is skipped for a while, and does not delay the others', (t) => {
  const { context, reported } = contextOf(t)
  const reads = new Map<string, number>()
  const seriesOf = (zone: string, tookMs: number): FoundSeries => ({
    type: hostThermalZoneType,
    labels: { zone, kind: 'made' },
    place: zone,
    open: () => ({
      values: { celsius: 1 },
      read() {
        reads.set(zone, (reads.get(zone) ?? 0) + 1)
        const endMs = performance.now() + tookMs
        while (performance.now() < endMs);
      },
      close: () => undefined,
    }),
  })
  const series = [seriesOf('slow', 40), seriesOf('quick', 0)]
  const part = new SlowPart(new HostReader(context), {
    types: [[hostThermalZoneType, 'none']],
    limit: ['zone_limit', 8],
    readsPerSweep: 2,
    folder: ['class'],
    finder: () => () => series,
  })
  for (let i = 0; i < 30; i++) assert.ok(part.sample(wallNs()))
  assert.equal(reads.get('slow'), 2)
  assert.ok(Number(reads.get('quick')) > 10)
  assert.equal(reported(), 60, 'both are reported in each sweep')
})

test('a counter that is slow to read is reported only in the sweeps that read it, at least every half minute', (t) => {
  const clock = mockClock(t)
  const { context, reported } = contextOf(t)
  const readAt: number[] = []
  let sweep = 0
  const slow: FoundSeries = {
    type: hostMemoryModuleType,
    labels: { controller: '0', module: 'dimm0' },
    place: 'slow',
    open: () => ({
      values: { corrected_errors_total: 1 },
      read() {
        readAt.push(sweep)
        clock.advance(500)
      },
      close: () => undefined,
    }),
  }
  const part = new SlowPart(new HostReader(context), {
    types: [[hostMemoryModuleType, 'none']],
    limit: ['memory_limit', 8],
    readsPerSweep: 2,
    folder: ['class'],
    finder: () => () => [slow],
  })
  for (; sweep < 100; sweep++) assert.ok(part.sample(wallNs()))
  assert.deepEqual(readAt, [0, 1, 31, 61, 91])
  assert.equal(reported(), readAt.length)
})

test('a NUMA node has its memory and its pages, and leaves with them', async (t) => {
  const { node, tested } = bringUp(t, { parts: ['numa'] })
  const [record] = await tested.sampleOf(hostNumaType)
  const total = /MemTotal: +(\d+) kB/.exec(node.read('sys/devices/system/node/node0/meminfo'))?.[1]
  assert.equal(record?.total_bytes, BigInt(total ?? 0) * 1024n)
  assert.ok(Number(record?.local_pages_total) > 0)
  node.write('sys/devices/system/node/node1/meminfo', 'Node 1 MemTotal: 8 kB\n')
  node.write('sys/devices/system/node/node1/numastat', 'numa_miss 4\n')
  for (let i = 0; i < 10; i++) await tested.source.sample()
  tested.take()
  const both = await tested.sampleOf(hostNumaType)
  assert.deepEqual(
    both.map(({ numa_node: name, miss_pages_total }) => [name, miss_pages_total]),
    [
      ['0', 0n],
      ['1', 4n],
    ],
  )
  node.remove('sys/devices/system/node/node1')
  await tested.source.sample()
  assert.ok(TestedSource.absences(tested.take(), { numa_node: '1' }).includes(': gone'))
})
