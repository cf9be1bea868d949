import { fieldName, POD_FIELDS, type PodBase, type PodValues } from './fields.ts'
import type { GpuNow } from './gpu-values.ts'
import type { Pod } from './pod-table.ts'

/** One pod, with the numbers of its GPUs. */
export interface PodRow {
  readonly pod: Pod
  readonly values: PodValues
  /** Unit: milliseconds; undefined where nothing is known of its GPUs. */
  readonly ageMs: number | undefined
  /** The longest period that sources of its GPUs declare; 0 where none does. Unit: milliseconds. */
  readonly periodMs: number
}

/** The pods of one service. */
export interface ServiceRows {
  readonly app: string
  readonly service: string
  readonly rows: readonly PodRow[]
}

/** What a pod's GPUs do together. A GPU without a number takes no part in a mean; a sum needs those of all. */
export function podRow(pod: Pod, nowOf: (device: string) => GpuNow | undefined): PodRow {
  const gpus = [...pod.devices.keys()].map(nowOf)
  const known = gpus.filter((gpu) => gpu !== undefined)
  const values: { [Base in PodBase]?: number } = {}
  for (const { base, within } of POD_FIELDS) {
    const numbers = known.flatMap(({ values }) => values.get(base) ?? [])
    if (numbers.length === 0 || (within === 'sum' && numbers.length < gpus.length)) continue
    const sum = numbers.reduce((total, number) => total + number, 0)
    values[base] = within === 'sum' ? sum : sum / numbers.length
  }
  const periodMs = Math.max(0, ...known.map(({ periodMs }) => periodMs))
  return { pod, values, ageMs: known.length === 0 ? undefined : Math.max(...known.map(({ ageMs }) => ageMs)), periodMs }
}

/** Rows by app and service, a step a row; simulated pods apart from others. */
export function* servicesOf(rows: readonly PodRow[]): Generator<undefined, ServiceRows[]> {
  const services = new Map<string, { app: string; service: string; rows: PodRow[] }>()
  for (const row of rows) {
    const { app, service, source } = row.pod
    const key = JSON.stringify([app, service, source.labels.simulated])
    const known = services.get(key)
    if (known === undefined) services.set(key, { app, service, rows: [row] })
    else known.rows.push(row)
    yield
  }
  return [...services.values()]
}

/** The fields of a `pod_gpu` record that the GPUs give. */
export function podFields({ values }: PodRow): Record<string, number> {
  return Object.fromEntries(
    POD_FIELDS.flatMap((field) => {
      const value = values[field.base]
      return value === undefined ? [] : [[fieldName(field), value]]
    }),
  )
}

/** The fields of an `app_gpu` record: over the pods that have a number, each field by itself. */
export function serviceFields({ rows }: Pick<ServiceRows, 'rows'>): Record<string, number> {
  const gpus = rows.reduce((sum, { pod }) => sum + pod.devices.size, 0)
  const fields: Record<string, number> = { pods: rows.length, gpus }
  for (const field of POD_FIELDS) {
    const numbers = rows.flatMap(({ values }) => values[field.base] ?? [])
    fields[`${field.base}_pods`] = numbers.length
    if (numbers.length === 0) continue
    fields[fieldName(field)] = numbers.reduce((total, number) => total + number, 0) / numbers.length
    fields[fieldName(field, 'min')] = Math.min(...numbers)
    fields[fieldName(field, 'max')] = Math.max(...numbers)
  }
  return fields
}
