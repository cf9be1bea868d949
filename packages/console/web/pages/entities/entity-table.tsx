import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { sicknessKey } from '../../components/sickness.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { type Sort, sortRows } from '../../components/sort.ts'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { titleOf } from '../../format/names.ts'
import { countText } from '../../format/number.ts'
import { RECENT, usePageState } from '../../state/time-window.ts'
import { useAffected } from '../use-affected.ts'

/** Most related entities named in a row. */
const NAMED_COUNT = 4
/** A departed entity is history, so it comes last. */
const REPORTED_FIRST: Sort = { column: 'state', direction: 'ascending' }

/** One row per entity; departed entities come last. */
export function EntityTable({ entities }: { readonly entities: readonly DeviceInfo[] }) {
  const page = usePageState()
  // The table shows the present, whatever the window is.
  const affected = useAffected(RECENT)
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
      cell: (entity) => (
        <>
          <StateMark {...stateOf(entity)} /> <AffectedMark by={affected.get(entity.id)} />
        </>
      ),
      sortKey: (entity) => sicknessKey(stateOf(entity).tone),
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
  const chosen = useChosenRows(sortRows(entities, 'ascending', deviceTitle), {
    columns,
    fallback: REPORTED_FIRST,
    wordsOf: ({ kind, name, source }) => `${titleOf(kind)} ${kind} ${name} ${source}`,
  })
  return (
    <Panel id="entity-table" title="Entities" isPresent filter="Filter entities">
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(entities.length, 'entity', 'entities')} />
      ) : (
        <DataTable
          label="Table of entities"
          look="has-first-fixed"
          columns={columns}
          keyOf={({ id }) => id}
          isBoxed
          {...chosen}
        />
      )}
    </Panel>
  )
}

function stateOf({ state }: DeviceInfo): { readonly tone: StateTone; readonly word: string } {
  return state === 'gone' ? { tone: 'warning', word: 'Gone' } : { tone: 'ok', word: 'Reported' }
}

function RelatedWords({ entity }: { readonly entity: DeviceInfo }) {
  const { data } = useDevices()
  const ids = new Set(entity.relations)
  const titles = data?.devices.filter(({ id }) => ids.has(id)).map(deviceTitle) ?? []
  const more = titles.length - NAMED_COUNT
  return `${titles.slice(0, NAMED_COUNT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
