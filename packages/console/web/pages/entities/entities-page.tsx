import { useMemo } from 'react'
import { useDevices } from '../../api/devices.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { isGeneric, kindWords } from '../../devices/device.ts'
import { usePageTitle } from '../use-page-title.ts'
import { EntityTable } from './entity-table.tsx'

/** Every entity that record types declare and that no other page lists. */
export function EntitiesPage() {
  usePageTitle('Entities')
  const { data, error } = useDevices()
  const entities = useMemo(() => data?.devices.filter(isGeneric), [data])
  return (
    <>
      <PageHead title="Entities" note={entities && entities.length > 0 && kindWords(entities)} />
      {!entities && !error && <Outlines panels={1} waitsFor="the list of entities" />}
      {!entities && error && (
        <Empty icon="critical" fact="The entities are not known.">
          {error.message}
        </Empty>
      )}
      {entities?.length === 0 && (
        <Empty fact="No source and no application tells of any.">
          A type that declares what its records are about makes them appear here.
        </Empty>
      )}
      {entities && entities.length > 0 && <EntityTable entities={entities} />}
    </>
  )
}
