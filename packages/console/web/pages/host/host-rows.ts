import type { Labels, ListedType, MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import { type DeviceReading, lastValue, meanReading, type ReadSpan } from '../../devices/device-reading.ts'
import { isQuiet } from '../../devices/interface-data.ts'

const last = (metric: string): MetricQuery => ({ metric, function: 'last' })
const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })

const FILESYSTEM = {
  size: last('host_filesystem_size_bytes'),
  available: last('host_filesystem_available_bytes'),
  files: last('host_filesystem_files'),
  filesFree: last('host_filesystem_files_free'),
  readOnly: last('host_filesystem_read_only'),
} as const satisfies Record<string, MetricQuery>

const DISK = {
  read: rate('host_disk_read_bytes_total'),
  written: rate('host_disk_written_bytes_total'),
  reads: rate('host_disk_reads_total'),
  writes: rate('host_disk_writes_total'),
  readSeconds: rate('host_disk_read_seconds_total'),
  writeSeconds: rate('host_disk_write_seconds_total'),
  busy: rate('host_disk_io_seconds_total'),
  inFlight: last('host_disk_in_flight'),
} as const satisfies Record<string, MetricQuery>

/** The queries about file systems and disks. */
export const HOST_ROW_QUERIES: readonly MetricQuery[] = [...Object.values(FILESYSTEM), ...Object.values(DISK)]

/** A mounted file system. Values that nobody reports are NaN. */
export interface FilesystemRow {
  readonly mountpoint: string
  readonly fstype: string
  /** Unit: bytes. */
  readonly size: number
  readonly available: number
  /** Shares from 0 to 1. */
  readonly availableShare: number
  readonly filesFreeShare: number
  readonly isReadOnly: boolean
}

/** A disk. Values that nobody reports are NaN. */
export interface DiskRow {
  readonly disk: string
  /** Unit: bytes per second. */
  readonly read: DeviceReading
  readonly written: DeviceReading
  /** Share of time with a request. */
  readonly busy: DeviceReading
  /** Mean time of a request. Unit: seconds. */
  readonly readTime: number
  readonly writeTime: number
  readonly inFlight: number
  /** Whether it had no request in the window. */
  readonly isIdle: boolean
}

type Found<Signal extends string> = Readonly<Partial<Record<Signal, Float64Array>>>

/** The samples of a table by the labels of its rows. Simulated series are left out. */
function found<Signal extends string>(
  queries: Readonly<Record<Signal, MetricQuery>>,
  answer: QueryColumns,
  keyOf: (labels: Labels) => string,
): ReadonlyMap<string, { readonly labels: Labels; readonly columns: Found<Signal> }> {
  const rows = new Map<string, { readonly labels: Labels; readonly columns: Found<Signal> }>()
  const { grid } = answer
  if (!grid) return rows
  for (const [signal, query] of Object.entries(queries) as [Signal, MetricQuery][])
    for (const column of answer.columns(query)) {
      if (column.labels.simulated === 'true') continue
      const key = keyOf(column.labels)
      const columns = { ...rows.get(key)?.columns, [signal]: grid.slice(column) } as Found<Signal>
      rows.set(key, { labels: column.labels, columns })
    }
  return rows
}

/** Whether the source `host` has reported. The simulator has pressure alone. */
export function hasHostTypes(types: readonly Pick<ListedType, 'name'>[]): boolean {
  return types.some(({ name }) => name.startsWith('host_') && name !== 'host_pressure')
}

/** The file systems of the host, the fullest first. */
export function filesystemRows(answer: QueryColumns, span: ReadSpan): readonly FilesystemRow[] {
  const rows = [...found(FILESYSTEM, answer, ({ mountpoint, fstype }) => `${fstype} ${mountpoint}`).values()]
  return rows
    .map(({ labels: { mountpoint = '', fstype = '' }, columns }): FilesystemRow => {
      const read = (values: Float64Array | undefined) => lastValue(values, span)
      const [size, available, files] = [read(columns.size), read(columns.available), read(columns.files)]
      return {
        mountpoint,
        fstype,
        size,
        available,
        availableShare: size > 0 ? available / size : Number.NaN,
        filesFreeShare: files > 0 ? read(columns.filesFree) / files : Number.NaN,
        isReadOnly: read(columns.readOnly) === 1,
      }
    })
    .filter(({ size }) => !Number.isNaN(size))
    .toSorted((a, b) => fullness(b) - fullness(a))
}

/** What a file system has least of, as a share: its space or its files. */
export function scarce({ availableShare, filesFreeShare }: FilesystemRow): 'space' | 'files' {
  return filesFreeShare < availableShare ? 'files' : 'space'
}

/** How full a file system is, by what it has least of. */
export function fullness(row: FilesystemRow): number {
  const left = scarce(row) === 'files' ? row.filesFreeShare : row.availableShare
  return Number.isNaN(left) ? 0 : 1 - left
}

/** The disks of the host, the busiest first. */
export function diskRows(answer: QueryColumns, span: ReadSpan): readonly DiskRow[] {
  const rows = [...found(DISK, answer, ({ disk }) => disk ?? '').values()]
  return rows
    .map(({ labels: { disk = '' }, columns }): DiskRow => {
      const read = (values: Float64Array | undefined) => meanReading(values, span)
      const perRequest = (seconds: Float64Array | undefined, requests: Float64Array | undefined) => {
        const count = read(requests).value
        return count > 0 ? read(seconds).value / count : Number.NaN
      }
      return {
        disk,
        read: read(columns.read),
        written: read(columns.written),
        busy: read(columns.busy),
        readTime: perRequest(columns.readSeconds, columns.reads),
        writeTime: perRequest(columns.writeSeconds, columns.writes),
        inFlight: lastValue(columns.inFlight, span),
        isIdle: isQuiet([columns.busy, columns.reads, columns.writes]),
      }
    })
    .toSorted((a, b) => (b.busy.value || 0) - (a.busy.value || 0))
}
