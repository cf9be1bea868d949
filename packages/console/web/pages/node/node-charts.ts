import type { ChartSpec } from '../../chart/chart-spec.ts'
import { type InterfaceColumns, newestValue, sumColumns } from '../../devices/interface-data.ts'
import { BITS_PER_SECOND, BYTES, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import type { HostColumns } from '../host-data.ts'
import { chooseInterfaces, interfaceMembers, RATE_PROVENANCE } from '../interface-charts.ts'

const SAMPLE = 'last sample in {step} · wall clock'

/** The charts of the node overview. Charts without data are left out. */
export function nodeCharts(interfaces: readonly InterfaceColumns[], host: HostColumns): ChartSpec[] {
  return [...interfaceCharts(interfaces), ...hostCharts(host)]
}

function interfaceCharts(all: readonly InterfaceColumns[]): ChartSpec[] {
  if (all.length === 0) return []
  const { common, rows } = chooseInterfaces(all)
  return [
    {
      ...common,
      id: 'received',
      title: 'Received',
      quantity: BITS_PER_SECOND,
      members: interfaceMembers(rows, ({ columns }) => columns.received),
    },
    {
      ...common,
      id: 'sent',
      title: 'Sent',
      quantity: BITS_PER_SECOND,
      members: interfaceMembers(rows, ({ columns }) => columns.sent),
    },
    {
      ...common,
      id: 'loss',
      title: 'Errors and drops',
      quantity: PER_SECOND,
      members: interfaceMembers(rows, (row) => sumColumns([row.errors, row.drops], row.errors.length)),
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
      provenance: RATE_PROVENANCE,
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
      // If the step is as long, the header already shows it.
      caption: host.pressureSpanMs > host.stepMs ? `${formatDuration(host.pressureSpanMs)} mean` : 'tasks waiting',
      quantity: PERCENT,
      noun: ['resource', 'resources'],
      slots: [6, 3, 4],
      provenance: RATE_PROVENANCE,
      members: host.pressure.map(({ name, values }) => ({ key: name, label: name, values })),
    })
  }
  return charts
}
