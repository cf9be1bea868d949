import type { MetricQuery } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { ChartMark, ChartSpec } from '../chart/chart-spec.ts'
import type { SeriesSlot } from '../components/palette.ts'
import { deviceTitle } from '../devices/device.ts'
import type { DeviceColumns } from '../devices/device-columns.ts'
import { newestValue } from '../devices/interface-data.ts'
import { DEVICE_QUERIES, type DeviceSignal } from '../devices/signals.ts'
import {
  BITS_PER_SECOND,
  BYTES_PER_SECOND,
  CELSIUS,
  type DisplayQuantity,
  MEBIBYTES,
  MEGAHERTZ,
  PER_SECOND,
  PERCENT,
  PERCENT_WHOLE,
  WATTS,
} from '../format/quantity.ts'
import { RATE_PROVENANCE } from './interface-charts.ts'

interface Panel {
  readonly kind: 'gpu' | 'nic'
  readonly signal: DeviceSignal
  readonly title: string
  readonly caption?: string
  readonly quantity: DisplayQuantity
  readonly scale?: NonNullable<ChartSpec['scale']>
}

/** Every chart that compares the devices of a kind. */
const PANELS = {
  sm: { kind: 'gpu', signal: 'sm', title: 'SM active', quantity: PERCENT, scale: 'percent' },
  tensor: { kind: 'gpu', signal: 'tensor', title: 'Tensor active', quantity: PERCENT, scale: 'percent' },
  power: { kind: 'gpu', signal: 'power', title: 'Power', quantity: WATTS, scale: 'free' },
  dram: { kind: 'gpu', signal: 'dram', title: 'DRAM active', quantity: PERCENT, scale: 'percent' },
  utilisation: {
    kind: 'gpu',
    signal: 'utilisation',
    title: 'Utilisation',
    caption: 'a kernel was running',
    quantity: PERCENT_WHOLE,
    scale: 'percent',
  },
  temperature: { kind: 'gpu', signal: 'temperature', title: 'Temperature', quantity: CELSIUS, scale: 'free' },
  clock: { kind: 'gpu', signal: 'clock', title: 'SM clock', quantity: MEGAHERTZ, scale: 'free' },
  memoryUsed: { kind: 'gpu', signal: 'memoryUsed', title: 'Memory used', quantity: MEBIBYTES },
  nvlinkSent: { kind: 'gpu', signal: 'nvlinkSent', title: 'NVLink sent', quantity: BYTES_PER_SECOND },
  sent: { kind: 'nic', signal: 'sent', title: 'Sent', quantity: BITS_PER_SECOND },
  sequenceErrors: { kind: 'nic', signal: 'sequenceErrors', title: 'Sequence errors', quantity: PER_SECOND },
  retransmissions: {
    kind: 'nic',
    signal: 'retransmissions',
    title: 'Retransmissions',
    caption: 'adaptive',
    quantity: PER_SECOND,
  },
} as const satisfies Record<string, Panel>

/** Name of a chart that compares devices. */
export type DeviceChartName = keyof typeof PANELS

const KINDS: Readonly<
  Record<Panel['kind'], { readonly noun: readonly [string, string]; readonly slots: readonly SeriesSlot[] }>
> = {
  gpu: { noun: ['GPU', 'GPUs'], slots: [2, 3, 4] },
  nic: { noun: ['NIC', 'NICs'], slots: [1, 3, 4] },
}

/** The queries of the given charts. */
export function chartQueries(names: readonly DeviceChartName[]): readonly MetricQuery[] {
  const queries: MetricQuery[] = names.map((name) => DEVICE_QUERIES[PANELS[name].signal])
  return names.some((name) => PANELS[name].kind === 'nic') ? [...queries, DEVICE_QUERIES.lineRate] : queries
}

/** A chart, or the reason for its absence. */
export interface DeviceChart {
  readonly spec: ChartSpec
  /** Why no device has the chart; empty if a device can have it. */
  readonly absent: string
}

/**
 * One chart per signal, one member per device. If there are rails, NICs outside of rails are left out because they do
 * other work.
 */
export function deviceCharts(
  names: readonly DeviceChartName[],
  devices: readonly DeviceInfo[],
  columns: ReadonlyMap<string, DeviceColumns>,
  options: {
    readonly knownMetrics: ReadonlySet<string>
    readonly marks: readonly ChartMark[]
    /** Whether a query is answered. */
    readonly isAnswered: (query: MetricQuery) => boolean
  },
): DeviceChart[] {
  const has = (device: DeviceInfo, name: DeviceChartName) => columns.get(device.id)?.[PANELS[name].signal] !== undefined
  return names.flatMap((name) => {
    const { kind, signal, ...panel }: Panel = PANELS[name]
    const like = alike(devices, kind)
    if (like.length === 0) return []
    const { metric, function: fn } = DEVICE_QUERIES[signal]
    const members = like.flatMap((device) => {
      const values = columns.get(device.id)?.[signal]
      return values ? [{ key: device.id, label: deviceTitle(device), values }] : []
    })
    const spec: ChartSpec = {
      ...panel,
      ...KINDS[kind],
      id: name,
      members,
      limits: limitsOf(signal, like, columns),
      marks: options.marks,
      isAwaited: !options.isAnswered(DEVICE_QUERIES[signal]),
      provenance: fn === 'rate' ? RATE_PROVENANCE : 'last sample in {step} · wall clock',
    }
    // The devices already report other signals, so this signal is not merely late.
    const isRead = names.some((other) => PANELS[other].kind === kind && like.some((device) => has(device, other)))
    const isMissing = members.length === 0 && isRead && options.isAnswered(DEVICE_QUERIES[signal])
    return [{ spec, absent: absentWords(metric, KINDS[kind].noun[0], { ...options, isMissing }) }]
  })
}

/** Why a metric has no chart; empty if it has a chart. */
function absentWords(
  metric: string,
  noun: string,
  { knownMetrics, isMissing }: { readonly knownMetrics: ReadonlySet<string>; readonly isMissing: boolean },
): string {
  if (!knownMetrics.has(metric)) return `No source reports ${metric} here.`
  return isMissing ? `No ${noun} reports ${metric} in this window; npx sonde explain ${metric} says why.` : ''
}

function alike(devices: readonly DeviceInfo[], kind: Panel['kind']): readonly DeviceInfo[] {
  const all = devices.filter((device) => device.kind === kind)
  const inRails = all.filter(({ rail }) => rail !== null)
  return kind === 'nic' && inRails.length > 0 ? inRails : all
}

/** A limit that all devices share: the power cap or the link rate. */
function limitsOf(
  signal: DeviceSignal,
  devices: readonly DeviceInfo[],
  columns: ReadonlyMap<string, DeviceColumns>,
): ChartSpec['limits'] & object {
  const values = devices.map(({ id, limits }) => {
    if (signal === 'power') return limits.power_watts
    return signal === 'sent' ? newestValue(columns.get(id)?.lineRate) : undefined
  })
  const shared = new Set(values.filter((value) => value !== undefined && value > 0))
  const [value] = shared
  return shared.size === 1 && value !== undefined ? [{ value, label: signal === 'power' ? 'limit' : 'link' }] : []
}
