import type { AppGpuPod, Incident, ListedType } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { ComboOption } from '../components/combo-options.ts'
import { devicePath, deviceTitle, isGeneric } from '../devices/device.ts'
import { incidentPath } from '../devices/incident-path.ts'
import { podPath } from '../devices/pod-path.ts'
import { compareNames } from '../format/names.ts'
import { formatDateTime } from '../format/time.ts'
import { metricsOfType } from '../state/listed-metrics.ts'
import { firstFunction, formatSignal } from '../state/signal.ts'
import type { PageState } from '../state/time-window.ts'
import { DESTINATIONS } from './navigation.ts'

/** A result of the search. */
export interface SearchResult extends ComboOption {
  readonly href: string
}

/** A pod, as far as it is searched. */
export type FoundPod = Pick<AppGpuPod, 'namespace' | 'name' | 'app' | 'node' | 'isSimulated'>

/** Input of the search. */
export interface Searched {
  readonly devices: readonly DeviceInfo[]
  /** GPU pods. A console over a Prometheus has no devices, but has these. */
  readonly pods?: readonly FoundPod[]
  /** Names of the active interfaces. */
  readonly interfaces: readonly string[]
  readonly types: readonly ListedType[]
  /** The latest incidents. */
  readonly incidents?: readonly Incident[]
  readonly hrefTo: PageState['hrefTo']
}

/** Every search result with a distinct name: pages, devices, pods, interfaces, incidents, metrics. */
export function searchPlaces(searched: Searched): readonly SearchResult[] {
  const { devices, pods = [], interfaces, types, incidents = [], hrefTo } = searched
  const pages = DESTINATIONS.map(
    ({ label, path }): SearchResult => ({ value: label, note: 'page', href: hrefTo(path) }),
  )
  const found = pods.map((pod) => podPlace(pod, hrefTo(podPath(pod))))
  const names = new Set(pods.map(({ namespace, name }) => `${namespace}/${name}`))
  const isFound = (device: DeviceInfo) => device.kind === 'pod' && names.has(device.name)
  const hardware = devices
    .filter((device) => device.kind === 'gpu' || device.kind === 'nic' || (isGeneric(device) && !isFound(device)))
    .map((device) => devicePlace(device, hrefTo(devicePath(device))))
  const netdevs = [...new Set(interfaces)].sort(compareNames).map(
    (device): SearchResult => ({
      value: device,
      note: 'interface',
      href: hrefTo(`/fabric/${encodeURIComponent(device)}`),
    }),
  )
  const metrics = types.flatMap((type) =>
    metricsOfType(type).map(
      (field): SearchResult => ({
        value: field.metric,
        note: field.help,
        href: hrefTo('/explore', { sig: [formatSignal({ metric: field.metric, function: firstFunction(field) })] }),
      }),
    ),
  )
  const seen = incidents.map((one) => incidentResult(one, hrefTo(incidentPath(one.id))))
  return withNamesOfTheirOwn([...pages, ...hardware, ...found, ...netdevs, ...seen, ...metrics])
}

/** Incidents of the same title are distinguished by their start. */
function incidentResult({ kind, title, device, startMs, state, isSimulated }: Incident, href: string): SearchResult {
  const words = ['incident', state === 'open' ? 'open' : '', isSimulated ? 'simulated' : '']
  const what = kind === 'hint' || device === '' ? title : `${title} on ${device}`
  return { value: `${what}, ${formatDateTime(startMs, 'utc')} UTC`, note: words.filter(Boolean).join(' · '), href }
}

function podPlace({ namespace, name, app, node, isSimulated }: FoundPod, href: string): SearchResult {
  const full = `${namespace}/${name}`
  const words = [app, node, isSimulated ? 'simulated' : '']
  return { value: `Pod ${full}`, note: words.filter(Boolean).join(' · '), names: [full, name], href }
}

function devicePlace(device: DeviceInfo, href: string): SearchResult {
  const { name, model = '', address = '', labels, simulated, netdevs = [] } = device
  const value = deviceTitle(device)
  const words = [name === value ? '' : name, model, address, simulated ? 'simulated' : '']
  const names = [name, labels.UUID ?? '', labels.pod ?? '', address, ...netdevs].filter(Boolean)
  return { value, note: words.filter(Boolean).join(' · '), names, href }
}

/** Makes names distinct. A real and a simulated device may share a name; real devices come first. */
function withNamesOfTheirOwn(places: readonly SearchResult[]): readonly SearchResult[] {
  const taken = new Map<string, SearchResult>()
  for (const place of places) {
    const value = taken.has(place.value) ? `${place.value} (simulated)` : place.value
    taken.set(value, { ...place, value })
  }
  return [...taken.values()]
}
