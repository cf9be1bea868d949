import type { ListedSink } from '@sonde/sdk/api'
import { PresentCaption } from '../../components/present-caption.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { groupThousands } from '../../format/number.ts'
import { droppedCount } from '../source-words.ts'
import { DropReasons } from './drop-reasons.tsx'

/** One row a sink: what it was given, what it passed on, and what it dropped. */
export function SinkTable({ sinks }: { readonly sinks: readonly ListedSink[] }) {
  return (
    <section className="panel" aria-labelledby="sink-table">
      <header className="panel-head has-line">
        <h2 id="sink-table" className="panel-title">
          Sinks
        </h2>
        <PresentCaption>since the start</PresentCaption>
      </header>
      <TableBox label="Table of sinks">
        <table className="table has-first-fixed">
          <thead>
            <tr>
              <th scope="col">Sink</th>
              <th scope="col">State</th>
              <th scope="col" className="is-number">
                Records in
              </th>
              <th scope="col" className="is-number">
                Out
              </th>
              <th scope="col" className="is-number">
                Waiting
              </th>
              <th scope="col" className="is-number">
                Dropped
              </th>
              <th scope="col" className="is-number">
                Errors
              </th>
              <th scope="col" className="is-number">
                Time spent ms
              </th>
            </tr>
          </thead>
          <tbody>
            {sinks.map((sink) => (
              <SinkRow key={sink.name} sink={sink} />
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

function SinkRow({ sink }: { readonly sink: ListedSink }) {
  const dropped = droppedCount(sink)
  const isTrouble = sink.failing !== '' || dropped > 0 || sink.errors > 0
  return (
    <tr>
      <th scope="row">{sink.name}</th>
      <td>
        <StateMark tone={isTrouble ? 'warning' : 'ok'} word={stateOf(sink, dropped)} />
      </td>
      <td className="is-number num">{groupThousands(String(sink.in))}</td>
      <td className="is-number num">{groupThousands(String(sink.out))}</td>
      <td className="is-number num">{groupThousands(String(Math.max(0, sink.in - sink.out - dropped)))}</td>
      <td className="is-number num">
        <DropReasons count={dropped} dropped={sink.dropped} />
      </td>
      <td className={sink.errors > 0 ? 'is-number num is-trouble' : 'is-number num'}>
        {groupThousands(String(sink.errors))}
      </td>
      <td className="is-number num">{groupThousands((sink.seconds * 1000).toFixed(0))}</td>
    </tr>
  )
}

function stateOf({ failing, errors, causes }: ListedSink, dropped: number): string {
  if (failing !== '') return `Failing: ${failing}`
  const words = Object.values(causes).join('; ')
  if (dropped > 0) return words === '' ? 'Dropped records' : `Dropped records: ${words}`
  return errors > 0 ? 'Had errors' : 'Taking records'
}
