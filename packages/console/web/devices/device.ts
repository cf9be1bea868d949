import type { Labels, Matcher, PodName } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import { HARDWARE_PATHS, type MetricClaim } from '../api/metric-claims.ts'
import { titleOf } from '../format/names.ts'
import { pathPart } from './path-part.ts'
import { podPath } from './pod-path.ts'

/** Path of the page of all other entities. */
export const ENTITIES_PATH = '/entities'

type Titled = Pick<DeviceInfo, 'id' | 'kind' | 'name' | 'rail' | 'pairs'>

/**
 * Title of a device in sentences, tiles and charts: its rail or index before its name. Second ports and ports that
 * share a rail get name and port, as in hints.
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

/** Whether no special page exists for the kind of an entity. */
export function isGeneric({ kind }: Pick<DeviceInfo, 'kind'>): boolean {
  return !HARDWARE_PATHS.has(kind)
}

/** Counts by kind: `2 × Conveyor belt, 1 × Robot`. */
export function kindWords(entities: readonly DeviceInfo[]): string {
  return [...Map.groupBy(entities, ({ kind }) => kind)]
    .map(([kind, of]) => `${of.length} × ${titleOf(kind)}`)
    .join(', ')
}

/** The path of an entity's own page. */
export function devicePath(device: Pick<DeviceInfo, 'kind' | 'id' | 'labels'>): string {
  const pod = podOf(device)
  if (pod !== undefined) return podPath(pod)
  return HARDWARE_PATHS.has(device.kind)
    ? `${HARDWARE_PATHS.get(device.kind)}/${pathPart(device.id)}`
    : entityPath(device)
}

/** The path of the page that any entity has, also if its kind has a special page. */
export function entityPath({ id }: Pick<DeviceInfo, 'id'>): string {
  return `${ENTITIES_PATH}/${pathPart(id)}`
}

/** The name of a pod; undefined for any other entity. */
function podOf({ kind, labels }: Pick<DeviceInfo, 'kind' | 'labels'>): PodName | undefined {
  const { namespace, pod } = labels
  return kind !== 'pod' || !namespace || !pod ? undefined : { namespace, name: pod }
}

/** The path of the page of the PCIe link at an address. */
export function linkPath({ address, simulated }: Pick<DeviceInfo, 'address' | 'simulated'>): string | undefined {
  return address ? `/pci/${pathPart(`${simulated ? 'sim-' : ''}pci-${address}`)}` : undefined
}

/** The labels of the series of a device for a metric; undefined if it has no such series. */
export function labelsFor(device: DeviceInfo, metric: string): Labels | undefined {
  const claim = device.claims.get(metric)
  const own = claim?.kind === device.kind ? labelsAs(claim, device) : device.series?.[claim?.kind ?? '']
  if (!own || claim === undefined) return undefined
  // A GPU known only from the PCI bus has no index and no NVML series. The host needs no key: there is one.
  if (claim.key.length > 0 && !claim.key.some((name) => own[name] !== undefined)) return undefined
  return Object.fromEntries(Object.entries(own).filter(([name]) => name === 'simulated' || claim.labels.includes(name)))
}

/** Labels of a device with the names that a type has for its key. Types with names of others have other labels. */
function labelsAs(claim: MetricClaim, { key, labels }: DeviceInfo): Labels {
  const renamed = key.flatMap((name, index) => {
    const text = labels[name]
    return text === undefined ? [] : [[claim.key[index] ?? name, text] as const]
  })
  return { ...Object.fromEntries(renamed), ...labels }
}

/** Whether a series belongs to a device. Extra labels of the series, such as a priority, do not matter. */
export function isSeriesOf(device: DeviceInfo, metric: string, labels: Labels): boolean {
  const wanted = labelsFor(device, metric)
  if (!wanted || (labels.simulated === 'true') !== device.simulated) return false
  const [named] = device.claims.get(metric)?.key ?? []
  // An aggregated series may keep only the labels that name the device.
  return Object.entries(wanted).every(
    ([name, value]) => name === 'simulated' || labels[name] === value || (name !== named && labels[name] === undefined),
  )
}

/**
 * The shortest condition that selects the series of a device and few others; {@link isSeriesOf} drops the rest. The
 * address of a stream holds all queries, so conditions must be short. Undefined if the device has no such series.
 */
export function askFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const label = device.claims.get(metric)?.key[0]
  return label === undefined ? [] : [{ label, op: '=', value: wanted[label] ?? '' }]
}

/** The conditions that select only the series of a device; undefined if it has no such series. */
export function matchersFor(device: DeviceInfo, metric: string): readonly Matcher[] | undefined {
  const wanted = labelsFor(device, metric)
  if (!wanted) return undefined
  const own = Object.entries(wanted).filter(([label]) => label !== 'simulated')
  return [
    ...own.map(([label, value]): Matcher => ({ label, op: '=', value })),
    // A real and a simulated device may share a name.
    { label: 'simulated', op: device.simulated ? '=' : '!=', value: 'true' },
  ]
}
