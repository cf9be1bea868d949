import assert from 'node:assert/strict'
import { globSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice, type DoubleOptions } from '../../../../test/doubles/doca/doca-double.ts'
import { TELEMETRY } from '../native/doca/symbols.ts'
import { TestNode } from '../sources/test-node.ts'
import type { CheckResult } from './check.ts'
import { testDoca } from './doca/check-doca.ts'
import { DOCA_CHECKS } from './doca/checks.ts'
import type { FromTest } from './protocol.ts'
import { reportText } from './report.ts'
import { runSelfTest } from './run-self-test.ts'

const NEEDS = needs('cc')
/** Checks that a busy machine may fail. */
const OF_SPEED = /\.cost$|^phy\.module$|^diag\.on_demand$/

/** A device with something to read in each part. */
const FULL: DoubleDevice = {
  iface: 'eth7',
  mac: '02:00:00:00:00:07',
  bins: [1000],
  grows: {
    phy_counter_and_ber_info: { 'raw_errors.raw_errors_per_lane': 1000 },
    pci_perf_counters_1: { l0_to_recovery: 1000 },
  },
  algorithms: [{ slot: 0, description: 'DCQCN', counters: [['ecn', 0, 1000]] }],
  processes: [{ id: 1, name: 'app', threads: [{ id: 1, cycles: 1000 }] }],
}

/** A ConnectX-7 as the kernel shows it, with the values of the healthy double. */
function addDevice(node: TestNode, name: string, address: string): void {
  const adapter = `sys/devices/pci0000:97/${address}`
  const device = `sys/class/infiniband/${name}`
  const files = {
    [`${adapter}/vendor`]: '0x15b3',
    [`${adapter}/device`]: '0x1021',
    [`${adapter}/current_link_speed`]: '32.0 GT/s PCIe',
    [`${adapter}/current_link_width`]: '16',
    [`${device}/fw_ver`]: '28.43.1014',
    [`${device}/ports/1/state`]: '4: ACTIVE',
    [`${device}/ports/1/rate`]: '400 Gb/sec (4X NDR)',
    [`${device}/ports/1/counters/port_rcv_data`]: '1000',
    [`${device}/ports/1/counters/port_xmit_data`]: '1000',
    [`${device}/ports/1/counters/link_error_recovery`]: '0',
  }
  for (const [path, text] of Object.entries(files)) node.write(path, `${text}\n`)
  node.link(`${device}/device`, `../../../devices/pci0000:97/${address}`)
}

/** A node with devices of the double. */
function nodeOf(t: TestContext, devices: Readonly<Record<string, DoubleDevice>>, options: DoubleOptions = {}) {
  const double = new DocaDouble(t, options)
  double.play(devices)
  const node = new TestNode(t)
  node.write('proc/sys/kernel/osrelease', '6.15.0-test\n')
  node.write('proc/sys/kernel/tainted', '0\n')
  for (const [at, name] of Object.keys(devices).entries()) addDevice(node, name, `0000:9a:00.${at}`)
  return { double, node, paths: { ...node.paths, doca_library: double.folder } }
}

/** Finds the verdict of a check in words. */
function verdictIn(results: readonly CheckResult[], check: string, device: number): string {
  const found = results.find((result) => result.check === check && result.device === device)
  return Object.values(found?.verdict ?? {}).join(': ')
}

/** Makes all checks in this process. `during` is called with each message. */
async function checked(
  { paths }: ReturnType<typeof nodeOf>,
  {
    acceptsTaint = false,
    during = () => undefined,
  }: { acceptsTaint?: boolean; during?: (told: FromTest) => void } = {},
) {
  const results: CheckResult[] = []
  const plan = { library: 'doca', paths, acceptsTaint, pauseMs: 2, skipped: [], made: [] } as const
  await testDoca(plan, (message) => {
    during(message)
    if (message.kind === 'result') results.push(message.result)
  })
  const failed = results.filter(({ check, verdict }) => verdict.state === 'failed' && !OF_SPEED.test(check))
  return { results, failed, of: (check: string, device = 1) => verdictIn(results, check, device) }
}

test('no check of a healthy device fails, and none changes anything', NEEDS, async (t) => {
  const started = nodeOf(t, { mlx5_0: FULL, mlx5_1: FULL })
  const { results, failed, of } = await checked(started)
  assert.deepEqual(failed, [])
  const made = new Set(results.map(({ check }) => check))
  assert.deepEqual([...made].sort(), Object.keys(DOCA_CHECKS).sort())
  assert.match(of('phy.link', 2), /^passed: up, 400 Gbit\/s, 4 lanes/)
  assert.equal(of('phy.monotony'), 'passed: 7 counters in 5 readings')
  assert.match(of('phy.traffic'), /^not possible: nothing was sent or received: run ib_write_bw/)
  assert.match(of('library.parallel', 0), /^passed: two devices at once/)
  assert.match(of('diag.ids'), /^not possible: left out: sampling taints the kernel .*--accept-taint makes/)
  const { double } = started
  assert.deepEqual([double.total('opens'), double.total('contexts'), double.total('lists')], [0, 0, 0])
  assert.deepEqual(globSync('dpa-*', { cwd: double.folder }), [], 'no counter was started')
})

test('under traffic each part reports which counters moved', NEEDS, async (t) => {
  const started = nodeOf(t, { mlx5_0: FULL })
  const counter = 'sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data'
  let words = 1000
  const traffic = setInterval(() => started.node.write(counter, `${++words}\n`), 1)
  t.after(() => clearInterval(traffic))
  const { of } = await checked(started)
  assert.match(of('phy.traffic'), /^passed: moved: raw_errors of lane 0; did not move: link_downs, /)
  assert.match(of('pci.traffic'), /^passed: moved: recoveries; did not move: /)
  assert.equal(of('pcc.traffic'), 'passed: moved: 0: ecn; did not move: none')
  assert.match(of('adp_retx.traffic'), /^passed: moved: bin 0; did not move: bin 1, /)
})

test('with the taint accepted the diagnostic counters are sampled', NEEDS, async (t) => {
  const started = nodeOf(t, { mlx5_0: FULL })
  const taint = (bits: number) => started.node.write('proc/sys/kernel/tainted', `${bits}\n`)
  const { failed, of } = await checked(started, {
    acceptsTaint: true,
    during: (message) => message.kind === 'result' && message.result.check === 'diag.ids' && taint(2 ** 19),
  })
  assert.deepEqual(failed, [])
  assert.equal(of('diag.ids'), 'passed: 64 sampled; refused: none')
  assert.equal(of('diag.taint'), 'passed: the taint is 524288, and was 0')
  assert.equal(of('diag.layout'), 'passed: 528 bytes for 64 counters')
  assert.equal(of('diag.ownership'), 'passed: IN_USE')
  assert.match(of('diag.clock'), /^passed: \d+ samples 100000 ns apart/)
  assert.match(of('diag.directions'), /^not possible: as much was sent as received/)
  assert.equal(of('diag.monotony'), 'passed: 62 counters in 5 readings')
})

/** Hardware that differs from an assumption, and the verdict of the check that finds it. */
const DIFFERENT: Readonly<
  Record<
    string,
    {
      readonly device?: DoubleDevice
      readonly sysfs?: Record<string, string>
      readonly told: readonly [string, RegExp]
    }
  >
> = {
  'the link has another speed than the driver says': {
    sysfs: { 'ports/1/rate': '200 Gb/sec (2X NDR)' },
    told: ['phy.link', /^failed: up, 200 Gbit\/s: up, 400 Gbit\/s/],
  },
  'the link is down for the driver': {
    sysfs: { 'ports/1/state': '1: DOWN' },
    told: ['phy.link', /^failed: down: up, 4 lanes/],
  },
  'the driver counts other recoveries': {
    sysfs: { 'ports/1/counters/link_error_recovery': '3' },
    told: ['phy.recoveries', /^failed: 3 as the driver counts: 0$/],
  },
  'the name of the module is no text': {
    device: { structures: { phy_module_info: { 'cable_vendor_info.vendor_name': '\x7f\x01\xff' } } },
    told: ['phy.module', /^failed: names in ASCII/],
  },
  'no cable is plugged': {
    device: { facts: { cable: 0 } },
    told: ['phy.module', /^not possible: .*NOT_CONNECTED, no cable/],
  },
  'a module answers too late': {
    device: { faults: ['cost doca_telemetry_phy_get_module_info 1100000 sleep'] },
    told: ['phy.module', /^failed: .*within 1000 ms: NVIDIA/],
  },
  'a reading is slow': {
    device: { faults: ['cost doca_telemetry_phy_get_counter_and_ber_info 60000 sleep'] },
    told: ['phy.cost', /^failed: less than 50 ms: median \d{5,} µs/],
  },
  'the PCIe link is narrower for the kernel': {
    device: {},
    sysfs: { 'device/current_link_width': '8' },
    told: ['pci.place', /^failed: generation 5, 8 lanes: generation 5, 16 lanes$/],
  },
  'the PCIe link has another place': {
    device: { facts: { pci_depth: 1 } },
    told: ['pci.place', /^failed: .* at 0\.0\.0: INVALID_VALUE: no link at 0\.0\.0; mlxlink/],
  },
  'events of stalls rise fast': {
    device: { grows: { pci_perf_counters_1: { outbound_stalled_writes_events: 100_000 } } },
    told: ['pci.stalls', /^failed: at most one event a second/],
  },
  'FBER is no ratio': {
    device: { structures: { pci_perf_counters_1: { fber_magnitude: 1, fber_coef: 200 } } },
    told: ['pci.fber', /^failed: a ratio up to 1: FBER 20/],
  },
  'the device has no congestion control': {
    device: { facts: { pcc: 0 } },
    told: ['pcc.capabilities', /^not possible: doca_telemetry_pcc_cap_is_supported answers NOT_SUPPORTED/],
  },
  'nothing runs on the accelerator': { device: { processes: [] }, told: ['dpa.start', /^passed: DRIVER$/] },
  'an accelerator starts without a process': {
    device: { processes: [], facts: { dpa_needs_process: 0 } },
    told: ['dpa.start', /^failed: DRIVER without a process: it starts$/],
  },
  'lists of an accelerator are huge': {
    device: { faults: ['claim doca_telemetry_dpa_get_thread_list_size 8000000'] },
    told: ['dpa.lists', /^failed: lists up to 4194304 bytes: .*threads 8000000/],
  },
  'a device refuses the user': {
    device: { faults: ['error doca_telemetry_phy_cap_is_supported DOCA_ERROR_OPERATING_SYSTEM'] },
    told: ['phy.capabilities', /^not possible: .*OPERATING_SYSTEM, no permission/],
  },
  'firmware refuses a command': {
    device: { faults: ['error doca_telemetry_phy_get_operation_info DOCA_ERROR_DRIVER'] },
    told: ['phy.link', /^failed: no DRIVER: /],
  },
}

for (const [what, { device = {}, sysfs = {}, told }] of Object.entries(DIFFERENT)) {
  test(`${what}: ${told[0]} reports it`, NEEDS, async (t) => {
    const started = nodeOf(t, { mlx5_0: { ...FULL, ...device } })
    for (const [path, text] of Object.entries(sysfs))
      started.node.write(`sys/class/infiniband/mlx5_0/${path}`, `${text}\n`)
    const { of } = await checked(started)
    assert.match(of(told[0]), told[1])
  })
}

test('a counter that another program started on the accelerator is reported as active', NEEDS, async (t) => {
  const started = nodeOf(t, { mlx5_0: FULL })
  writeFileSync(join(started.double.folder, 'dpa-mlx5_0-1'), '0')
  const { of } = await checked(started)
  assert.match(of('dpa.ownership'), /^passed: counters of 1 process: 1 started by other programs, 0 by Sonde/)
  assert.equal(of('dpa.monotony'), 'passed: 3 counters in 5 readings')
})

test('a library without the functions of a domain is found', NEEDS, async (t) => {
  const without = Object.keys(TELEMETRY).filter((name) => name.includes('_pcc_'))
  const started = nodeOf(t, { mlx5_0: FULL }, { without })
  const { of } = await checked(started)
  assert.match(of('library.domains', 0), /^failed: functions of all six domains: none of pcc; \d+ of \d+ functions/)
  assert.match(of('pcc.names'), /^not possible: see pcc\.capabilities$/)
})

test('a hang and a crash cost the rest of their part, and the report identifies nobody', NEEDS, async (t) => {
  const { paths } = nodeOf(t, {
    mlx5_0: { ...FULL, faults: ['hang doca_telemetry_phy_get_module_info'] },
    mlx5_1: { ...FULL, faults: ['segv doca_telemetry_pci_read_perf_counters_1'] },
  })
  const progress: string[] = []
  const report = await runSelfTest('doca', {
    paths,
    acceptsTaint: false,
    pauseMs: 1,
    checkLimitMs: 2000,
    onResult: ({ check, device }) => progress.push(`${check} ${device}`),
  })
  const of = (check: string, device: number) => verdictIn(report.results, check, device)
  assert.equal(of('phy.module', 1), 'failed: an answer: no answer within 2 s')
  assert.equal(of('phy.cost', 1), 'not possible: left out, because no answer within 2 s')
  assert.match(of('pci.place', 1), /^passed/)
  assert.match(of('pci.fber', 2), /^failed: an answer: the process ended with SIGSEGV$/)
  assert.match(of('dpa.layout', 2), /^passed/)
  assert.equal(new Set(progress).size, progress.length, 'no check is made twice')
  const text = reportText(report, [{ of: 'Sonde', value: '0.1.0' }])
  assert.match(
    text,
    /^# Self-test of the DOCA .*\n\n(.*\n)+\| Device 1 \| ConnectX-7, firmware 28\.43\.1014, 400 Gbit\/s \|\n/,
  )
  assert.match(text, /\n## Failed\n\n\| Check \| Device \| Expected \| Found \|\n/)
  const secrets = ['mlx5_0', 'eth7', '02:00:00', '9a:00', '10:00', 'MT2351FT17300', hostname(), userInfo().username]
  for (const secret of secrets)
    assert.ok(!new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(text), `${secret} in ${text}`)
})

test('a node without device, and a node without library, have a report too', NEEDS, async (t) => {
  const { paths, double } = nodeOf(t, {})
  const nothing = async () => {
    const told: string[] = []
    const plan = { library: 'doca', paths, acceptsTaint: false, pauseMs: 2, skipped: [], made: [] } as const
    await testDoca(plan, (message) => message.kind === 'nothing' && told.push(message.reason))
    return reportText({ library: 'doca', facts: [], results: [], nothing: told.join(), seconds: 1 }, [])
  }
  assert.match(await nothing(), /\nNothing could be tested: .*NOT_FOUND, no RDMA device is there.*\n$/)
  rmSync(double.telemetry)
  assert.match(await nothing(), /\nNothing could be tested: .*no libdoca_telemetry\.so\.2 in it; install.*\n$/)
})
