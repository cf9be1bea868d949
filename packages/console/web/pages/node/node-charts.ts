import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
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

function interfaceCharts(interfaces: readonly InterfaceColumns[]): ChartSpec[] {
  if (interfaces.length === 0) return []
  const members = (values: (row: InterfaceColumns) => Float64Array | undefined): ChartMember[] =>
    interfaces.flatMap((row) => {
      const column = values(row)
      return column ? [{ key: row.device, label: row.device, values: column }] : []
    })
  const common = { noun: INTERFACES, slots: [1, 3, 4] as const, provenance: RATE }
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
      caption: 'time in which some task waited',
      quantity: PERCENT,
      noun: ['resource', 'resources'],
      slots: [6, 3, 4],
      provenance: RATE,
      members: host.pressure.map(({ name, values }) => ({ key: name, label: name, values })),
    })
  }
  return charts
}
