import type { ClientSource, ListedClient } from '@sonde/sdk/api'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { useTypes } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import { BYTES } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { listed } from './listed.ts'

/** Most sources and types named. */
const NAME_LIMIT_COUNT = 4

/** One row per application that reports to the agent. Empty if there are none. */
export function ClientTable({ clients }: { readonly clients: readonly ListedClient[] }) {
  const nowMs = useSecond()
  if (clients.length === 0) return null
  const columns: readonly TableColumn<ListedClient>[] = [
    {
      key: 'application',
      head: 'Application',
      kind: 'rowHead',
      cell: ({ program, pid }) => (
        <>
          {program} <span className="num">{pid}</span>
        </>
      ),
    },
    {
      key: 'sources',
      head: 'Sources',
      cell: ({ sources }) => listed(sources.map(sourceName), NAME_LIMIT_COUNT) || '–',
    },
    { key: 'types', head: 'Types', isWide: true, cell: ({ types }) => <TypeLinks types={types} /> },
    { key: 'mode', head: 'Pages through', cell: ({ mode }) => (mode === 'shared' ? 'Shared memory' : 'Socket') },
    {
      key: 'connected',
      head: 'Connected for',
      kind: 'number',
      cell: ({ connectedMs }) => formatAge(nowMs - connectedMs),
    },
    { key: 'records', head: 'Records', kind: 'number', cell: ({ records }) => groupThousands(String(records)) },
    {
      key: 'waiting',
      head: 'Not acknowledged',
      kind: 'number',
      cell: ({ inFlightBytes }) => {
        const unit = pickUnit(BYTES, inFlightBytes)
        return `${formatIn(unit, inFlightBytes)} ${unit.label}`
      },
    },
  ]
  return (
    <Panel id="client-table" title="Applications" caption="since they connected" isPresent>
      <DataTable
        label="Table of applications"
        look="has-first-fixed"
        columns={columns}
        rows={clients}
        keyOf={({ client }) => client}
      />
    </Panel>
  )
}

/** The tag and labels distinguish sources of an application. */
function sourceName({ id, tag, labels }: ClientSource): string {
  const more = [...(tag === '' ? [] : [tag]), ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
  return more.length === 0 ? id : `${id} (${more.join(', ')})`
}

/** The first few types. Types with metrics link to the explorer. */
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
