import type { Labels } from '@sonde/sdk'
import { GPU_FIELDS, type GpuField, type GpuNumber } from '@sonde/sdk/api'
import { type QueryAnswer, type SeriesQuery, turn } from '@sonde/sdk/internal'
import { BOARD_FIELDS, SUMMED_FIELDS, sharedFieldOf, sharedMetric, shownNumber } from './fields.ts'

/** A device that a pod does not hold alone: its values are those of the whole device. */
export interface SharedGpu {
  /** Unique key of the device. */
  readonly device: string
  /** The service of the pod, by {@link serviceKey}. */
  readonly service: string
  /** The pod, by {@link sharedPodKey}. */
  readonly pod: string
  readonly isInstance: boolean
  /** Pods that hold the device; 0 for a board of which only an instance is held. */
  readonly pods: number
  readonly values: Readonly<Partial<Record<GpuField, number>>>
  /**
   * When its row was written; undefined if the history does not report that. Unit: milliseconds since the Unix epoch.
   */
  readonly rowMs: number | undefined
}

const PODS_METRIC = 'shared_gpu_pods'

/** Unique key of a pod. */
export function sharedPodKey({ app, service, namespace, pod, simulated }: Labels): string {
  return JSON.stringify([app ?? '', service ?? '', namespace ?? '', pod ?? '', simulated ?? ''])
}

/** Unique key of a service. */
export function serviceKey({ app, service, simulated }: Labels): string {
  return JSON.stringify([app ?? '', service ?? '', simulated ?? ''])
}

/** Queries for some fields of the devices that pods share. */
export function sharedQueries(matchers: SeriesQuery['matchers'], fields: readonly GpuField[]): SeriesQuery[] {
  return [PODS_METRIC, ...fields.map(sharedMetric)].map((metric) => {
    return { metric, function: 'last', matchers, by: undefined, aggregate: 'sum' }
  })
}

/** The devices of an answer to {@link sharedQueries}, one row for each pod and device. */
export async function sharedOf({ results }: Pick<QueryAnswer, 'results'>): Promise<SharedGpu[]> {
  const rows = new Map<string, { labels: Labels; pods: number; rowMs: number | undefined; values: SharedValues }>()
  for (const { metric, series } of results) {
    for (const { labels, values, newestMs } of series) {
      if (turn.isOver()) await turn.next()
      const value = values[values.length - 1] ?? Number.NaN
      if (Number.isNaN(value)) continue
      const key = JSON.stringify([sharedPodKey(labels), deviceOf(labels)])
      const row = rows.get(key) ?? { labels, pods: 0, rowMs: undefined, values: {} }
      rows.set(key, row)
      const field = sharedFieldOf(metric)
      if (field !== undefined) row.values[field] = shownNumber(field, value)
      else if (metric === PODS_METRIC) {
        row.pods = value
        row.rowMs = newestMs
      }
    }
  }
  return Array.from(rows.values(), ({ labels, ...row }) => ({
    ...row,
    device: deviceOf(labels),
    ...{ service: serviceKey(labels), pod: sharedPodKey(labels) },
    isInstance: (labels.GPU_I_ID ?? '') !== '',
  }))
}

type SharedValues = Partial<Record<GpuField, number>>

function deviceOf({ Hostname = '', UUID = '', GPU_I_ID = '', simulated = '' }: Labels): string {
  return JSON.stringify([Hostname, UUID, GPU_I_ID, simulated])
}

/** Each device once, from the rows of several pods. */
export function distinct(rows: readonly SharedGpu[]): SharedGpu[] {
  return [...new Map(rows.map((row) => [row.device, row])).values()]
}

/** Devices or instances that pods hold. The boards of instances are not held themselves. */
export function heldCount(devices: readonly SharedGpu[]): number {
  return devices.filter(({ pods }) => pods > 0).length
}

/** Devices or instances that several pods hold. */
export function sharedCount(devices: readonly SharedGpu[]): number {
  return devices.filter(({ pods }) => pods > 1).length
}

/**
 * A number over distinct devices; null if no device has it, or if it is a sum and a device lacks it. For numbers that
 * only a whole GPU has, boards count instead of their instances.
 */
export function sharedGpuNumber(devices: readonly SharedGpu[], field: GpuField): GpuNumber | null {
  const having = devices.filter(({ pods, isInstance }) => (BOARD_FIELDS.has(field) ? !isInstance : pods > 0))
  const numbers = having.flatMap(({ values }) => values[field] ?? [])
  if (numbers.length === 0 || (SUMMED_FIELDS.has(field) && numbers.length < having.length)) return null
  const sum = numbers.reduce((total, number) => total + number, 0)
  return { avg: sum / numbers.length, min: Math.min(...numbers), max: Math.max(...numbers), count: numbers.length }
}

/** Totals of the devices of one pod, for the numbers that the pod itself lacks. */
export function valuesOfDevices(
  devices: readonly SharedGpu[],
  own: Readonly<Record<GpuField, number | null>>,
): SharedValues {
  return Object.fromEntries(
    GPU_FIELDS.flatMap((field) => {
      const number = own[field] === null ? sharedGpuNumber(devices, field) : null
      return number === null ? [] : [[field, SUMMED_FIELDS.has(field) ? number.avg * number.count : number.avg]]
    }),
  )
}
