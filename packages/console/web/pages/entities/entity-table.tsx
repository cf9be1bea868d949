import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import type { Sort } from '../../components/sort.ts'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { titleOf } from '../../format/names.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'

/** Most related entities named in a row. */
const NAMED_COUNT = 4
const BY_NAME: Sort = { column: 'name', direction: 'ascending' }

/** One row per entity; departed entities come last. */
export function EntityTable({ entities }: { readonly entities: readonly DeviceInfo[] }) {
  const page = usePageState()
  const columns: readonly TableColumn<DeviceInfo>[] = [
    {
      key: 'name',
      head: 'Entity',
      kind: 'rowHead',
      cell: (entity) => (
        <>
          <Link href={page.hrefTo(devicePath(entity))}>{deviceTitle(entity)}</Link> <SimulatedMark of={entity} />
        </>
      ),
      sortKey: deviceTitle,
    },
    {
      key: 'state',
      head: 'State',
      cell: ({ state }) => (
        <StateMark tone={state === 'gone' ? 'warning' : 'ok'} word={state === 'gone' ? 'Gone' : 'Reported'} />
      ),
    },
    {
      key: 'source',
      head: 'Reported by',
      look: 'is-quiet',
      cell: ({ source }) => source,
      sortKey: ({ source }) => source,
    },
    {
      key: 'related',
      head: 'Related',
      isWide: true,
      look: 'is-quiet is-wrapping',
      cell: (entity) => <RelatedWords entity={entity} />,
    },
  ]
  const { rows, sort } = useChosenRows(entities, {
    columns,
    fallback: BY_NAME,
    wordsOf: ({ kind, name, source }) => `${titleOf(kind)} ${kind} ${name} ${source}`,
    rankOf: ({ state }) => Number(state === 'gone'),
  })
  return (
    <Panel id="entity-table" title="Entities" isPresent filter="Filter entities">
      {rows.length === 0 ? (
        <NothingMatches searched={countText(entities.length, 'entity', 'entities')} />
      ) : (
        <DataTable
          label="Table of entities"
          look="has-first-fixed"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          sort={sort}
          isBoxed
        />
      )}
    </Panel>
  )
}

function RelatedWords({ entity }: { readonly entity: DeviceInfo }) {
  const { data } = useDevices()
  const ids = new Set(entity.relations)
  const titles = data?.devices.filter(({ id }) => ids.has(id)).map(deviceTitle) ?? []
  const more = titles.length - NAMED_COUNT
  return `${titles.slice(0, NAMED_COUNT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
