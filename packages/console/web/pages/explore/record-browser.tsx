import type { ListedType } from '@sonde/sdk/api'
import { useNode } from '../../api/resources.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { recordTypes } from './metric-groups.ts'

/** Types whose texts, values and events are no metrics: no chart shows them, a command prints them. */
export function RecordBrowser({
  types,
  leftOut,
}: {
  readonly types: readonly ListedType[]
  /** Types that the server did not list. */
  readonly leftOut: number
}) {
  const { url } = usePageState()
  const { data: node } = useNode()
  const shown = recordTypes(types, url.q ?? '')
  if (shown.length === 0 && leftOut === 0) return null
  return (
    <section className="panel" aria-labelledby="record-browser">
      <header className="panel-head has-line">
        <h2 id="record-browser" className="panel-title">
          Records
        </h2>
        <span className="panel-caption">{countOf(shown.length, 'type')} with texts or values that are no metrics</span>
      </header>
      <TableBox label="Table of records">
        <table className="table is-stacked record-table">
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col" className="is-wide">
                What it is
              </th>
              <th scope="col">Fields</th>
              <th scope="col">Command that prints them</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((type) => (
              <RecordRow key={type.name} type={type} />
            ))}
          </tbody>
        </table>
      </TableBox>
      {leftOut > 0 && (
        <p className="panel-note">
          {countOf(leftOut, 'more type')} had no room in the list. {node?.command ?? 'sonde'} read --store prints them
          too.
        </p>
      )}
    </section>
  )
}

function RecordRow({ type: { name, description, labels, records, read } }: { readonly type: ListedType }) {
  const fields = records.length > 0 ? records.map((field) => field.name) : labels
  return (
    <tr>
      <th scope="row" className="mono">
        {name}
      </th>
      <td className="is-quiet is-wrapping">{description}</td>
      <td className="is-quiet is-wrapping">{fields.join(', ') || '–'}</td>
      <td className="is-wrapping">
        {read ? (
          <span className="record-read">
            <code className="mono">{read}</code>
            <CopyButton label="Copy" text={() => read} />
          </span>
        ) : (
          'Not kept: the store is off.'
        )}
      </td>
    </tr>
  )
}
