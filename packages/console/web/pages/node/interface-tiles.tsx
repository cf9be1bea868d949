import { Link } from 'wouter'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { niceTop } from '../../chart/scale.ts'
import { LONG_COUNT, SICKEST_FIRST, sicknessKey, splitIdle } from '../../components/sickness.ts'
import { sortRows } from '../../components/sort.ts'
import { Tile, type TileWords } from '../../components/tile.tsx'
import { useSpan } from '../../components/use-span.ts'
import { newestReading, type ReadSpan, rangeWords } from '../../devices/device-reading.ts'
import { type InterfaceColumns, largestOfLast } from '../../devices/interface-data.ts'
import { type InterfaceFact, interfaceLoad, interfaceState } from '../../devices/interface-facts.ts'
import { countText, formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

interface TilesProps {
  readonly interfaces: readonly InterfaceColumns[]
  readonly facts: readonly InterfaceFact[]
  /** Samples of the sparklines. */
  readonly answer: KnownColumns
  readonly span: ReadSpan
}

/** One tile per interface that fits, and a link to the others. */
export function InterfaceTiles({ interfaces, facts, answer, span }: TilesProps) {
  const { fromMs, toMs } = useSpan(answer)
  const spanMs = toMs - fromMs
  const sampleCount = Math.ceil(spanMs / span.stepMs)
  const page = usePageState()
  const factOf = new Map(facts.map((fact) => [fact.device, fact]))
  // Departed interfaces appear only on the fabric page.
  const present = interfaces.filter(({ device }) => factOf.get(device)?.isGone === false)
  const { shown, idleCount } = chooseTiles(present, factOf, span)
  const largest = Math.max(
    0,
    ...interfaces.map(({ columns }) => largestOfLast(columns.sent ?? new Float64Array(0), sampleCount) || 0),
  )
  const top = niceTop(largest, pickUnit(BITS_PER_SECOND, largest).divisor)
  return (
    <section className="rails" aria-label="Interfaces">
      <div className="rails-label">
        <h2>Interfaces</h2>
        <p>
          sent, {span.isNow ? '' : 'mean of '}
          {formatDuration(spanMs)}
        </p>
        <p className="num" title="Height of every sparkline">
          0 – {formatQuantity(BITS_PER_SECOND, top)}
        </p>
      </div>
      <ul className="tiles">
        {shown.map((row) => (
          <li key={row.device}>
            <Tile
              words={interfaceTile(row, factOf.get(row.device), { top, sampleCount, span })}
              href={page.hrefTo(`/fabric/${encodeURIComponent(row.device)}`)}
            />
          </li>
        ))}
      </ul>
      {present.length > shown.length && (
        <Link className="rails-more" href={page.hrefTo('/fabric')}>
          {moreWords(present.length - shown.length - idleCount, idleCount)}
        </Link>
      )}
    </section>
  )
}

/** The tile of an interface: traffic in both directions, and trouble. */
function interfaceTile(
  row: InterfaceColumns,
  fact: InterfaceFact | undefined,
  scale: { readonly top: number; readonly sampleCount: number; readonly span: ReadSpan },
): TileWords {
  const { sent, received } = row.columns
  const own = newestReading(sent, scale.span)
  const unit = pickUnit(BITS_PER_SECOND, Number.isNaN(own.value) ? 0 : own.value)
  const { tone, word, trouble } = interfaceState(fact)
  // In trouble the sparkline shows the signal of the trouble.
  const signal = trouble ? (fact?.errors ? row.errors : row.drops) : sent
  const top = trouble && signal ? niceTop(largestOfLast(signal, scale.sampleCount), 1) : scale.top
  return {
    name: row.device,
    tone,
    word,
    value: formatIn(unit, own.value),
    unit: unit.label,
    what: 'sent',
    facts: [
      {
        text:
          rangeWords(unit, own) ||
          `${formatQuantity(BITS_PER_SECOND, newestReading(received, scale.span).value)} received`,
      },
      trouble
        ? { text: trouble, isTrouble: true }
        : { text: tone === 'ok' ? 'no errors' : word, isTrouble: tone === 'critical' },
    ],
    ...(signal
      ? {
          spark: {
            values: signal,
            top,
            isLit: trouble !== undefined,
            from: Math.max(0, signal.length - scale.sampleCount),
          },
        }
      : {}),
  }
}

/** Interfaces that fit, the sickest first; among many, then the busiest. Idle interfaces are left out before others. */
function chooseTiles(
  rows: readonly InterfaceColumns[],
  factOf: ReadonlyMap<string, InterfaceFact>,
  span: ReadSpan,
): { readonly shown: readonly InterfaceColumns[]; readonly idleCount: number } {
  const judged = rows.map((row) => {
    const state = interfaceState(factOf.get(row.device))
    return { row, state, ...interfaceLoad(row, state, span) }
  })
  const isLong = rows.length > LONG_COUNT
  const sorted = sortRows(judged, SICKEST_FIRST.direction, ({ state, load }) =>
    sicknessKey(state.tone, isLong ? load : 0),
  )
  const { busy, idle } = splitIdle(sorted, ({ isIdle }) => isIdle)
  return { shown: busy.slice(0, LONG_COUNT).map(({ row }) => row), idleCount: idle.length }
}

/** `and 12 more, 163 idle` */
function moreWords(moreCount: number, idleCount: number): string {
  const parts = [moreCount > 0 && `${moreCount} more`, idleCount > 0 && countText(idleCount, 'idle interface')]
  return `and ${parts.filter(Boolean).join(', ')}`
}
