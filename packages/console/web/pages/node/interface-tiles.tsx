import { Link } from 'wouter'
import type { FrameRange } from '../../api/frame.ts'
import { niceTop } from '../../chart/scale.ts'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { formatIn, formatQuantity, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { spanOf, usePageState } from '../../state/time-window.ts'
import { type InterfaceColumns, largestOfLast, newestValue } from '../interface-data.ts'
import { type InterfaceFact, interfaceState } from '../interface-facts.ts'

/** Tiles beyond these are reached through the fabric page. */
const TILE_LIMIT_COUNT = 24

interface TilesProps {
  readonly interfaces: readonly InterfaceColumns[]
  readonly facts: readonly InterfaceFact[]
  /** What a sparkline shows. */
  readonly range: FrameRange
  readonly stepMs: number
}

/** One tile an interface, side by side. */
export function InterfaceTiles({ interfaces, facts, range, stepMs }: TilesProps) {
  const spanMs = spanOf(range)
  const sampleCount = Math.ceil(spanMs / stepMs)
  const page = usePageState()
  const factOf = new Map(facts.map((fact) => [fact.device, fact]))
  // What left is history: the fabric page still lists it.
  const present = interfaces.filter(({ device }) => factOf.get(device)?.isGone === false)
  const shown = chooseTiles(present, factOf)
  const largest = Math.max(
    0,
    ...interfaces.map(({ columns }) => largestOfLast(columns.sent ?? new Float64Array(0), sampleCount) || 0),
  )
  const top = niceTop(largest, pickUnit(BITS_PER_SECOND, largest).divisor)
  return (
    <section className="rails" aria-label="Interfaces">
      <div className="rails-label">
        <h2>Interfaces</h2>
        <p>sent, {formatDuration(spanMs)}</p>
        <p className="num" title="Height of every sparkline">
          0 – {formatQuantity(BITS_PER_SECOND, top)}
        </p>
      </div>
      <ul className="tiles">
        {shown.map((row) => (
          <li key={row.device}>
            <Tile row={row} fact={factOf.get(row.device)} top={top} sampleCount={sampleCount} />
          </li>
        ))}
      </ul>
      {present.length > shown.length && (
        <Link className="rails-more" href={page.hrefTo('/fabric')}>
          and {present.length - shown.length} more
        </Link>
      )}
    </section>
  )
}

interface TileProps {
  readonly row: InterfaceColumns
  readonly fact: InterfaceFact | undefined
  readonly top: number
  readonly sampleCount: number
}

function Tile({ row, fact, top, sampleCount }: TileProps) {
  const page = usePageState()
  const { sent, received } = row.columns
  const now = newestValue(sent)
  const unit = pickUnit(BITS_PER_SECOND, Number.isNaN(now) ? 0 : now)
  const { tone, word, trouble } = interfaceState(fact)
  const length = sent?.length ?? 0
  // In trouble the sparkline is the signal that fired.
  const signal = trouble ? (fact?.errors ? row.errors : row.drops) : sent
  const signalTop = trouble && signal ? niceTop(largestOfLast(signal, sampleCount), 1) : top
  return (
    <Link className={`tile is-${tone}`} href={page.hrefTo(`/fabric/${encodeURIComponent(row.device)}`)}>
      <span className="tile-head">
        <span className="tile-name" title={row.device}>
          {row.device}
        </span>
        <StateMark tone={tone} word={word} iconOnly={tone === 'ok' || trouble !== undefined} />
      </span>
      <span className="tile-value">
        <span className="num">{formatIn(unit, now)}</span>
        <span className="unit"> {unit.label} sent</span>
      </span>
      {signal ? (
        <Sparkline
          values={signal}
          top={signalTop}
          from={length - sampleCount}
          to={length - 1}
          tone={trouble ? 'lit' : 'herd'}
        />
      ) : (
        <span className="sparkline" />
      )}
      <span className="tile-facts">
        <span>
          <span className="num">{formatQuantity(BITS_PER_SECOND, newestValue(received))}</span> received
        </span>
        <span className={trouble ? 'tile-trouble' : 'tile-quiet'}>
          {trouble ?? (fact && !fact.isSilent ? 'no errors' : '–')}
        </span>
      </span>
    </Link>
  )
}

/** As many as there is room for, in their order; those in trouble are never among the ones left out. */
function chooseTiles(
  rows: readonly InterfaceColumns[],
  factOf: ReadonlyMap<string, InterfaceFact>,
): readonly InterfaceColumns[] {
  const isTrouble = ({ device }: InterfaceColumns): boolean =>
    ['critical', 'warning'].includes(interfaceState(factOf.get(device)).tone)
  const kept = new Set([...new Set([...rows.filter(isTrouble), ...rows])].slice(0, TILE_LIMIT_COUNT))
  return rows.filter((row) => kept.has(row))
}
