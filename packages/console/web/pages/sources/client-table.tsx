import type { ClientSource, ListedClient } from '@sonde/sdk/api'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { useTypes } from '../../api/resources.ts'
import { PresentCaption } from '../../components/present-caption.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import { BYTES } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { listed } from './listed.ts'

/** Sources and types that are named. */
const NAME_LIMIT_COUNT = 4

/** One row an application that reports to the agent; nothing while there is none. */
export function ClientTable({ clients }: { readonly clients: readonly ListedClient[] }) {
  const nowMs = useSecond()
  if (clients.length === 0) return null
  return (
    <section className="panel" aria-labelledby="client-table">
      <header className="panel-head has-line">
        <h2 id="client-table" className="panel-title">
          Applications
        </h2>
        <PresentCaption>since they connected</PresentCaption>
      </header>
      <TableBox label="Table of applications">
        <table className="table has-first-fixed">
          <thead>
            <tr>
              <th scope="col">Application</th>
              <th scope="col">Sources</th>
              <th scope="col" className="is-wide">
                Types
              </th>
              <th scope="col">Pages through</th>
              <th scope="col" className="is-number">
                Connected for
              </th>
              <th scope="col" className="is-number">
                Records
              </th>
              <th scope="col" className="is-number">
                Not acknowledged
              </th>
            </tr>
          </thead>
          <tbody>
            {clients.map((client) => (
              <ClientRow key={client.client} client={client} nowMs={nowMs} />
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

function ClientRow({ client, nowMs }: { readonly client: ListedClient; readonly nowMs: number }) {
  const { program, pid, sources, types, mode, connectedMs, records, inFlightBytes } = client
  const names = sources.map(sourceName)
  const unit = pickUnit(BYTES, inFlightBytes)
  return (
    <tr>
      <th scope="row">
        {program} <span className="num">{pid}</span>
      </th>
      <td>{listed(names, NAME_LIMIT_COUNT) || '–'}</td>
      <td>
        <TypeLinks types={types} />
      </td>
      <td>{mode === 'shared' ? 'Shared memory' : 'Socket'}</td>
      <td className="is-number num">{formatAge(nowMs - connectedMs)}</td>
      <td className="is-number num">{groupThousands(String(records))}</td>
      <td className="is-number num">
        {formatIn(unit, inFlightBytes)} {unit.label}
      </td>
    </tr>
  )
}

/** Its tag and labels tell it from others of the same application. */
function sourceName({ id, tag, labels }: ClientSource): string {
  const more = [...(tag === '' ? [] : [tag]), ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
  return more.length === 0 ? id : `${id} (${more.join(', ')})`
}

/** The first few types; those of which something can be asked for open in the explorer. */
function TypeLinks({ types }: Pick<ListedClient, 'types'>) {
  const page = usePageState()
  const { data } = useTypes()
  if (types.length === 0) return '–'
  const isKnown = (type: string) => data?.types.some(({ name, fields }) => name === type && fields.length > 0) === true
  const moreCount = types.length - NAME_LIMIT_COUNT
  return (
    <>
      {types.slice(0, NAME_LIMIT_COUNT).map((type, at) => (
        <Fragment key={type}>
          {at > 0 && ', '}
          {isKnown(type) ? <Link href={page.hrefTo('/explore', { q: type })}>{type}</Link> : type}
        </Fragment>
      ))}
      {moreCount > 0 && ` and ${moreCount} more`}
    </>
  )
}
