import type { LatestSeries } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import type { HeadlineText } from '../../components/headline.tsx'
import { lastValue, newestReading, type ReadSpan, rangeWords } from '../../devices/device-reading.ts'
import type { InterfaceColumns } from '../../devices/interface-data.ts'
import { type InterfaceFact, interfaceFindings, interfaceState } from '../../devices/interface-facts.ts'
import { formatIn, formatQuantity, groupThousands, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND, type DisplayQuantity, PER_SECOND } from '../../format/quantity.ts'
import { be, type Tense } from '../../format/words.ts'

/** The headline of an interface. */
export function interfaceHeadline(
  fact: InterfaceFact,
  row: InterfaceColumns,
  latest: readonly LatestSeries[],
  { tense, ...span }: ReadSpan & { readonly tense: Tense },
): HeadlineText {
  const rate = (values: Float64Array | undefined) => formatQuantity(BITS_PER_SECOND, newestReading(values, span).value)
  const isPast = tense === 'past'
  const findings = interfaceFindings(fact, [], { context: '', tense }).toSorted((a, b) => a.rank - b.rank)
  const traffic = `${isPast ? 'Received' : 'Receives'} ${rate(row.columns.received)}, ${isPast ? 'sent' : 'sends'} ${rate(row.columns.sent)}.`
  const worst = findings[0]
  if (worst) return { tone: worst.tone, sentence: worst.sentence, facts: `${worst.facts} ${traffic}` }
  const { word } = interfaceState(fact)
  const subject =
    fact.isUp === undefined
      ? `The state of ${fact.device} ${be(1, tense)} unknown`
      : `${fact.device} ${be(1, tense)} ${word.toLowerCase()}`
  const changes = exactValue(latest, 'netdev_carrier_changes_total')
  const carrier =
    changes === undefined || changes === '0' ? '' : ` The carrier came or went ${groupThousands(changes)} times.`
  return {
    tone: 'calm',
    sentence: fact.isSilent
      ? `${fact.device} ${isPast ? 'had' : 'has'} no values here`
      : `${subject}; it ${isPast ? 'counted' : 'counts'} no errors or drops`,
    facts: `${traffic}${carrier}`,
  }
}

/** The facts of an interface: link, rates, loss, carrier. Facts that need exact values appear only for the present. */
export function interfaceFacts(row: InterfaceColumns, latest: readonly LatestSeries[], span: ReadSpan): Fact[] {
  const { columns, errors, drops } = row
  const rate = (label: string, quantity: DisplayQuantity, values: Float64Array | undefined, caption: string): Fact => {
    const reading = newestReading(values, span)
    const unit = pickUnit(quantity, Number.isNaN(reading.value) ? 0 : reading.value)
    return {
      label,
      value: formatIn(unit, reading.value),
      unit: unit.label,
      caption: rangeWords(unit, reading) || caption,
    }
  }
  const loss = (label: string, values: Float64Array, tone: 'critical' | 'warning', total: string): Fact => {
    const fact = rate(label, PER_SECOND, values, total)
    return newestReading(values, span).value > 0 ? { ...fact, tone } : fact
  }
  return [
    speedFact(latest, lastValue(columns.speed, span)),
    rate('Received', BITS_PER_SECOND, columns.received, `${rateText(columns.packetsIn, span)} packets`),
    rate('Sent', BITS_PER_SECOND, columns.sent, `${rateText(columns.packetsOut, span)} packets`),
    loss('Errors', errors, 'critical', totalText(latest, ['netdev_rx_errors_total', 'netdev_tx_errors_total'])),
    loss('Drops', drops, 'warning', totalText(latest, ['netdev_rx_dropped_total', 'netdev_tx_dropped_total'])),
    ...(latest.length === 0
      ? []
      : [
          countFact('Carrier changes', latest, 'netdev_carrier_changes_total', 'in all'),
          { ...countFact('MTU', latest, 'netdev_mtu_bytes', 'longest packet'), unit: 'B' },
        ]),
  ]
}

function rateText(values: Float64Array | undefined, span: ReadSpan): string {
  return formatQuantity(PER_SECOND, newestReading(values, span).value)
}

function speedFact(latest: readonly LatestSeries[], sampled: number): Fact {
  const exact = exactValue(latest, 'netdev_speed_bytes_per_second')
  const speed = exact === undefined ? sampled : Number(exact)
  if (Number.isNaN(speed)) return { label: 'Link speed', value: '–', caption: 'the driver does not tell' }
  const unit = pickUnit(BITS_PER_SECOND, speed)
  return { label: 'Link speed', value: formatIn(unit, speed), unit: unit.label, caption: 'as negotiated' }
}

function countFact(label: string, latest: readonly LatestSeries[], metric: string, caption: string): Fact {
  const value = exactValue(latest, metric)
  return { label, value: value === undefined ? '–' : groupThousands(value), caption }
}

function totalText(latest: readonly LatestSeries[], metrics: readonly string[]): string {
  const values = metrics.flatMap((metric) => exactValue(latest, metric) ?? [])
  if (values.length === 0) return ''
  const total = values.reduce((sum, value) => sum + BigInt(value), 0n)
  return `${groupThousands(String(total))} in all`
}

function exactValue(latest: readonly LatestSeries[], metric: string): string | undefined {
  return latest.find((series) => series.metric === metric)?.value ?? undefined
}
