import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { PresentCaption } from '../../components/present-caption.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { titleOf } from '../../format/names.ts'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'

/** Tables with more rows scroll in a box of their own. */
const TALL_COUNT = 24
const TALL_PX = 640
/** Related entities that are named in a row. */
const NAMED_COUNT = 4
const BY_NAME: Sort = { column: 'name', direction: 'ascending' }

/** A row an entity; those that left last. */
export function EntityTable({ entities }: { readonly entities: readonly DeviceInfo[] }) {
  const page = usePageState()
  const sort = parseSort(page.url.sort, BY_NAME)
  const filter = (page.url.q ?? '').toLowerCase()
  const matching = entities.filter(({ kind, name, source = '' }) =>
    `${titleOf(kind)} ${kind} ${name} ${source}`.toLowerCase().includes(filter),
  )
  const rows = sortRows(
    matching,
    sort.direction,
    (entity) => (sort.column === 'source' ? (entity.source ?? '') : deviceTitle(entity)),
    ({ state }) => Number(state === 'gone'),
  )
  return (
    <section className="panel" aria-labelledby="entity-table">
      <header className="panel-head has-line is-centred">
        <h2 id="entity-table" className="panel-title">
          Entities
        </h2>
        <PresentCaption />
        <FilterInput label="Filter entities" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q ?? ''}".`}>
          {countOf(entities.length, 'entity', 'entities')} searched.
        </Empty>
      ) : (
        <TableBox label="Table of entities" {...(rows.length > TALL_COUNT ? { heightPx: TALL_PX } : {})}>
          <table className="table has-first-fixed">
            <thead>
              <tr>
                <SortHead column="name" sort={sort} kind="text">
                  Entity
                </SortHead>
                <th scope="col">State</th>
                <SortHead column="source" sort={sort} kind="text">
                  Reported by
                </SortHead>
                <th scope="col" className="is-wide">
                  Related
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((entity) => (
                <Row key={entity.id} entity={entity} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function Row({ entity }: { readonly entity: DeviceInfo }) {
  const page = usePageState()
  const { state, source } = entity
  return (
    <tr>
      <th scope="row">
        <Link href={page.hrefTo(devicePath(entity))}>{deviceTitle(entity)}</Link>
        <SimulatedMark of={entity} />
      </th>
      <td>
        <StateMark tone={state === 'gone' ? 'warning' : 'ok'} word={state === 'gone' ? 'Gone' : 'Reported'} />
      </td>
      <td className="is-quiet">{source}</td>
      <td className="is-quiet is-wrapping">
        <RelatedWords entity={entity} />
      </td>
    </tr>
  )
}

function RelatedWords({ entity }: { readonly entity: DeviceInfo }) {
  const { data } = useDevices()
  const ids = new Set(entity.relations)
  const titles = data?.devices.filter(({ id }) => ids.has(id)).map(deviceTitle) ?? []
  const more = titles.length - NAMED_COUNT
  return `${titles.slice(0, NAMED_COUNT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
