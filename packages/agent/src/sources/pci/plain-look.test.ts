import assert from 'node:assert/strict'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import type { RecordOf, RecordType } from '@sonde/sdk'
import { TestedSource, TestNode } from '../test-node.ts'
import { pci } from './pci.ts'
import { hgxDevices, putDevice } from './test-bus.ts'
import { pciAerType, pciDeviceType } from './type.ts'

// A second reader, as plain as can be and made apart from the source: node_exporter of Debian has none for PCI, and
// `lspci` needs root for links.

const PER_LANE: Readonly<Record<string, number>> = {
  '2.5': 250e6,
  '5': 500e6,
  '8': 8e9 / 8.125,
  '16': 16e9 / 8.125,
  '32': 32e9 / 8.125,
}

function attributeText(folder: string, name: string): string | undefined {
  const path = join(folder, name)
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8').trim() : undefined
}

function linkIn(folder: string, state: string): (number | undefined)[] {
  const gigatransfers = attributeText(folder, `${state}_link_speed`)?.match(/^\d+(\.\d+)?/)?.[0]
  const speed = gigatransfers === undefined ? undefined : Number(gigatransfers) * 1e9
  const width = attributeText(folder, `${state}_link_width`)
  const lanes = width === undefined || ['0', '63', '255'].includes(width) ? undefined : Number(width)
  if (gigatransfers === undefined || lanes === undefined) return [speed, lanes, undefined]
  return [speed, lanes, Math.floor((PER_LANE[Number(gigatransfers)] ?? Number.NaN) * lanes)]
}

/** Letters of a name in both spellings of AER, for the few that the trees count. */
const SPELLINGS: Readonly<Record<string, string>> = {
  'Bad TLP': 'BadTLP',
  'Advisory Non-Fatal': 'NonFatalErr',
  'Unsupported Request': 'UnsupReq',
}

function errorsIn(folder: string, severity: string): Map<string, bigint> {
  const lines = attributeText(folder, `aer_dev_${severity}`)?.split('\n') ?? []
  return new Map(
    lines.map((line) => {
      const name = line.replace(/ \d+$/, '')
      return [SPELLINGS[name] ?? name, BigInt(line.slice(name.length + 1))]
    }),
  )
}

function plainLook(sysfs: string, address: string) {
  const folder = fs.realpathSync(join(sysfs, 'bus/pci/devices', address))
  const driver = join(folder, 'driver')
  const node = Number(attributeText(folder, 'numa_node') ?? -1)
  const totals = ['correctable', 'nonfatal', 'fatal'].map(
    (severity) => [...errorsIn(folder, severity)].find(([name]) => name.startsWith('TOTAL'))?.[1],
  )
  return {
    class: attributeText(folder, 'class'),
    ids: [attributeText(folder, 'vendor')?.slice(2), attributeText(folder, 'device')?.slice(2)],
    driver: fs.lstatSync(driver, { throwIfNoEntry: false }) ? basename(fs.readlinkSync(driver)) : '',
    node: node < 0 ? undefined : node,
    path: folder.match(/[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d(?=\/)/g)?.join('/') ?? '',
    current: fs.existsSync(join(folder, 'physfn')) ? [undefined, undefined, undefined] : linkIn(folder, 'current'),
    max: fs.existsSync(join(folder, 'physfn')) ? [undefined, undefined, undefined] : linkIn(folder, 'max'),
    totals,
  }
}

function ours(record: RecordOf<typeof pciDeviceType>) {
  const link = (state: 'current' | 'max') => {
    const bandwidth = record[`${state}_link_bandwidth_bytes_per_second`]
    return [
      record[`${state}_link_speed_transfers_per_second`],
      record[`${state}_link_width_lanes`],
      bandwidth === undefined ? undefined : Number(bandwidth),
    ]
  }
  return {
    class: record.class_code,
    ids: [record.vendor_id, record.product_id],
    driver: record.driver,
    node: record.numa_node,
    path: record.path,
    current: link('current'),
    max: link('max'),
    totals: [record.aer_correctable_total, record.aer_nonfatal_total, record.aer_fatal_total],
  }
}

async function compare(sysfs: string): Promise<number> {
  const tested = new TestedSource(pci, { procfs: '/proc', sysfs })
  try {
    await tested.source.sample()
    const taken = tested.take()
    const of = <T extends RecordType>(type: T) =>
      taken.filter((one) => one.type === type).map(({ record }) => record as RecordOf<T>)
    const devices = of(pciDeviceType)
    for (const record of devices)
      assert.deepEqual(ours(record), plainLook(sysfs, record.pci_address), record.pci_address)
    for (const { pci_address, severity, error, errors_total } of of(pciAerType)) {
      const folder = fs.realpathSync(join(sysfs, 'bus/pci/devices', pci_address))
      assert.equal(errors_total, errorsIn(folder, severity).get(error), `${pci_address} ${severity} ${error}`)
    }
    return devices.length
  } finally {
    await tested.source.close()
  }
}

test('reads what a plain look at the same trees reads', async (t) => {
  const hgx = new TestNode(t)
  for (const device of hgxDevices()) putDevice(hgx, device)
  assert.equal(await compare(hgx.paths.sysfs), 67)
  for (const [tree, count] of [
    ['switch-pair', 7],
    ['port', 3],
    ['virtio-guest', 1],
  ] as const) {
    const node = new TestNode(t, new URL(`fixtures/${tree}`, import.meta.url))
    assert.equal(await compare(node.paths.sysfs), count, tree)
  }
})

test('reads what a plain look at this machine reads', { skip: !fs.existsSync('/sys/bus/pci/devices') }, async () => {
  const tested = new TestedSource(pci, { procfs: '/proc', sysfs: '/sys' })
  const { state } = await tested.source.probe()
  await tested.source.close()
  // A machine with none of the devices that are read has none for the plain look either.
  assert.equal((await compare('/sys')) > 0, state === 'present')
})
