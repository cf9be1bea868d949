import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { largestOf } from '../../chart/scale.ts'
import { BITS_PER_SECOND, BYTES, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import type { HostColumns } from '../host-data.ts'
import { type InterfaceColumns, newestValue, sumColumns } from '../interface-data.ts'

const INTERFACES = ['interface', 'interfaces'] as const
const RATE = 'rate of {step} · wall clock'
const SAMPLE = 'last sample in {step} · wall clock'

/** The charts of the node overview. A chart that the host has no data for is left out. */
export function nodeCharts(interfaces: readonly InterfaceColumns[], host: HostColumns): ChartSpec[] {
  return [...interfaceCharts(interfaces), ...hostCharts(host)]
}

/** Lines that a chart of unlike interfaces has room for. */
const LINE_LIMIT_COUNT = 8

/** Interfaces are of one kind where all that carry traffic have the same link rate. */
export function chooseInterfaces(interfaces: readonly InterfaceColumns[]): {
  readonly rows: readonly InterfaceColumns[]
  readonly isAlike: boolean
} {
  const peaks = new Map(interfaces.map((row) => [row, peakOf(row)]))
  const active = interfaces.filter((row) => peaks.get(row)! > 0)
  if (active.length === 0) return { rows: interfaces.slice(0, LINE_LIMIT_COUNT), isAlike: false }
  const speeds = new Set(active.map(({ columns }) => newestValue(columns.speed)))
  if (speeds.size === 1 && !speeds.has(Number.NaN)) return { rows: active, isAlike: true }
  const busiest = active.toSorted((a, b) => peaks.get(b)! - peaks.get(a)!).slice(0, LINE_LIMIT_COUNT)
  return { rows: active.filter((row) => busiest.includes(row)), isAlike: false }
}

function peakOf({ columns, errors, drops }: InterfaceColumns): number {
  return [columns.received, columns.sent, errors, drops].reduce(
    (peak, values) => Math.max(peak, values ? largestOf([values], 0, values.length - 1) : 0),
    0,
  )
}

function interfaceCharts(all: readonly InterfaceColumns[]): ChartSpec[] {
  if (all.length === 0) return []
  const { rows: interfaces, isAlike } = chooseInterfaces(all)
  const members = (values: (row: InterfaceColumns) => Float64Array | undefined): ChartMember[] =>
    interfaces.flatMap((row) => {
      const column = values(row)
      return column ? [{ key: row.device, label: row.device, values: column }] : []
    })
  const common = {
    noun: INTERFACES,
    slots: [1, 3, 4] as const,
    provenance: RATE,
    isAlike,
    ...(interfaces.length < all.length ? { caption: `${interfaces.length} of ${all.length}` } : {}),
  }
  return [
    {
      ...common,
      id: 'received',
      title: 'Received',
      quantity: BITS_PER_SECOND,
      members: members((row) => row.columns.received),
    },
    { ...common, id: 'sent', title: 'Sent', quantity: BITS_PER_SECOND, members: members((row) => row.columns.sent) },
    {
      ...common,
      id: 'loss',
      title: 'Errors and drops',
      quantity: PER_SECOND,
      members: members((row) => sumColumns([row.errors, row.drops], row.errors.length)),
    },
  ]
}

function hostCharts(host: HostColumns): ChartSpec[] {
  const charts: ChartSpec[] = []
  if (host.busy.length > 0) {
    charts.push({
      id: 'cpu',
      title: 'Processors busy',
      quantity: PERCENT,
      scale: 'percent',
      noun: ['processor', 'processors'],
      slots: [6, 3, 4],
      provenance: RATE,
      members: host.busy.map(({ name, values }) => ({ key: name, label: `cpu ${name}`, values })),
    })
  }
  if (host.memoryUsed) {
    const total = newestValue(host.memoryTotal, Number.POSITIVE_INFINITY)
    charts.push({
      id: 'memory',
      title: 'Memory in use',
      quantity: BYTES,
      noun: ['host', 'hosts'],
      slots: [6],
      provenance: SAMPLE,
      limits: Number.isNaN(total) ? [] : [{ value: total, label: 'total' }],
      members: [{ key: 'used', label: 'in use', values: host.memoryUsed }],
    })
  }
  if (host.pressure.length > 0) {
    charts.push({
      id: 'pressure',
      title: 'Pressure',
      caption: 'some task waited',
      quantity: PERCENT,
      noun: ['resource', 'resources'],
      slots: [6, 3, 4],
      provenance: RATE,
      members: host.pressure.map(({ name, values }) => ({ key: name, label: name, values })),
    })
  }
  return charts
}
