import type { ListedSource } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useSources } from '../../api/resources.ts'
import { PresentCaption } from '../../components/present-caption.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf, groupThousands } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { sourceState } from '../source-words.ts'

/** What failed of sources that read all the same, since their start; empty if nothing did. */
function failedWords(reading: readonly ListedSource[]): string {
  const failing = reading.filter(({ errors }) => errors > 0)
  if (failing.length === 0) return ''
  const reads = failing.reduce((sum, { errors }) => sum + errors, 0)
  return ` · ${groupThousands(String(reads))} reads failed: ${failing.map(({ name }) => name).join(', ')}`
}

/** The sources in short: one row for all that read, one for each that does not. */
export function SourcesPanel() {
  const page = usePageState()
  const { data } = useSources()
  if (!data) return null
  const { sources } = data
  const reading = sources.filter(({ state }) => state === 'reading')
  const others = sources
    .filter(({ state }) => state !== 'reading')
    .sort((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)
  return (
    <section className="panel" aria-labelledby="sources-panel">
      <header className="panel-head has-line">
        <h2 id="sources-panel" className="panel-title">
          Sources
        </h2>
        <PresentCaption />
        <Link className="panel-link" href={page.hrefTo('/sources')}>
          All sources
        </Link>
      </header>
      <TableBox label="Table of sources">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Source</th>
              <th scope="col" className="is-wide">
                Why
              </th>
            </tr>
          </thead>
          <tbody>
            {reading.length > 0 && (
              <tr>
                <td>
                  <StateMark tone="ok" word="Reading" />
                </td>
                <td>{countOf(reading.length, 'source')}</td>
                <td className="is-quiet is-wrapping num">
                  {groupThousands(String(data.ledger.dropped))} lost of {groupThousands(String(data.ledger.in))}
                  {failedWords(reading)}
                </td>
              </tr>
            )}
            {others.map((source) => {
              const { tone, word } = sourceState(source.state)
              return (
                <tr key={source.name}>
                  <td>
                    <StateMark tone={tone} word={word} />
                  </td>
                  <td>
                    <Link href={page.hrefTo(`/sources/${encodeURIComponent(source.name)}`)}>{source.name}</Link>
                  </td>
                  <td className="is-quiet is-wrapping">{source.reason || '–'}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </TableBox>
      {sources.length === 0 && <p className="panel-note">No source is configured.</p>}
    </section>
  )
}
