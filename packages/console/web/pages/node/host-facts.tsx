import { type Fact, Facts } from '../../components/facts.tsx'
import { newestValue } from '../../devices/interface-data.ts'
import { formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BYTES, PERCENT } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { type HostColumns, type NamedColumn, resourceName } from '../host-data.ts'

/** The host in a strip of facts: processors, memory, pressure. */
export function HostFacts({ host }: { readonly host: HostColumns }) {
  const facts = hostFacts(host)
  return facts.length > 0 && <Facts facts={facts} label="Host" />
}

function hostFacts(host: HostColumns): Fact[] {
  const facts: Fact[] = []
  if (host.busyMean) {
    const busiest = busiestOf(host.busy)
    facts.push({
      label: 'Processors busy',
      value: formatIn(pickUnit(PERCENT, 1), newestValue(host.busyMean)),
      unit: '%',
      caption:
        busiest && host.busy.length > 1
          ? `mean of ${host.busy.length}, cpu ${busiest.name} ${formatQuantity(PERCENT, newestValue(busiest.values))}`
          : 'of one processor',
    })
  }
  const total = newestValue(host.memoryTotal)
  const available = newestValue(host.memoryAvailable)
  if (host.memoryAvailable) {
    const unit = pickUnit(BYTES, total || available)
    facts.push({
      label: 'Memory available',
      value: formatIn(unit, available),
      unit: unit.label,
      caption: Number.isNaN(total)
        ? ''
        : `of ${formatQuantity(BYTES, total)}, ${formatQuantity(PERCENT, available / total)}`,
    })
  }
  for (const { name, values } of host.pressure) {
    const share = newestValue(values)
    facts.push({
      label: `Waiting for ${resourceName(name)}`,
      value: formatIn(pickUnit(PERCENT, 1), share),
      unit: '%',
      caption: `some task, mean of ${formatDuration(host.pressureSpanMs)}`,
    })
  }
  return facts
}

function busiestOf(columns: readonly NamedColumn[]): NamedColumn | undefined {
  return columns.reduce<NamedColumn | undefined>(
    (most, column) => (most && newestValue(most.values) >= newestValue(column.values) ? most : column),
    undefined,
  )
}
