import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { Random, SEED } from '../../../test/random.ts'
import { counter, createSource, defineType, label, type PrometheusOptions, SondeError } from '../../index.ts'
import { absenceType } from '../../internal/index.ts'
import { parseLabelFile } from './label-file.ts'

const port = defineType('port', 'A port', { device: label(), rx_total: counter('u64') })
const event = defineType('event', 'An event', { device: label(), nic: label(), n_total: counter('u64') })
const node = defineType('node', 'A node', { n_total: counter('u64') })

const INI = `# Racks of hall 2
[global_labels]
pod=1
rack=0
[device_labels]
0000:03:00.0=rail|0|plane|0|device_type|physical
0000:3A:00.0=rail|1|rack|9
[device_mapping]
tool0=0000:03:00.0
[data_types_mapping]
event=nic|mst
`

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-labels-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A sysfs with a network interface at one address and a port of RDMA at another. */
function sysfs(t: TestContext): string {
  const root = folder(t)
  for (const [path, target] of [
    ['class/net/eth0/device', 'devices/pci0000:00/0000:00:01.0/0000:03:00.0/virtio0'],
    ['class/infiniband/mlx5_0/device', 'devices/pci0000:00/0000:3a:00.0'],
    ['class/net/veth0/device', 'devices/virtual'],
  ] as const) {
    mkdirSync(join(root, target), { recursive: true })
    mkdirSync(dirname(join(root, path)), { recursive: true })
    symlinkSync(join(root, target), join(root, path))
  }
  return root
}

function rigOf(t: TestContext, file: string, options: PrometheusOptions = {}): PrometheusRig {
  const path = join(folder(t), 'labels')
  writeFileSync(path, file)
  return new PrometheusRig({ metadataFile: path, sysfs: sysfs(t), ...options })
}

async function seriesOf(rig: PrometheusRig): Promise<string[]> {
  return (await rig.lines()).map((line) => line.slice(0, line.lastIndexOf(' ')))
}

test('labels of everything, and those of a device by its PCI address, are found through the interface or the RDMA device', async (t) => {
  const rig = rigOf(t, INI)
  const devices = ['eth0', 'mlx5_0', 'veth0', '0000:03:00.0', '../../etc', 'lost']
  rig.report(rig.source(), port, ...devices.map((device) => ({ device, rx_total: 1 })))
  assert.deepEqual(await seriesOf(rig), [
    'port_rx_total{device="eth0",pod="1",rack="0",rail="0",plane="0",device_type="physical"}',
    'port_rx_total{device="mlx5_0",pod="1",rack="9",rail="1"}',
    'port_rx_total{device="veth0",pod="1",rack="0"}',
    'port_rx_total{device="0000:03:00.0",pod="1",rack="0",rail="0",plane="0",device_type="physical"}',
    'port_rx_total{device="../../etc",pod="1",rack="0"}',
    'port_rx_total{device="lost",pod="1",rack="0"}',
  ])
})

test('a line of the file says which field of a type names the device, and what a name means', async (t) => {
  const rig = rigOf(t, INI)
  rig.report(rig.source(), event, { device: 'mlx5_0', nic: 'tool0', n_total: 1 })
  rig.report(rig.source(), node, { n_total: 1 })
  assert.deepEqual(await seriesOf(rig), [
    'event_n_total{device="mlx5_0",nic="tool0",pod="1",rack="0",rail="0",plane="0",device_type="physical"}',
    'node_n_total{pod="1",rack="0"}',
  ])
})

test('a plain file of lines may put labels of the record, the source and its tag into values', async (t) => {
  const rig = rigOf(t, `\ufeffrack=R1\r\nwho=\${source}/\${tag}\nplace=hall-\${hall}:\${device}\nname=Käfig "1"\n`)
  const source = createSource({
    id: 'app',
    tag: 'jobs',
    labels: { hall: '2' },
    emit: (batch) => rig.view.accept(batch),
  })
  rig.report(source, port, { device: 'a', rx_total: 1 })
  rig.report(source, node, { n_total: 1 })
  assert.deepEqual(await seriesOf(rig), [
    'port_rx_total{device="a",hall="2",rack="R1",who="app/jobs",place="hall-2:a",name="Käfig \\"1\\""}',
    'node_n_total{hall="2",rack="R1",who="app/jobs",name="Käfig \\"1\\""}',
  ])
})

test('what a record or its source says itself stays; of what is added, the device says more than the file, and that more than an option', async (t) => {
  const rig = rigOf(t, 'device=x\nhall=9\nrack=file\n[device_labels]\n0000:03:00.0=rack|own\n', {
    constantLabels: { rack: 'option', zone: `z-\${device}` },
  })
  rig.report(rig.source('s', { hall: '2' }), port, { device: 'eth0', rx_total: 1 }, { device: 'b', rx_total: 1 })
  assert.deepEqual(await seriesOf(rig), [
    'port_rx_total{device="eth0",hall="2",rack="own",zone="z-eth0"}',
    'port_rx_total{device="b",hall="2",rack="file",zone="z-b"}',
  ])
})

test('a series with added labels leaves when its source says that it is gone', async (t) => {
  const rig = rigOf(t, 'rack=1')
  const source = rig.source('s', { hall: '2' })
  rig.report(source, port, { device: 'a', rx_total: 1 }, { device: 'b', rx_total: 1 })
  const absence = { type: 'port', field: '', code: 'gone', reason: 'gone', series: 'device="a",hall="2"' }
  rig.report(source, absenceType, { time: 1_800_000_000_000_000_000n, ...absence })
  assert.deepEqual(await seriesOf(rig), ['port_rx_total{device="b",hall="2",rack="1"}'])
})

test('what the file says now holds for the series that are there, with the next scrape', async (t) => {
  const path = join(folder(t), 'labels')
  const told: string[] = []
  writeFileSync(path, 'rack=R1')
  const onFault = ({ message }: SondeError) => told.push(message)
  const rig = new PrometheusRig({ metadataFile: path, sysfs: sysfs(t), onFault })
  const source = rig.source()
  rig.report(source, port, { device: 'eth0', rx_total: 7 }, { device: 'b', rx_total: 8 })
  assert.deepEqual(await rig.lines(), [
    'port_rx_total{device="eth0",rack="R1"} 7',
    'port_rx_total{device="b",rack="R1"} 8',
  ])
  writeFileSync(path, 'hall=2\n[device_labels]\n0000:03:00.0=rail|1\n')
  assert.deepEqual(await rig.lines(), [
    'port_rx_total{device="eth0",hall="2",rail="1"} 7',
    'port_rx_total{device="b",hall="2"} 8',
  ])
  rig.report(source, port, { device: 'b', rx_total: 9 }, { device: 'c', rx_total: 1 })
  assert.deepEqual(await rig.lines(), [
    'port_rx_total{device="eth0",hall="2",rail="1"} 7',
    'port_rx_total{device="b",hall="2"} 9',
    'port_rx_total{device="c",hall="2"} 1',
  ])
  assert.deepEqual([told, rig.view.labelFile?.faults, rig.view.labelFile?.isBroken], [[], 0, false])
})

test('labels of the program hold for the series that are there, below those of the configuration, until it ends them', async () => {
  const rig = new PrometheusRig({ constantLabels: { rack: 'option' } })
  const source = rig.source()
  const report = () => rig.report(source, port, { device: 'a', rx_total: 1n }, { device: 'b', rx_total: 1n })
  report()
  assert.deepEqual(await seriesOf(rig), [
    'port_rx_total{device="a",rack="option"}',
    'port_rx_total{device="b",rack="option"}',
  ])
  rig.view.addLabels({
    names: ['pod', 'rack', 'device'],
    of: (_, __, { device }) => (device === 'a' ? { pod: 'p', rack: 'program', device: 'program' } : {}),
  })
  const labelled = ['port_rx_total{device="a",pod="p",rack="option"}', 'port_rx_total{device="b",rack="option"}']
  assert.deepEqual(await seriesOf(rig), labelled)
  report()
  assert.deepEqual(await seriesOf(rig), labelled, 'records that come later have them too')
  rig.view.addLabels(undefined)
  assert.deepEqual(await seriesOf(rig), [
    'port_rx_total{device="a",rack="option"}',
    'port_rx_total{device="b",rack="option"}',
  ])
})

test('a file that turns bad or goes away goes on as it last was, and is told once a version', async (t) => {
  const path = join(folder(t), 'labels')
  const told: string[] = []
  writeFileSync(path, 'rack=R1')
  const rig = new PrometheusRig({ metadataFile: path, onFault: ({ code, message }) => told.push(`${code} ${message}`) })
  rig.report(rig.source(), node, { n_total: 1 })
  const health = () => [told.length, rig.view.labelFile?.faults, rig.view.labelFile?.isBroken]
  writeFileSync(path, 'pod=1\n1b=2')
  for (let i = 0; i < 3; i++) assert.deepEqual(await seriesOf(rig), ['node_n_total{rack="R1"}'])
  assert.match(told[0] ?? '', /^PRM_LABELS .*labels:2: it is no name of a label/)
  assert.deepEqual(health(), [1, 1, true])
  rmSync(path)
  for (let i = 0; i < 3; i++) assert.deepEqual(await seriesOf(rig), ['node_n_total{rack="R1"}'])
  assert.match(told[1] ?? '', /^PRM_LABELS the label file .*labels cannot be read: ENOENT/)
  assert.deepEqual(health(), [2, 2, true])
  writeFileSync(path, 'rack=R2')
  assert.deepEqual(await seriesOf(rig), ['node_n_total{rack="R2"}'])
  assert.deepEqual(health(), [2, 2, false])
})

test('series that a new file makes alike are shown once, and both again when it tells them apart', async (t) => {
  const path = join(folder(t), 'labels')
  writeFileSync(path, 'hall=2')
  const rig = new PrometheusRig({ metadataFile: path })
  rig.report(rig.source('a', { hall: '1' }), node, { n_total: 1 })
  const other = rig.source('b')
  rig.report(other, node, { n_total: 5 })
  const both = ['node_n_total{hall="1"} 1', 'node_n_total{hall="2"} 5']
  assert.deepEqual(await rig.lines(), both)
  writeFileSync(path, 'hall=1')
  assert.deepEqual(await rig.lines(), ['node_n_total{hall="1"} 1'])
  rig.report(other, node, { n_total: 6 })
  assert.equal(rig.dropped('duplicate_series'), 1)
  writeFileSync(path, 'hall=3')
  assert.deepEqual(await rig.lines(), ['node_n_total{hall="1"} 1', 'node_n_total{hall="3"} 6'])
})

test('records that come while many series get other labels are shown with them', async (t) => {
  const path = join(folder(t), 'labels')
  writeFileSync(path, 'hall=1')
  const rig = new PrometheusRig({ metadataFile: path })
  const source = rig.source()
  const count = 20_000
  rig.report(source, port, ...Array.from({ length: count }, (_, i) => ({ device: `d${i}`, rx_total: i })))
  await rig.lines()
  writeFileSync(path, 'hall=2')
  let isDone = false
  const reporting = async () => {
    for (let i = 0; !isDone; i++) {
      rig.report(source, port, { device: `new${i}`, rx_total: 1 }, { device: `d${i}`, rx_total: 77 })
      await new Promise(setImmediate)
    }
  }
  const reported = reporting()
  const series = await seriesOf(rig)
  isDone = true
  await reported
  assert.ok(series.length > count, `${series.length} series`)
  assert.equal(new Set(series).size, series.length)
  assert.deepEqual(
    series.filter((line) => !line.endsWith('hall="2"}')),
    [],
  )
})

test('what is wrong with a file is said with file and line', () => {
  const faultOf = (text: string) => {
    try {
      parseLabelFile(text, 'l.ini')
    } catch (error) {
      return `${(error as SondeError).code} ${(error as Error).message}`
    }
    return 'none'
  }
  assert.equal(
    faultOf('a=1\n1b=2'),
    'PRM_LABELS l.ini:2: it is no name of a label; allowed: letters, digits and _, with no digit first, and not __ at the beginning',
  )
  assert.match(faultOf('__a=1'), /^PRM_LABELS l\.ini:1: it is no name/)
  assert.match(faultOf('rack'), /l\.ini:1: it has no name before =/)
  assert.match(faultOf('\n[labels]'), /l\.ini:2: it is no section; allowed: \[global_labels\], \[device_labels\]/)
  assert.match(faultOf('a=1\na=2'), /l\.ini:2: it is there twice/)
  assert.match(faultOf(`a=\${b`), /l\.ini:1: it has a .*names no label/)
  assert.match(faultOf(`a=\${b c}`), /names no label/)
  assert.match(faultOf('a=b\u0007'), /is no value of a label/)
  assert.match(
    faultOf('[device_labels]\n03:00=a|1'),
    /l\.ini:2: it is no PCI address; allowed: one such as 0000:03:00\.0/,
  )
  assert.match(faultOf('[device_labels]\n0000:03:00.0=a|1|b'), /l\.ini:2: it has a name without a value/)
  assert.match(faultOf('[device_labels]\n0000:03:00.0=a|1\n0000:03:00.0=b|1'), /l\.ini:3: it is there twice/)
  assert.match(faultOf('[data_types_mapping]\ne=nic|usb'), /one of netif, rdma, pci, mst/)
  assert.match(faultOf('[device_mapping]\na=b'), /it is no PCI address/)
  assert.match(
    faultOf(Array.from({ length: 33 }, (_, i) => `l${i}=1`).join('\n')),
    /l\.ini:33: it is one label too many; allowed: 32/,
  )
  assert.equal(faultOf(INI), 'none')
})

test('a file that is not there, is no text, or is too large is an error that names it', (t) => {
  const dir = folder(t)
  assert.throws(() => new PrometheusRig({ metadataFile: join(dir, 'no') }), { code: 'PRM_LABELS', message: /ENOENT/ })
  writeFileSync(join(dir, 'latin'), Buffer.from([0x61, 0x3d, 0xe9]))
  assert.throws(() => new PrometheusRig({ metadataFile: join(dir, 'latin') }), { code: 'PRM_LABELS' })
  writeFileSync(join(dir, 'large'), '#'.repeat((1 << 20) + 1))
  assert.throws(() => new PrometheusRig({ metadataFile: join(dir, 'large') }), { message: /larger than 1048576 bytes/ })
  symlinkSync('/proc/self/pagemap', join(dir, 'endless'))
  assert.throws(() => new PrometheusRig({ metadataFile: join(dir, 'endless') }), {
    message: /larger than 1048576 bytes/,
  })
  assert.equal(spawnSync('mkfifo', [join(dir, 'pipe')]).status, 0)
  assert.throws(() => new PrometheusRig({ metadataFile: join(dir, 'pipe') }), { message: /is no regular file/ })
  assert.throws(() => new PrometheusRig({ constantLabels: { 'a-b': '1' } }), { code: 'PRM_LABELS', message: /"a-b"/ })
})

test(`random text is a label file or an error of ours, 20 000 times (seed ${SEED})`, () => {
  const random = new Random(SEED)
  const parts = [
    '[global_labels]',
    '[device_labels]',
    '[data_types_mapping]',
    '[device_mapping]',
    '0000:03:00.0',
    '=',
    '|',
    'a',
    `\${`,
    '}',
    '\n',
    '\n',
    '#',
    ' ',
    '\0',
    'é',
    '\ud800',
    'nic|netif',
    '[',
  ]
  let files = 0
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: random.integer(0, 16) }, () => random.pick(parts)).join('')
    try {
      parseLabelFile(text, 'fuzz')
      files++
    } catch (error) {
      assert.ok(error instanceof SondeError && error.code === 'PRM_LABELS', `${JSON.stringify(text)}: ${error}`)
      assert.match(error.message, /^fuzz:\d+: .+; allowed: /s)
    }
  }
  assert.ok(files > 100 && files < 19_900, `${files} files`)
})
