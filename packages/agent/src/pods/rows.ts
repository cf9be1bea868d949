import { fieldName, POD_FIELDS, type PodBase, type PodValues } from './fields.ts'
import type { GpuNow, Lacking } from './gpu-values.ts'
import type { Pod } from './pod-table.ts'
import { type Holders, sharedWith } from './shares.ts'
import { isOver } from './sighting.ts'

/** One pod, with the numbers of its GPUs. */
export interface PodRow {
  readonly pod: Pod
  /** For a GPU shared with other pods: the usage by the processes of this pod. */
  readonly values: PodValues
  /** The largest number of other pods that share one of its devices. */
  readonly sharedWith: number
  /** Unit: milliseconds; undefined if its GPUs are unknown. */
  readonly ageMs: number | undefined
  /** The longest period that sources of its GPUs declare; 0 if none does. Unit: milliseconds. */
  readonly periodMs: number
}

/** The pods of one service. */
export interface ServiceRows {
  readonly app: string
  readonly service: string
  readonly rows: readonly PodRow[]
}

/** What a row of a pod is made of. */
export interface PodFacts {
  readonly nowMs: number
  readonly holders: Holders
  readonly nowOf: (device: string) => GpuNow | undefined
}

/**
 * The aggregated numbers of a pod's GPUs. A mean ignores a GPU without a number; a sum needs the numbers of all GPUs.
 */
export function podRow(pod: Pod, { nowMs, holders, nowOf }: PodFacts): PodRow {
  const gpus = [...pod.devices].map(([key, { own }]) => {
    const now = nowOf(key)
    if ((holders.get(key) ?? 1) === 1) return { now, numberFor: (base: PodBase) => now?.values.get(base) }
    const shares: PodValues = own === undefined || isOver(own.seen, nowMs) ? {} : own.values
    return { now, numberFor: (base: PodBase) => shares[base] }
  })
  const known = gpus.flatMap(({ now }) => now ?? [])
  const values: { [Base in PodBase]?: number } = {}
  for (const { base, within } of POD_FIELDS) {
    const numbers = gpus.flatMap(({ numberFor }) => numberFor(base) ?? [])
    if (numbers.length === 0 || (within === 'sum' && numbers.length < gpus.length)) continue
    const sum = numbers.reduce((total, number) => total + number, 0)
    values[base] = within === 'sum' ? sum : sum / numbers.length
  }
  const periodMs = Math.max(0, ...known.map(({ periodMs }) => periodMs))
  const ageMs = known.length === 0 ? undefined : Math.max(...known.map(({ ageMs }) => ageMs))
  return { pod, values, sharedWith: sharedWith(pod, holders), ageMs, periodMs }
}

/** Why numbers of a row are not known, as far as a source says it of one of its GPUs. */
export function lackingOf(
  { pod, values }: PodRow,
  whyOf: (device: string, base: PodBase) => Lacking | undefined,
): ReadonlyMap<string, Lacking> {
  const lacking = new Map<string, Lacking>()
  for (const field of POD_FIELDS) {
    if (values[field.base] !== undefined) continue
    for (const device of pod.devices.keys()) {
      const why = whyOf(device, field.base)
      if (why === undefined) continue
      lacking.set(fieldName(field), why)
      break
    }
  }
  return lacking
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

/** The fields of a record that has some of the nine. */
export function valueFields(numberFor: (base: PodBase) => number | undefined): Record<string, number> {
  return Object.fromEntries(
    POD_FIELDS.flatMap((field) => {
      const value = numberFor(field.base)
      return value === undefined ? [] : [[fieldName(field), value]]
    }),
  )
}

/** The fields of an `app_gpu` record: over the pods that have a number, each field by itself. */
export function serviceFields({ rows }: Pick<ServiceRows, 'rows'>): Record<string, number> {
  const gpus = new Set(rows.flatMap(({ pod }) => [...pod.devices.keys()]))
  const fields: Record<string, number> = { pods: rows.length, gpus: gpus.size }
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
