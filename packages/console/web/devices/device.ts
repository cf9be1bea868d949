import type { DeviceInfo } from '../api/devices.ts'
import type { Labels, Matcher } from '../api/types.ts'

type Titled = Pick<DeviceInfo, 'id' | 'kind' | 'name' | 'rail' | 'pairs'>

/**
 * What a device is called in sentences, tiles and charts: place before name. Ports that share a rail, and second ports,
 * are told apart by name and port, as hints do.
 */
export function deviceTitle({ id, kind, name, rail, pairs }: Titled): string {
  if (kind !== 'nic') return name
  const port = /-(\d+)$/.exec(id)?.[1] ?? '1'
  const numbered = `${name.replace(/ port \d+$/, '')}/${port}`
  if (pairs.some((pair) => /^(sim-)?nic-/.test(pair))) return numbered
  if (rail !== null) return `NIC ${rail}`
  return port === '1' ? name : numbered
}

/** The path of a device's own page. */
export function devicePath({ kind, id }: Pick<DeviceInfo, 'kind' | 'id'>): string {
  const place = { gpu: '/gpus', nic: '/fabric', netdev: '/fabric', pci: '/pci' }[kind]
  return `${place}/${pathPart(id)}`
}

/** Encodes a part of a path, but for colons: they are legal there, and addresses stay readable. */
function pathPart(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':')
}

/** The path of the page of the PCIe link at an address. */
export function linkPath({ address, simulated }: Pick<DeviceInfo, 'address' | 'simulated'>): string | undefined {
  return address ? `/pci/${pathPart(`${simulated ? 'sim-' : ''}pci-${address}`)}` : undefined
}

const FAMILIES: readonly (readonly [begins: string, family: string])[] = [
  ['rdma_', 'rdma'],
  ['doca_', 'doca'],
  ['ethtool_', 'ethtool'],
  ['netdev_', 'netdev'],
  ['pci_', 'pci'],
]

/** The labels that a device's series of a metric have; undefined where it has none of that family. */
export function labelsFor(device: DeviceInfo, metric: string): Labels | undefined {
  const family = FAMILIES.find(([begins]) => metric.startsWith(begins))?.[1]
  // A GPU that only the bus tells of has no index, and no series of its library.
  if (family === undefined) return device.kind === 'gpu' && device.labels.gpu !== undefined ? device.labels : undefined
  const listed = device.series?.[family]
  if (listed) return listed
  const { device: name } = device.labels
  if (name === undefined) return undefined
  if (family === 'rdma' && device.kind === 'nic') return device.labels
  // Libraries of the adapter know it by the name of its RDMA device.
  if (family === 'doca' && device.kind === 'nic') return { device: name }
  return (family === 'pci' && device.kind === 'pci') || (family === 'netdev' && device.kind === 'netdev')
    ? device.labels
    : undefined
}

/** Whether a series is one of a device: labels that only the series has, such as a priority, do not matter. */
export function isSeriesOf(device: DeviceInfo, metric: string, labels: Labels): boolean {
  const wanted = labelsFor(device, metric)
  if (!wanted || (labels.simulated === 'true') !== device.simulated) return false
  return Object.entries(wanted).every(
    ([name, value]) => name === 'simulated' || labels[name] === value || (name === 'port' && labels.port === undefined),
  )
}

/**
 * The condition that leaves few others than a device's own series: what remains is told apart by {@link isSeriesOf}.
 * Questions go into the address of a stream, where every condition counts. Undefined where the device has no series of
 * that family.
 */
export function askFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const label = wanted.gpu === undefined ? 'device' : 'gpu'
  return [{ label, op: '=', value: wanted[label] ?? '' }]
}

/** The conditions that hold for the series of a device alone; undefined where it has none of that family. */
export function matchersFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const own = Object.entries(wanted).filter(([label]) => label !== 'simulated' && !isOtherPort(label, metric))
  return [
    ...own.map(([label, value]): Matcher => ({ label, op: '=', value })),
    // A real device and a simulated one may have the same name.
    { label: 'simulated', op: device.simulated ? '=' : '!=', value: 'true' },
  ]
}

/** Only RDMA counts by port: other families of the same device have no such label. */
function isOtherPort(label: string, metric: string): boolean {
  return label === 'port' && !/^(rdma|doca_diag_p)/.test(metric)
}
