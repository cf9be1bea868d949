import { type Fact, Facts } from '../../components/facts.tsx'
import { newestReading, type ReadSpan, rangeWords } from '../../devices/device-reading.ts'
import { formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BYTES, PERCENT } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { type HostColumns, type NamedColumn, resourceName } from '../host-data.ts'

/** The facts of the host: processors, memory, pressure. */
export function HostFacts({ host, span }: { readonly host: HostColumns; readonly span: ReadSpan }) {
  const facts = hostFacts(host, span)
  return facts.length > 0 && <Facts facts={facts} label={span.isNow ? 'Host' : 'Host in the window'} />
}

function hostFacts(host: HostColumns, span: ReadSpan): Fact[] {
  const percent = pickUnit(PERCENT, 1)
  const read = (values: Float64Array | undefined) => newestReading(values, span)
  const facts: Fact[] = []
  if (host.busyMean) {
    const busy = read(host.busyMean)
    const busiest = busiestOf(host.busy, span)
    const range = rangeWords(percent, busy)
    facts.push({
      label: 'Processors busy',
      value: formatIn(percent, busy.value),
      unit: '%',
      caption:
        range ||
        (busiest && host.busy.length > 1
          ? `mean of ${host.busy.length}; most: CPU ${busiest.name}, ${formatQuantity(PERCENT, read(busiest.values).value)}`
          : 'of one processor'),
    })
  }
  const total = read(host.memoryTotal).value
  const memory = read(host.memoryAvailable)
  const available = memory.value
  if (host.memoryAvailable) {
    const unit = pickUnit(BYTES, total || available)
    facts.push({
      label: 'Memory available',
      value: formatIn(unit, available),
      unit: unit.label,
      caption: Number.isNaN(total)
        ? rangeWords(unit, memory)
        : [
            rangeWords(unit, memory),
            `of ${formatQuantity(BYTES, total)}, ${formatQuantity(PERCENT, available / total)}`,
          ]
            .filter(Boolean)
            .join(' '),
    })
  }
  for (const { name, values } of host.pressure) {
    const share = read(values)
    const range = rangeWords(percent, share)
    facts.push({
      label: `Waiting for ${resourceName(name)}`,
      value: formatIn(percent, share.value),
      unit: '%',
      caption: range
        ? `${range}, of ${formatDuration(host.pressureSpanMs)} each`
        : `some task, mean of ${formatDuration(host.pressureSpanMs)}`,
    })
  }
  return facts
}

function busiestOf(columns: readonly NamedColumn[], span: ReadSpan): NamedColumn | undefined {
  const busy = ({ values }: NamedColumn) => newestReading(values, span).value
  return columns.reduce<NamedColumn | undefined>(
    (most, column) => (most && busy(most) >= busy(column) ? most : column),
    undefined,
  )
}
