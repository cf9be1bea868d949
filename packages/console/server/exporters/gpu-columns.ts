import type { Labels } from '@sonde/sdk'
import type { GpuField } from '@sonde/sdk/api'
import type { RawName } from './expressions.ts'

const fromMebibytes = (sum: number) => sum * 2 ** 20
const fromPercent = (sum: number) => sum / 100
const unchanged = (sum: number) => sum

/**
 * One of the nine numbers: its raw series, which are summed; how it is combined over GPUs; and whether MIG instances
 * have it.
 */
export interface GpuFieldOrigin {
  readonly raws: readonly RawName[]
  /** The raw series of a MIG instance; empty if an instance has no such number. */
  readonly ofInstance: readonly RawName[]
  /** Whether exporters also report it for the processes of each pod. */
  readonly isOfProcesses: boolean
  /** Turns the sum of the raw series into the unit of the number's metric. */
  readonly convert: (sum: number) => number
  readonly within: 'mean' | 'sum'
}

const ratio = (raw: RawName, ofInstance: readonly RawName[] = []): GpuFieldOrigin => {
  return { raws: [raw], ofInstance, isOfProcesses: false, convert: unchanged, within: 'mean' }
}
const memory = (raws: readonly RawName[], ofInstance: readonly RawName[], isOfProcesses: boolean): GpuFieldOrigin => {
  return { raws, ofInstance, isOfProcesses, convert: fromMebibytes, within: 'sum' }
}

/** The origin of each of the nine numbers, with the same rules as the rows of an agent. */
export const GPU_FIELD_ORIGINS: Readonly<Record<GpuField, GpuFieldOrigin>> = {
  'gpu-util': { raws: ['util'], ofInstance: [], isOfProcesses: true, convert: fromPercent, within: 'mean' },
  'gpu-mem-used': memory(['used'], ['used'], true),
  'gpu-mem-total': memory(['used', 'free', 'reserved'], ['used', 'free'], false),
  'gpu-tensor-active': ratio('tensor', ['tensor']),
  'gpu-sm-active': ratio('sm', ['sm']),
  'gpu-dram-active': ratio('dram', ['dram']),
  'gpu-fp16-active': ratio('fp16'),
  'gpu-fp32-active': ratio('fp32'),
  'gpu-power-w': { raws: ['power'], ofInstance: [], isOfProcesses: false, convert: unchanged, within: 'sum' },
}

/** Numbers that instances lack: exporters copy the number of the whole GPU to each instance. */
const OF_BOARDS: ReadonlySet<RawName> = new Set(['power', 'util'])

type Columns = Map<RawName, Float64Array>

/** A device over time: a GPU, or a MIG instance. */
export interface GpuDeviceColumns {
  readonly host: string
  readonly uuid: string
  readonly instance: string
  /** Series without a pod label. */
  readonly own: Columns
  /** Series with a pod label. They describe the device if it has no series without a pod label. */
  readonly copied: Columns
  /** The pods that hold it at some time, with their series. */
  readonly holders: Set<HeldColumns>
  /** How many pods hold it at each time. Computed on first use, after all series were added. */
  counts: Uint32Array | undefined
}

/** A device that a pod holds, with the series that show it. */
export interface HeldColumns {
  readonly device: GpuDeviceColumns
  readonly raws: Columns
}

/** All devices, by node, UUID and instance. */
export class DeviceTable {
  readonly #devices = new Map<string, GpuDeviceColumns>()

  /** The device of a series, and the device that its numbers describe: numbers of a board describe the whole GPU. */
  of(labels: Labels, raw: RawName): { readonly held: GpuDeviceColumns; readonly told: GpuDeviceColumns } {
    const { GPU_I_ID: instance = '' } = labels
    const held = this.#of(labels, instance)
    return { held, told: instance !== '' && OF_BOARDS.has(raw) ? this.#of(labels, '') : held }
  }

  /** The whole GPU of a MIG instance. */
  boardOf({ uuid, host }: GpuDeviceColumns): GpuDeviceColumns {
    return this.#of({ UUID: uuid, Hostname: host }, '')
  }

  #of({ UUID, uuid = '', Hostname, hostname = '' }: Labels, instance: string): GpuDeviceColumns {
    const of = { host: Hostname ?? hostname, uuid: UUID ?? uuid, instance }
    const key = JSON.stringify(of)
    const known = this.#devices.get(key)
    if (known !== undefined) return known
    const device: GpuDeviceColumns = {
      ...of,
      ...{ own: new Map(), copied: new Map(), holders: new Set(), counts: undefined },
    }
    this.#devices.set(key, device)
    return device
  }
}

/**
 * Adds a column. Columns are merged, because two jobs may scrape the same exporter, and a restarted exporter has
 * another instance label.
 */
export function addGpuColumn(columns: Columns, raw: RawName, values: Float64Array): void {
  const known = columns.get(raw)
  columns.set(raw, known === undefined ? values : known.map((value, i) => (value >= 0 ? value : (values[i] ?? value))))
}

/** Whether a pod holds a device at a time. */
export function isThere({ raws }: HeldColumns, i: number): boolean {
  for (const values of raws.values()) if ((values[i] ?? Number.NaN) >= 0) return true
  return false
}

/** How many pods hold a device at each time. */
export function holderCounts(device: GpuDeviceColumns, length: number): Uint32Array {
  if (device.counts !== undefined) return device.counts
  const counts = new Uint32Array(length)
  for (const held of device.holders) for (let i = 0; i < length; i++) if (isThere(held, i)) counts[i]!++
  device.counts = counts
  return counts
}

/** One of the nine numbers of a device at a time. */
export function numberOfDevice({ own, copied, instance }: GpuDeviceColumns, field: GpuField, i: number): number {
  const origin = GPU_FIELD_ORIGINS[field]
  return sumOf(instance === '' ? origin.raws : origin.ofInstance, origin.convert, (raw) => {
    const value = own.get(raw)?.[i] ?? Number.NaN
    return value >= 0 ? value : (copied.get(raw)?.[i] ?? Number.NaN)
  })
}

/** One of the nine numbers for the processes of one pod, at a time; NaN if no exporter reports it. */
export function numberOfProcesses({ device, raws }: HeldColumns, field: GpuField, i: number): number {
  const origin = GPU_FIELD_ORIGINS[field]
  if (!origin.isOfProcesses) return Number.NaN
  return sumOf(device.instance === '' ? origin.raws : origin.ofInstance, origin.convert, (raw) =>
    (device.own.get(raw)?.[i] ?? Number.NaN) >= 0 ? (raws.get(raw)?.[i] ?? Number.NaN) : Number.NaN,
  )
}

function sumOf(
  names: readonly RawName[],
  convert: GpuFieldOrigin['convert'],
  numberFor: (raw: RawName) => number,
): number {
  if (names.length === 0) return Number.NaN
  return convert(names.reduce((sum, name) => sum + numberFor(name), 0))
}
