import type { Labels, Matcher } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { HARDWARE_PATHS } from '../api/metric-claims.ts'
import { titleOf } from '../format/names.ts'

/** Where entities of all other kinds are. */
export const ENTITIES_PATH = '/entities'

type Titled = Pick<DeviceInfo, 'id' | 'kind' | 'name' | 'rail' | 'pairs'>

/**
 * What a device is called in sentences, tiles and charts: place before name. Ports that share a rail, and second ports,
 * are told apart by name and port, as hints do.
 */
export function deviceTitle({ id, kind, name, rail, pairs }: Titled): string {
  if (isGeneric({ kind })) return `${titleOf(kind)} ${name}`
  if (kind !== 'nic') return name
  const port = /-(\d+)$/.exec(id)?.[1] ?? '1'
  const numbered = `${name.replace(/ port \d+$/, '')}/${port}`
  if (pairs.some((pair) => /^(sim-)?nic-/.test(pair))) return numbered
  if (rail !== null) return `NIC ${rail}`
  return port === '1' ? name : numbered
}

/** Whether an entity is of a kind that no page of its own is for. */
export function isGeneric({ kind }: Pick<DeviceInfo, 'kind'>): boolean {
  return !HARDWARE_PATHS.has(kind)
}

/** How many there are of which kind: `2 × Conveyor belt, 1 × Robot`. */
export function kindWords(entities: readonly DeviceInfo[]): string {
  return [...Map.groupBy(entities, ({ kind }) => kind)]
    .map(([kind, of]) => `${of.length} × ${titleOf(kind)}`)
    .join(', ')
}

/** The path of an entity's own page. */
export function devicePath({ kind, id }: Pick<DeviceInfo, 'kind' | 'id'>): string {
  return `${HARDWARE_PATHS.get(kind) ?? ENTITIES_PATH}/${pathPart(id)}`
}

/** Encodes a part of a path, but for colons: they are legal there, and addresses stay readable. */
function pathPart(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':')
}

/** The path of the page of the PCIe link at an address. */
export function linkPath({ address, simulated }: Pick<DeviceInfo, 'address' | 'simulated'>): string | undefined {
  return address ? `/pci/${pathPart(`${simulated ? 'sim-' : ''}pci-${address}`)}` : undefined
}

/** The labels that a device's series of a metric have; undefined if none of its series has that metric. */
export function labelsFor({ kind, labels, series = {}, claims }: DeviceInfo, metric: string): Labels | undefined {
  const claim = claims.get(metric)
  const own = claim?.kind === kind ? labels : series[claim?.kind ?? '']
  // A GPU that only the bus tells of has no index, and no series of its library.
  if (!own || !claim?.key.some((name) => own[name] !== undefined)) return undefined
  return Object.fromEntries(Object.entries(own).filter(([name]) => name === 'simulated' || claim.labels.includes(name)))
}

/** Whether a series is one of a device: labels that only the series has, such as a priority, do not matter. */
export function isSeriesOf(device: DeviceInfo, metric: string, labels: Labels): boolean {
  const wanted = labelsFor(device, metric)
  if (!wanted || (labels.simulated === 'true') !== device.simulated) return false
  const [named] = device.claims.get(metric)?.key ?? []
  // Of several series one may have been made, by what names the device alone.
  return Object.entries(wanted).every(
    ([name, value]) => name === 'simulated' || labels[name] === value || (name !== named && labels[name] === undefined),
  )
}

/**
 * The condition that leaves few others than a device's own series: what remains is told apart by {@link isSeriesOf}.
 * Questions go into the address of a stream, where every condition counts. Undefined if the device has no series of
 * that family.
 */
export function askFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const label = device.claims.get(metric)?.key[0] ?? ''
  return [{ label, op: '=', value: wanted[label] ?? '' }]
}

/** The conditions that hold for the series of a device alone; undefined if it has none of that family. */
export function matchersFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const own = Object.entries(wanted).filter(([label]) => label !== 'simulated')
  return [
    ...own.map(([label, value]): Matcher => ({ label, op: '=', value })),
    // A real device and a simulated one may have the same name.
    { label: 'simulated', op: device.simulated ? '=' : '!=', value: 'true' },
  ]
}
