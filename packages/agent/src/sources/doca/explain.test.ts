import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ExplainWalk } from '@sonde/sdk/api'
import { absenceType } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble } from '../../../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { serveAgent } from '../../../test/served-agent.ts'
import { ask, brokenLinkFor, type ChainOptions, testConfig } from '../../explain/test-chains.ts'
import { ReadRefusal } from '../chains/chain-context.ts'
import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaTelemetryDiag } from '../doca-telemetry-diag/doca-telemetry-diag.ts'
import { docaTelemetryDpa } from '../doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { StartNotes } from '../doca-telemetry-dpa/start-notes.ts'
import { docaTelemetryPcc } from '../doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { SOURCES } from '../registry.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { findDocaLibrary } from './find-library.ts'
import { UNOBTAINABLE } from './unobtainable.ts'
import { docaVersions } from './versions.ts'

const NEEDS = needs('cc')
const DEVICE = 'sys/class/infiniband/mlx5_0'
const ADAPTER = 'sys/devices/pci0000:97/0000:9a:00.0'
const DENIED = new ReadRefusal('denied', 'EACCES')

/** Writes the files of a healthy adapter with made-up values. */
function writeAdapter(node: TestNode, number = 0): void {
  const [device, adapter] = [DEVICE.replace('0', `${number}`), ADAPTER.replace(/0$/, `${number}`)]
  const files = {
    [`${adapter}/vendor`]: '0x15b3',
    [`${adapter}/class`]: '0x020000',
    [`${adapter}/net/eth${number}/mtu`]: '4200',
    [`${adapter}/fwctl/fwctl${number}/dev`]: `511:${number}`,
    [`${adapter}/infiniband_verbs/uverbs${number}/dev`]: `231:${192 + number}`,
    [`sys/class/fwctl/fwctl${number}/dev`]: `511:${number}`,
    [`dev/fwctl/fwctl${number}`]: '',
    [`dev/infiniband/uverbs${number}`]: '',
    [`${device}/fw_ver`]: '28.43.1014',
    [`${device}/ports/1/counters/port_xmit_data`]: '1000',
    [`${device}/ports/1/counters/port_rcv_data`]: '0',
  }
  for (const [path, text] of Object.entries(files)) node.write(path, `${text}\n`)
  const place = adapter.replace(/^sys/, '')
  node.link(`${adapter}/driver`, '../../../bus/pci/drivers/mlx5_core')
  node.link(`${device}/device`, `../../..${place}`)
  node.link(`sys/bus/pci/devices/${basename(adapter)}`, `../../..${place}`)
}

/** A node with one healthy ConnectX-7. None of its files is a library. */
function nodeOf(t: TestContext): { node: TestNode; library: string } {
  const node = new TestNode(t)
  node.write('proc/sys/kernel/osrelease', '6.15.0-test\n')
  writeAdapter(node)
  const library = mkdtempSync(join(tmpdir(), 'sonde-doca-'))
  t.after(() => rmSync(library, { recursive: true }))
  for (const name of ['telemetry', 'common']) {
    writeFileSync(join(library, `libdoca_${name}.so.2.10.0087`), '')
    symlinkSync(`libdoca_${name}.so.2.10.0087`, join(library, `libdoca_${name}.so.2`))
  }
  return { node, library }
}

const DEFINITIONS = [docaTelemetryAdpRetx, docaTelemetryDiag]
const CONFIGURED = DEFINITIONS.map((definition) => testConfig(definition))
const askedOf = (library: string): ChainOptions => ({ definitions: DEFINITIONS, configured: CONFIGURED, library })

test('a healthy device reports its versions and its traffic', async (t) => {
  const { node, library } = nodeOf(t)
  for (const wanted of ['mlx5_0', 'eth0', '0000:9a:00.0', 'doca_adp_retx_packets{device="mlx5_0"}']) {
    const [chain] = await ask(node, wanted, askedOf(library))
    const answers = Object.fromEntries(chain?.links.map(({ name, answer }) => [name, answer]) ?? [])
    assert.equal(answers.library, 'DOCA 2.10.0087', wanted)
    assert.equal(answers['driver version'], 'mlx5_core of kernel 6.15.0-test')
    assert.equal(answers.firmware, '28.43.1014, of a ConnectX-7')
    assert.match(answers.traffic ?? '', /^4\.00 kB since the driver was loaded/)
    assert.equal(
      chain?.links.some(({ state }) => state === 'broken'),
      false,
    )
  }
})

/** Faults, and the link that reports each: its name, its answer and its fix. */
const FAULTS: Readonly<
  Record<
    string,
    { readonly strike: (node: TestNode, library: string) => void; readonly told: readonly [string, RegExp, RegExp] }
  >
> = {
  'no library is installed': {
    strike: (_node, library) => rmSync(join(library, 'libdoca_telemetry.so.2')),
    told: ['library', /no libdoca_telemetry\.so\.2 in it/, /^install doca-sdk-telemetry, or set its path with native/],
  },
  'the common library is missing': {
    strike: (_node, library) => rmSync(join(library, 'libdoca_common.so.2')),
    told: ['library', /no libdoca_common\.so\.2 beside/, /^install doca-sdk-common$/],
  },
  'the kernel has no RDMA device': {
    strike(node) {
      node.unlink(`${DEVICE}/device`)
      node.remove('sys/class/infiniband')
    },
    told: ['file', /mlx5_core drives 1 adapter/, /^sudo modprobe mlx5_ib$/],
  },
  'no driver is bound': {
    strike: (node) => node.unlink(`${ADAPTER}/driver`),
    told: ['driver', /^no driver is bound$/, /^sudo modprobe mlx5_core$/],
  },
  'mlx5_fwctl is not loaded': {
    strike(node) {
      node.remove('sys/class/fwctl')
      node.remove(`${ADAPTER}/fwctl`)
    },
    told: ['device node', /mlx5_fwctl is not loaded/, /^sudo modprobe mlx5_fwctl$/],
  },
  'a virtual function has no fwctl node': {
    strike(node) {
      node.remove(`${ADAPTER}/fwctl`)
      node.link(`${ADAPTER}/physfn`, '../0000:9a:00.1')
    },
    told: ['device node', /^mlx5_0 has no fwctl node$/, /^not possible: .* physical function$/],
  },
  'the driver of a physical function offers no fwctl node': {
    strike: (node) => node.remove(`${ADAPTER}/fwctl`),
    told: ['device node', /^mlx5_0 has no fwctl node$/, /^look in dmesg for fwctl: /],
  },
  'the container lacks /dev/fwctl': {
    strike: (node) => node.remove('dev/fwctl'),
    told: ['device node', /ENOENT: nothing is there/, /^mount .*dev\/fwctl of the node into the container$/],
  },
  'the container lacks /dev/infiniband': {
    strike: (node) => node.remove('dev/infiniband'),
    told: ['device node', /ENOENT: nothing is there/, /^mount .*dev\/infiniband of the node into the container$/],
  },
  'ib_uverbs is not loaded': {
    strike: (node) => node.remove(`${ADAPTER}/infiniband_verbs`),
    told: ['device node', /no node of verbs/, /^sudo modprobe ib_uverbs$/],
  },
  'the firmware is too old': {
    strike: (node) => node.write(`${DEVICE}/fw_ver`, '28.42.2000\n'),
    told: [
      'firmware',
      /^28\.42\.2000 is older than 28\.43\.1000, which DOCA Telemetry needs on a ConnectX-7$/,
      /28\.43\.1000/,
    ],
  },
  'the firmware of a BlueField-3 is too old': {
    strike: (node) => node.write(`${DEVICE}/fw_ver`, '32.43.0999\n'),
    told: ['firmware', /on a BlueField-3$/, /32\.43\.1000/],
  },
  'the firmware of a ConnectX-8 is too old': {
    strike: (node) => node.write(`${DEVICE}/fw_ver`, '40.42.1000\n'),
    told: ['firmware', /on a ConnectX-8$/, /40\.43\.1000/],
  },
  'telemetry returns zeros': {
    strike: (node) => node.write(`${DEVICE}/ports/1/counters/port_xmit_data`, '0\n'),
    told: [
      'traffic',
      /^no byte was ever received or sent$/,
      /^run ib_write_bw .* counters are 0 while nothing is sent$/,
    ],
  },
}

for (const [what, { strike, told }] of Object.entries(FAULTS)) {
  test(`${what}: every DOCA source reports the fault and its fix`, async (t) => {
    const { node, library } = nodeOf(t)
    strike(node, library)
    for (const { name: source } of DEFINITIONS) {
      const { name, answer, fix = '' } = await brokenLinkFor(node, source, askedOf(library))
      assert.equal(name, told[0], answer)
      assert.match(answer, told[1])
      assert.match(fix, told[2])
    }
  })
}

test('a user without permission sees the node and the command that permits it', async (t) => {
  const { node, library } = nodeOf(t)
  const refused = { 'fwctl/fwctl0': DENIED }
  const { name, tried, answer, fix } = await brokenLinkFor(node, 'mlx5_0', { ...askedOf(library), refused })
  assert.deepEqual([name, tried], ['permission', `${node.paths.devfs}/fwctl/fwctl0`])
  assert.match(answer, /^EACCES: not permitted: read and write permission is needed$/)
  assert.match(fix ?? '', /^sudo setfacl -m u:\S+:rw \S+\/fwctl\/fwctl0, or run Sonde as root$/)
})

test('the firmware of an unknown adapter is not judged', async (t) => {
  const { node, library } = nodeOf(t)
  node.write(`${DEVICE}/fw_ver`, '22.31.1014\n')
  const [chain] = await ask(node, 'mlx5_0', askedOf(library))
  const link = chain?.links.find(({ name }) => name === 'firmware')
  assert.deepEqual(
    [link?.state, link?.answer],
    ['unknown', '22.31.1014; NVIDIA names ConnectX-7, BlueField-3, ConnectX-8 and newer'],
  )
})

test('an unknown device is refused, and the existing devices are listed', async (t) => {
  const { node, library } = nodeOf(t)
  mkdirSync(join(node.root, 'sys/class/other'), { recursive: true })
  const link = await brokenLinkFor(node, 'doca_adp_retx_packets{device="../other"}', askedOf(library))
  assert.equal(link.answer, 'none is called ../other')
  await assert.rejects(
    ask(node, 'mlx5_9', askedOf(library)),
    /no source, device, metric, pod or rule is called "mlx5_9"; nearest: mlx5_0/,
  )
})

test('a device that the option devices selects by its address is read', async (t) => {
  const { node, library } = nodeOf(t)
  for (const devices of [['0000:9a:00.0'], ['eth0'], ['mlx5_*']]) {
    const configured = [testConfig(docaTelemetryAdpRetx, { devices })]
    const [chain] = await ask(node, 'mlx5_0', { ...askedOf(library), definitions: [docaTelemetryAdpRetx], configured })
    assert.equal(chain?.links[0]?.state, 'ok', devices.join())
  }
})

test('a metric of the recipe that is not available is explained with its replacement, as on its page', async (t) => {
  const { node, library } = nodeOf(t)
  const page = readFileSync(new URL('../../../../../docs/doca.md', import.meta.url), 'utf8')
  const known = new Set(SOURCES.flatMap(({ types }) => types.flatMap(({ metrics }) => [...metrics.values()])))
  for (const [metric, { why, instead }] of Object.entries(UNOBTAINABLE)) {
    const link = await brokenLinkFor(node, metric, askedOf(library))
    assert.deepEqual([link.answer, link.fix], [why, `not possible; use ${instead.join(' or ')}`])
    for (const name of [metric, ...instead]) assert.ok(page.includes(name), `docs/doca.md has ${name}`)
    assert.deepEqual([...instead.filter((name) => !known.has(name)), known.has(metric)], [false], metric)
  }
})

test('reports the versions of library, driver, firmware and kernel, and why a version is unknown', async (t) => {
  const { node, library } = nodeOf(t)
  const told = async () => {
    const versions = await docaVersions({ ...node.paths, doca_library: library })
    return Object.fromEntries(versions.map(({ of, version }) => [of, version]))
  }
  node.write('proc/sys/kernel/tainted', '528385\n')
  node.write('sys/module/mlx5_core/version', '24.10-0.7.0\n')
  assert.deepEqual(await told(), {
    DOCA: '2.10.0087',
    driver: 'mlx5_core 24.10-0.7.0, kernel 6.15.0-test',
    'firmware of mlx5_0': '28.43.1014',
    'kernel taint': '528385, a proprietary module, a module from outside, debugging through fwctl',
  })
  node.write('proc/sys/kernel/tainted', '0\n')
  node.remove(`${DEVICE}/fw_ver`)
  const { 'kernel taint': taint, 'firmware of mlx5_0': firmware } = await told()
  assert.deepEqual([taint, firmware], ['none', 'ENOENT: nothing is there'])
})

// The common issues of the recipe for Kubernetes that have no fault above.

/** Adapters without congestion control, and the advice for each. */
const WITHOUT_PCC: Readonly<Record<string, readonly [partId: string, advice: RegExp]>> = {
  'a ConnectX-6 Dx': ['0x101d', /needs a BlueField-3 or newer; .*; this is a ConnectX-6 Dx$/],
  'a BlueField-3': ['0xa2dc', /; this is a BlueField-3: switch it on with `mlxconfig .*USER_PROGRAMMABLE_CC=1`/],
  'an adapter that is not listed': ['0xffff', /a ConnectX-7 supports a part of it$/],
}

for (const [what, [partId, advice]] of Object.entries(WITHOUT_PCC)) {
  test(`congestion control is not available on ${what}: the advice fits the adapter`, NEEDS, async (t) => {
    const { node } = nodeOf(t)
    node.write(`${ADAPTER}/device`, `${partId}\n`)
    const double = new DocaDouble(t)
    double.play({ mlx5_0: { facts: { pcc: 0 } } })
    const tested = new TestedSource(docaTelemetryPcc, { ...node.paths, doca_library: double.folder })
    t.after(() => tested.source.close())
    await tested.source.sample()
    const [absence = assert.fail('no reason')] = tested.take().filter(({ type }) => type === absenceType)
    assert.match(String(absence.record.reason), advice)
    // The source fails with the same words, which explain shows.
    await assert.rejects(tested.source.sample(), advice)
  })
}

test('explain answers for each adapter of a node why it has no congestion control', NEEDS, async (t) => {
  const { node } = nodeOf(t)
  for (const [number, part] of ['0x101d', '0x1021', '0xa2dc'].entries()) {
    if (number > 0) writeAdapter(node, number)
    node.write(`${ADAPTER.replace(/0$/, `${number}`)}/device`, `${part}\n`)
  }
  // Without this function its values count as those of hardware.
  const double = new DocaDouble(t, { without: ['sonde_doca_double'] })
  double.play({ mlx5_0: { facts: { pcc: 0 } }, mlx5_1: { facts: { pcc: 0 } }, mlx5_2: {} })
  const paths = { ...node.paths, doca_library: double.folder }
  const { address } = await serveAgent(t, { sources: [docaTelemetryPcc], paths })
  const words = async (device: string) => {
    const of = encodeURIComponent(`doca_pcc_events_total{rdma_device="${device}"}`)
    const answer = await fetch(`${address}/api/v1/explain?of=${of}`)
    const { links = [] } = (await answer.json()) as Partial<ExplainWalk>
    return links.map((link) => `${link.name}: ${link.answer}`).join('\n')
  }
  const told: Readonly<Record<string, RegExp>> = {
    mlx5_0: /needs a BlueField-3 or newer; .*; this is a ConnectX-6 Dx$/m,
    mlx5_1: /; this is a ConnectX-7: switch it on with `mlxconfig -d DEVICE set USER_PROGRAMMABLE_CC=1`/,
    mlx5_2: /no slot of the device has an algorithm; a program loads it with DOCA PCC/,
  }
  for (const [device, reason] of Object.entries(told)) {
    await until(`${device} is explained`, async () => reason.test(await words(device)))
  }
})

test('diagnostic counters take processor time: explain shows where the cost is read, and what lowers it', async (t) => {
  const { node, library } = nodeOf(t)
  const [chain] = await ask(node, 'doca_telemetry_diag', askedOf(library))
  const cost = chain?.links.find(({ name }) => name === 'cost')?.answer ?? ''
  assert.match(cost, /list fewer counters, raise sample_period_us, or raise interval_ms to 5000$/)
  const metrics = docaTelemetryDiag.types.flatMap(({ metrics }) => [...metrics.values()])
  const [metric = assert.fail('no metric is named')] = /doca_\w+/.exec(cost) ?? []
  assert.ok(metrics.includes(metric))
})

test('counters of the accelerator that another Sonde started name it, and only while it runs', async (t) => {
  const { node, library } = nodeOf(t)
  const found = findDocaLibrary(library)
  if (typeof found === 'string') assert.fail(found)
  const notes = StartNotes.of({ address: '0000:9a:00.0', device: 'mlx5_0', library: found.telemetry })
  const configured = [testConfig(docaTelemetryDpa)]
  const answer = async () => {
    const [chain] = await ask(node, 'doca_telemetry_dpa', { definitions: [docaTelemetryDpa], configured, library })
    return chain?.links.find(({ name }) => name === 'ownership')?.answer ?? ''
  }
  assert.match(await answer(), /^no running Sonde has started a counter; /)
  notes.write(7)
  t.after(() => notes.remove(7))
  const starter = `\\(process ${process.pid}\\), which stops it at its end$`
  assert.match(await answer(), new RegExp(`^the counter of process 7 was started by .* ${starter}`))
  notes.remove(7)
  assert.match(await answer(), /^no running Sonde/)
})
