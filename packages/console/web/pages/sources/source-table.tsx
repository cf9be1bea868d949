import type { ListedSource } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { PresentCaption } from '../../components/present-caption.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import type { Quantity } from '../../format/quantity.ts'
import { formatAge, formatDuration } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { droppedCount, sourceState, targetWords } from '../source-words.ts'
import { DropReasons } from './drop-reasons.tsx'

/** Durations of all rows have one unit. */
const MILLISECONDS: Quantity = { base: 'ms', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
const WHOLE = pickUnit(MILLISECONDS, 1)
const TENTHS = pickUnit({ ...MILLISECONDS, resolution: 0.1, decimals: 1 }, 1)

/** One row a source; those that need attention first. */
export function SourceTable({ sources }: { readonly sources: readonly ListedSource[] }) {
  const rows = sources.toSorted((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)
  return (
    <section className="panel" aria-labelledby="source-table">
      <header className="panel-head has-line">
        <h2 id="source-table" className="panel-title">
          Sources
        </h2>
        <PresentCaption>since the start</PresentCaption>
      </header>
      <TableBox label="Table of sources">
        <table className="table has-first-fixed">
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">State</th>
              <th scope="col" className="is-wide">
                Why
              </th>
              <th scope="col">Runs</th>
              <th scope="col" className="is-number">
                Interval ms
              </th>
              <th scope="col" className="is-number">
                Real ms
              </th>
              <th scope="col" className="is-number">
                p99 read ms
              </th>
              <th scope="col" className="is-number">
                Samples
              </th>
              <th scope="col" className="is-number">
                Records
              </th>
              <th scope="col" className="is-number">
                Lost
              </th>
              <th scope="col" className="is-number">
                Errors
              </th>
              <th scope="col" className="is-number">
                Overruns
              </th>
              <th scope="col" className="is-number">
                Restarts
              </th>
              <th scope="col" className="is-number">
                Last sample
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((source) => (
              <SourceRow key={source.name} source={source} />
            ))}
          </tbody>
        </table>
      </TableBox>
      {rows.length === 0 && <p className="panel-note">No source is configured.</p>}
    </section>
  )
}

function SourceRow({ source }: { readonly source: ListedSource }) {
  const page = usePageState()
  const nowMs = useSecond()
  const { tone, word } = sourceState(source.state)
  const { intervalRealMs, sampleMsP99, lastSampleMs } = source
  return (
    <tr>
      <th scope="row">
        <Link href={page.hrefTo(`/sources/${encodeURIComponent(source.name)}`)}>{source.name}</Link>
      </th>
      <td>
        <StateMark tone={tone} word={word} />
      </td>
      <td className="is-quiet is-wrapping">{source.reason || targetWords(source) || '–'}</td>
      <td className="is-quiet">{source.host}</td>
      <td className="is-number num">{formatIn(WHOLE, source.intervalMs)}</td>
      <td className="is-number num">{formatIn(WHOLE, intervalRealMs ?? Number.NaN)}</td>
      <td className="is-number num">{formatIn(TENTHS, sampleMsP99 ?? Number.NaN)}</td>
      <Count value={source.samples} />
      <Count value={source.records} />
      <td className="is-number num">
        <DropReasons count={droppedCount(source)} dropped={source.dropped} />
      </td>
      <Count value={source.errors} isTrouble />
      <Count value={source.overruns} isTrouble />
      <Count value={source.restarts} isTrouble />
      <td className="is-number num">
        {lastSampleMs === null ? '–' : ageWords(nowMs - lastSampleMs, source.intervalMs)}
      </td>
    </tr>
  )
}

/** How old the last sample is. One that came in time is not counted by the second: the number would only flicker. */
function ageWords(ageMs: number, intervalMs: number): string {
  const inTimeMs = 2 * Math.max(intervalMs, 1_000)
  return ageMs <= inTimeMs ? `< ${formatDuration(inTimeMs)} ago` : `${formatAge(ageMs)} ago`
}

function Count({ value, isTrouble = false }: { readonly value: number; readonly isTrouble?: boolean }) {
  return (
    <td className={isTrouble && value > 0 ? 'is-number num is-trouble' : 'is-number num'}>
      {groupThousands(String(value))}
    </td>
  )
}
