import { Link } from 'wouter'
import type { SourceInfo } from '../../api/types.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { groupThousands } from '../../format/number.ts'
import { formatAge, formatDuration } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { droppedCount, sourceState } from '../source-words.ts'
import { DropReasons } from './drop-reasons.tsx'

/** One row a source; those that need attention first. */
export function SourceTable({ sources }: { readonly sources: readonly SourceInfo[] }) {
  const rows = sources.toSorted((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)
  return (
    <section className="panel" aria-labelledby="source-table">
      <header className="panel-head has-line">
        <h2 id="source-table" className="panel-title">
          Sources
        </h2>
        <span className="panel-caption">since the start</span>
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
                Interval
              </th>
              <th scope="col" className="is-number">
                Real
              </th>
              <th scope="col" className="is-number">
                p99 read
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

function SourceRow({ source }: { readonly source: SourceInfo }) {
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
      <td className="is-quiet is-wrapping">{source.reason || '–'}</td>
      <td className="is-quiet">{source.placement}</td>
      <td className="is-number num">{formatDuration(source.intervalMs)}</td>
      <td className="is-number num">{intervalRealMs === null ? '–' : formatDuration(intervalRealMs)}</td>
      <td className="is-number num">{sampleMsP99 === null ? '–' : formatDuration(sampleMsP99)}</td>
      <Count value={source.samples} />
      <Count value={source.records} />
      <td className="is-number num">
        <DropReasons count={droppedCount(source)} dropped={source.dropped} />
      </td>
      <Count value={source.errors} isTrouble />
      <Count value={source.overruns} isTrouble />
      <Count value={source.restarts} isTrouble />
      <td className="is-number num">{lastSampleMs === null ? '–' : `${formatAge(nowMs - lastSampleMs)} ago`}</td>
    </tr>
  )
}

function Count({ value, isTrouble = false }: { readonly value: number; readonly isTrouble?: boolean }) {
  return (
    <td className={isTrouble && value > 0 ? 'is-number num is-trouble' : 'is-number num'}>
      {groupThousands(String(value))}
    </td>
  )
}
